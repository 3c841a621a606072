# SPDX-License-Identifier: BSD-3-Clause
# Manual pages, into man/ of the build. Those of the commands need the Python module, and what the command imports.

if(CONVENE_SANITIZE)
  return()
endif()
find_package(Python COMPONENTS Interpreter QUIET)
if(NOT Python_Interpreter_FOUND)
  message(STATUS "no manual pages: Python was not found")
  return()
endif()

set(generator ${PROJECT_SOURCE_DIR}/docs/ext/man_pages.py)
set(sources ${generator} ${PROJECT_SOURCE_DIR}/docs/reference/environment.md)
set(options --libraries ${PROJECT_VERSION})
if(TARGET _core)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import typer, numpy" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(STATUS "no manual pages of the commands: ${Python_EXECUTABLE} has no typer or no numpy")
  else()
    file(GLOB_RECURSE commands CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/convene/cli/*.py)
    list(APPEND sources _core ${PROJECT_SOURCE_DIR}/docs/ext/command_line_page.py ${commands})
    set(options --core $<TARGET_FILE:_core>)
  endif()
endif()
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/man/man7/libconvene.7
  COMMAND ${Python_EXECUTABLE} -B ${generator} ${options} ${PROJECT_BINARY_DIR}/man
  DEPENDS ${sources}
  COMMENT "Writing manual pages"
  VERBATIM)
add_custom_target(man ALL DEPENDS ${PROJECT_BINARY_DIR}/man/man7/libconvene.7)
