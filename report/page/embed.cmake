# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=page.html -DUPLOT=FOLDER -DOUT=FILE.c -P embed.cmake: puts the page and all that it names into one text, and that
# into a C array, page_template. The page names parts of its own folder, and uPlot's two files, which are taken from FOLDER, or
# left out where that is empty. A policy allows these very scripts and styles, by their hashes, and nothing else.
cmake_minimum_required(VERSION 3.25)
get_filename_component(folder "${PAGE}" DIRECTORY)

# 64 hexadecimal digits of a SHA-256 -> base64, 44 letters.
function(base64_of_hash out hex)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  foreach(at RANGE 0 60 6) # three bytes become four letters; two are left at the end
    string(SUBSTRING "${hex}0000" ${at} 6 digits)
    math(EXPR bits "0x${digits}")
    foreach(shift 18 12 6 0)
      math(EXPR place "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${letters}" ${place} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# The text of a part, which must not end the element that it will stand in.
function(read_part out name)
  if(name MATCHES "^uplot\\.")
    set(file "${UPLOT}/${name}")
  else()
    set(file "${folder}/${name}")
  endif()
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${PAGE} names ${name}, and there is no ${file}")
  endif()
  file(READ "${file}" text)
  string(TOLOWER "${text}" lower)
  foreach(end "</script" "</style" "<!--" "<script")
    string(FIND "${lower}" "${end}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} has '${end}' at byte ${at}, which would end its element in the page: write it otherwise")
    endif()
  endforeach()
  string(FIND "${text}" "\r" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} has a carriage return at byte ${at}; browsers hash it as a line feed: take it out")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# In place of LINE, which names a part: <TAG>its text</TAG>; its hash goes to HASHES. The sample is for development alone.
function(put_in line tag name hashes)
  string(FIND "${page}" "${line}" at)
  string(LENGTH "${line}" length)
  math(EXPR after "${at} + ${length}")
  string(SUBSTRING "${page}" 0 ${at} head)
  string(SUBSTRING "${page}" ${after} -1 tail)
  if(name STREQUAL "sample.js" OR (name MATCHES "^uplot\\." AND UPLOT STREQUAL ""))
    string(REGEX REPLACE "^\n" "" tail "${tail}")
    set(page "${head}${tail}" PARENT_SCOPE)
    return()
  endif()
  read_part(part "${name}")
  string(SHA256 hex "${part}")
  base64_of_hash(hash ${hex})
  set(page "${head}<${tag}>${part}</${tag}>${tail}" PARENT_SCOPE)
  set(${hashes} "${${hashes}} 'sha256-${hash}'" PARENT_SCOPE)
endfunction()

file(READ "${PAGE}" page)
string(REGEX MATCHALL "<link rel=\"stylesheet\" href=\"[^\"]*\">" styles "${page}")
string(REGEX MATCHALL "<script src=\"[^\"]*\"></script>" scripts "${page}")
set(style_hashes "")
set(script_hashes "")
foreach(line IN LISTS styles)
  string(REGEX REPLACE ".*href=\"([^\"]*)\".*" "\\1" name "${line}")
  put_in("${line}" style "${name}" style_hashes)
endforeach()
foreach(line IN LISTS scripts)
  string(REGEX REPLACE ".*src=\"([^\"]*)\".*" "\\1" name "${line}")
  put_in("${line}" script "${name}" script_hashes)
endforeach()

# Its notice goes where uPlot goes.
if(NOT UPLOT STREQUAL "")
  file(READ "${folder}/uplot_licence.txt" licence)
  file(READ "${UPLOT}/uplot.js" version LIMIT 200)
  if(version MATCHES "\\(v([0-9.]+)\\)")
    set(version " ${CMAKE_MATCH_1}")
  else()
    set(version "")
  endif()
  foreach(pair "&;&amp" "<;&lt" ">;&gt")
    list(GET pair 0 letter)
    list(GET pair 1 escape)
    string(REPLACE "${letter}" "${escape};" licence "${licence}")
  endforeach()
  set(place "<!-- @notices@ -->")
  string(REPLACE "${place}" "${place}
<details id=\"licence\"><summary>The plot is drawn by uPlot${version}, MIT licence</summary><pre>${licence}</pre></details>" page "${page}")
endif()

string(CONCAT policy "default-src 'none'; script-src${script_hashes}; style-src${style_hashes}; img-src data:; "
  "base-uri 'none'; form-action 'none'")
set(place "<!-- @policy@ -->")
string(FIND "${page}" "${place}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${PAGE} has no ${place}, so nothing would keep other scripts out")
endif()
string(REPLACE "${place}" "<meta http-equiv=\"Content-Security-Policy\" content=\"${policy}\">" page "${page}")

# file(READ) of what was just written: the bytes, whatever they are.
file(WRITE "${OUT}.html" "${page}")
file(READ "${OUT}.html" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," array "${hex}")
file(WRITE "${OUT}.new" "/* Made of report/page by embed.cmake. */
#include \"report/page_template.h\"

const size_t page_template_bytes = ${bytes};
const unsigned char page_template[] = {
${array}};
")
file(RENAME "${OUT}.new" "${OUT}")
