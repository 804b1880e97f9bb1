# SPDX-License-Identifier: Apache-2.0
# sim_front_end(NAME SONAME soname SOURCES file... [VERSION_NODE node] [EXPORTS pattern...] [LIBRARIES target...])
#
# One stand-in library: target sim_NAME, a file called exactly SONAME in ${SIM_LIBRARY_DIR} (and a link without the
# major, for linkers), standing on libsimgpu.so beside it. Exports nothing but what matches EXPORTS (default: all of
# the node's usual prefix `*`), under VERSION_NODE if the real library has one: a missing node makes ld.so fail.
# Calls inside the library stay inside (the real ones are linked that way), calls to another library go by the PLT.
function(sim_front_end name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SONAME;VERSION_NODE" "SOURCES;EXPORTS;LIBRARIES")
  if(NOT arg_SONAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "sim_front_end(${name}): SONAME and SOURCES are needed")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sim_front_end(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_EXPORTS)
    set(arg_EXPORTS "*")
  endif()
  list(JOIN arg_EXPORTS "; " exports)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  set(local "local: *; ")
  if(arg_EXPORTS STREQUAL "*")
    set(local "")
  endif()
  file(CONFIGURE OUTPUT ${script} CONTENT "${arg_VERSION_NODE} { global: ${exports}; ${local}};\n" @ONLY)

  add_library(sim_${name} SHARED ${arg_SOURCES})
  string(REGEX REPLACE "\\.so.*" "" link ${arg_SONAME})
  string(REGEX REPLACE "^lib" "" output ${link})
  string(REGEX REPLACE "^lib[^.]*" "" suffix ${arg_SONAME})
  set_target_properties(sim_${name} PROPERTIES
    C_VISIBILITY_PRESET default
    OUTPUT_NAME ${output} SUFFIX ${suffix} NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${SIM_LIBRARY_DIR}
    LINK_DEPENDS ${script}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_include_directories(sim_${name} SYSTEM PRIVATE ${SIM_CUDA_INCLUDE})
  target_include_directories(sim_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(sim_${name} PRIVATE SIM_CUDA_MAJOR=${ROOFTAP_SIM_CUDA_MAJOR})
  target_link_libraries(sim_${name} PRIVATE rooftap_flags simgpu ${arg_LIBRARIES} pthread dl)
  target_link_options(sim_${name} PRIVATE -Wl,-soname,${arg_SONAME} -Wl,--version-script=${script} -Wl,-Bsymbolic)
  if(NOT suffix STREQUAL ".so")
    add_custom_command(TARGET sim_${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${arg_SONAME} ${SIM_LIBRARY_DIR}/${link}.so)
    install(FILES ${SIM_LIBRARY_DIR}/${link}.so DESTINATION ${SIM_INSTALL_DIR})
  endif()
  install(TARGETS sim_${name} LIBRARY DESTINATION ${SIM_INSTALL_DIR})
endfunction()
