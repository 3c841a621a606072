# SPDX-License-Identifier: BSD-3-Clause
# mca_coll_convene.so: the component of Open MPI 4.1, below PMPI. Built where Open MPI's internal headers are beside mpi.h.

# Sets CONVENE_OPENMPI_INTERNAL to the folder of the internal headers and CONVENE_OPENMPI_VERSION to their version, as 4.1.4;
# both empty if there are none.
function(convene_find_openmpi_internal)
  set(folders)
  foreach(word IN LISTS CONVENE_openmpi_COMPILE)
    if(word MATCHES "^-I(.*)$")
      list(APPEND folders ${CMAKE_MATCH_1} ${CMAKE_MATCH_1}/openmpi)
    endif()
  endforeach()
  unset(found)
  find_path(found ompi/mca/coll/coll.h PATHS ${folders} NO_CACHE NO_DEFAULT_PATH)
  set(version)
  if(found)
    foreach(part IN ITEMS MAJOR MINOR RELEASE)
      file(STRINGS ${found}/ompi/version.h line REGEX "^#define OMPI_${part}_VERSION [0-9]+")
      string(REGEX MATCH "[0-9]+$" number "${line}")
      list(APPEND version ${number})
    endforeach()
    list(JOIN version . version)
    set(CONVENE_OPENMPI_INTERNAL ${found} PARENT_SCOPE)
  endif()
  set(CONVENE_OPENMPI_VERSION "${version}" PARENT_SCOPE)
endfunction()

if(NOT TARGET convene_component_openmpi OR CONVENE_SANITIZE)
  return()
endif()
convene_find_openmpi_internal()
if(NOT CONVENE_OPENMPI_VERSION)
  message(STATUS "Component of Open MPI: left out, since ompi/mca/coll/coll.h is not beside mpi.h "
                 "(Debian's libopenmpi-dev has it; else configure Open MPI with --with-devel-headers)")
  return()
elseif(NOT CONVENE_OPENMPI_VERSION MATCHES "^4\\.1\\.")
  message(STATUS "Component of Open MPI: left out, since Open MPI ${CONVENE_OPENMPI_VERSION} has another interface than 4.1")
  return()
endif()
message(STATUS "Component of Open MPI ${CONVENE_OPENMPI_VERSION}: ${CONVENE_OPENMPI_INTERNAL}")

add_library(mca_coll_convene MODULE src/component/openmpi4_component.c src/component/openmpi4_requests.c)
target_link_libraries(mca_coll_convene PRIVATE convene_component_openmpi)
target_include_directories(mca_coll_convene SYSTEM PRIVATE ${CONVENE_OPENMPI_INTERNAL})
target_compile_definitions(
  mca_coll_convene PRIVATE CONVENE_VERSION_MAJOR=${PROJECT_VERSION_MAJOR} CONVENE_VERSION_MINOR=${PROJECT_VERSION_MINOR}
                           CONVENE_VERSION_PATCH=${PROJECT_VERSION_PATCH})
# Where a call returns to says whose it is: those below the component must return into it, so that none of them enters the
# module of another communicator in the name of the program.
target_compile_options(mca_coll_convene PRIVATE -Wall -Wextra -fno-optimize-sibling-calls)
convene_seal(mca_coll_convene ${PROJECT_SOURCE_DIR}/src/component/exports.map)
# Open MPI's own libraries are in the process. Its progress engine keeps a pointer into this one.
set(words ${CONVENE_openmpi_LINK})
list(FILTER words EXCLUDE REGEX "^-Wl,-rpath,")
target_link_libraries(mca_coll_convene PRIVATE ${words})
target_link_options(mca_coll_convene PRIVATE -Wl,-z,undefs -Wl,-z,nodelete)
set_target_properties(mca_coll_convene PROPERTIES PREFIX "" LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY
                                                                              ${PROJECT_BINARY_DIR}/lib/openmpi)
# One library under two names: Open MPI looks for the component of a framework by its file's name.
add_custom_command(
  TARGET mca_coll_convene
  POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink mca_coll_convene.so mca_hook_convene.so
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/lib/openmpi)
