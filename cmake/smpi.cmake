# SPDX-License-Identifier: BSD-3-Clause
# The executor in simulation: the rooms mpi, transport and execute once more, with the header of SimGrid's SMPI, and the
# program that smpirun loads. Left out where SimGrid is not installed.

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tools/smpi) # a copy of the library's part alone
  return()
endif()
find_path(CONVENE_SMPI_INCLUDE smpi/mpi.h DOC "The directory above smpi/mpi.h of SimGrid")
find_library(CONVENE_SIMGRID simgrid DOC "SimGrid's library")
if(NOT CONVENE_SMPI_INCLUDE OR NOT CONVENE_SIMGRID OR CONVENE_SANITIZE OR CMAKE_CROSSCOMPILING)
  message(STATUS "SimGrid: not found, left out")
  return()
endif()
message(STATUS "SimGrid: ${CONVENE_SIMGRID}")

set(CONVENE_smpi_COMPILE -I${CONVENE_SMPI_INCLUDE}/smpi)
convene_add_stack_settings(smpi)
foreach(room IN ITEMS mpi transport execute)
  convene_add_room(${room} convene_${room}_smpi convene_settings_smpi smpi)
endforeach()

# smpirun loads it as a library and calls its `main` once for each rank.
add_library(convene-smpi MODULE ${PROJECT_SOURCE_DIR}/tools/smpi/simulate.cpp)
target_link_libraries(convene-smpi PRIVATE convene_execute_smpi convene_decide ${CONVENE_SIMGRID})
set_target_properties(convene-smpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
