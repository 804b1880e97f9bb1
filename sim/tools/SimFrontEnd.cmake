# SPDX-License-Identifier: Apache-2.0
# sim_front_end(NAME SONAME soname SOURCES file... [VERSION_NODE node] [EXPORTS pattern...] [LIBRARIES target...])
#
# One stand-in library: target sim_NAME${SIM_SUFFIX}, a file called exactly SONAME in ${SIM_LIBRARY_DIR} (and, for the newest
# CUDA alone, a link without the major, for linkers), standing on libsimgpu.so beside it. Exports nothing but what matches EXPORTS (default: all of
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
  set(target sim_${name}${SIM_SUFFIX})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  set(local "local: *; ")
  if(arg_EXPORTS STREQUAL "*")
    set(local "")
  endif()
  file(CONFIGURE OUTPUT ${script} CONTENT "${arg_VERSION_NODE} { global: ${exports}; ${local}};\n" @ONLY)

  add_library(${target} SHARED ${arg_SOURCES})
  string(REGEX REPLACE "\\.so.*" "" link ${arg_SONAME})
  string(REGEX REPLACE "^lib" "" output ${link})
  string(REGEX REPLACE "^lib[^.]*" "" suffix ${arg_SONAME})
  set_target_properties(${target} PROPERTIES
    C_VISIBILITY_PRESET default
    OUTPUT_NAME ${output} SUFFIX ${suffix} NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${SIM_LIBRARY_DIR}
    LINK_DEPENDS ${script}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_include_directories(${target} SYSTEM PRIVATE ${SIM_CUDA_INCLUDE})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${target} PRIVATE SIM_CUDA_MAJOR=${SIM_CUDA_MAJOR}
    SIM_CUDA_VERSION=${SIM_CUDA_VERSION})
  target_link_libraries(${target} PRIVATE rooftap_flags simgpu ${arg_LIBRARIES} pthread dl)
  target_link_options(${target} PRIVATE -Wl,-soname,${arg_SONAME} -Wl,--version-script=${script} -Wl,-Bsymbolic)
  if(NOT suffix STREQUAL ".so" AND NOT SIM_SUFFIX)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${arg_SONAME} ${SIM_LIBRARY_DIR}/${link}.so)
    install(FILES ${SIM_LIBRARY_DIR}/${link}.so DESTINATION ${SIM_INSTALL_DIR})
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${SIM_INSTALL_DIR})
endfunction()
