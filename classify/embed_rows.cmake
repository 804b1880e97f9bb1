# SPDX-License-Identifier: Apache-2.0
# cmake -D FILES=a.jsonl,b.jsonl -D OUTPUT=rows.c -P embed_rows.cmake: their bytes as C, for classify/launch_rows.h.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(list "")
set(index 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const char rows_${index}[] = {${bytes}0};\n")
  string(APPEND list "    {\"launch_rows/${name}\", rows_${index}, sizeof rows_${index} - 1},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"classify/launch_rows.h\"\n\n${arrays}
const struct launch_rows_file launch_rows_files[] = {\n${list}    {0, 0, 0},\n};\n")
