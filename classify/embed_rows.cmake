# SPDX-License-Identifier: Apache-2.0
# cmake -D FOLDER=launch_rows -D FILES=a.jsonl,b.jsonl -D OUTPUT=rows.c -P embed_rows.cmake: their bytes as C, for
# classify/launch_rows.h.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(list "")
foreach(file ${files})
  string(MAKE_C_IDENTIFIER ${file} name)
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const unsigned char ${name}[] = {${bytes}0};\n")
  string(APPEND list "    {\"launch_rows/${file}\", (const char *)${name}, sizeof ${name} - 1},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"classify/launch_rows.h\"\n\n${arrays}
const struct launch_rows_file launch_rows_files[] = {\n${list}    {0, 0, 0},\n};\n")
