# SPDX-License-Identifier: BSD-3-Clause
# Unit tests stand beside the code (src/<room>/*_test.cpp) and make one program per room; programs for real MPI runs
# are in tests/mpi, one per file and stack.

enable_testing()
include(GoogleTest)
if(CMAKE_CROSSCOMPILING)
  # Distributions have these libraries for their own processor, and of GoogleTest the sources.
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()

# Sets `variable` to the unit tests in a folder. For another processor, tests of properties are left out, and those that need
# an MPI.
function(convene_find_tests pattern variable)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${pattern})
  if(CMAKE_CROSSCOMPILING)
    foreach(source IN LISTS found)
      file(STRINGS ${source} needs REGEX "#include <rapidcheck|needs_the_library|[(]&P?MPI_")
      if(needs)
        list(REMOVE_ITEM found ${source})
      endif()
    endforeach()
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# A program of unit tests. ctest runs each of its tests as one of its own, called <target>.<test>, and knows it by a label:
# `pure` or the MPI stack, and the layer. The tests are listed when ctest starts, not when the program is built.
# ./dev test runs many tests in one process, and reads the names of the programs in tests/programs.txt.
function(convene_add_unit_test target folder room kind)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest_main)
  if(TARGET rapidcheck)
    target_link_libraries(${target} PRIVATE rapidcheck rapidcheck_gtest)
  endif()
  set_target_properties(${target} PROPERTIES CONVENE_UNIT_TEST ON RUNTIME_OUTPUT_DIRECTORY
                                                                  ${PROJECT_BINARY_DIR}/tests/${folder})
  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${target}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    NO_PRETTY_VALUES
    PROPERTIES LABELS "${kind}-${room}")
  set_property(GLOBAL APPEND_STRING PROPERTY CONVENE_TEST_PROGRAMS "${kind} $<TARGET_FILE:${target}>\n")
endfunction()

# What the address sanitizer builds; the part aarch64 builds mpi_tests, too.
add_custom_target(pure_tests)

foreach(room IN LISTS CONVENE_PURE_ROOMS)
  convene_find_tests(${PROJECT_SOURCE_DIR}/src/${room}/*_test.cpp sources)
  if(sources)
    convene_add_unit_test(${room}_test unit ${room} pure ${sources})
    target_link_libraries(${room}_test PRIVATE convene_${room})
    add_dependencies(pure_tests ${room}_test)
    # Compiled quickly: what takes time when they run is in the rooms. (Mutants are made by the tests themselves.)
    if(room STREQUAL collective)
      convene_precompile(${room}_test optimized_tests <gtest/gtest.h>)
    else()
      target_compile_options(${room}_test PRIVATE -O0)
      convene_precompile(${room}_test tests <gtest/gtest.h>)
    endif()
  endif()
endforeach()

include(fuzz)

# Unit tests of MPI rooms run as one process, without a launcher. For another processor there is no MPI to link them with, and
# Open MPI's handles are objects in its library.
set(tested_stacks ${CONVENE_STACKS})
if(CMAKE_CROSSCOMPILING)
  list(REMOVE_ITEM tested_stacks openmpi)
endif()
add_custom_target(mpi_tests)
foreach(stack IN LISTS tested_stacks)
  foreach(room IN LISTS CONVENE_MPI_ROOMS)
    convene_find_tests(${PROJECT_SOURCE_DIR}/src/${room}/*_test.cpp sources)
    if(sources)
      convene_add_unit_test(${room}_test_${stack} unit-${stack} ${room} ${stack} ${sources})
      target_link_libraries(${room}_test_${stack} PRIVATE convene_${room}_${stack})
      target_compile_options(${room}_test_${stack} PRIVATE -O0)
      convene_link_mpi(${room}_test_${stack} ${stack})
      set_target_properties(${room}_test_${stack} PROPERTIES OUTPUT_NAME ${room}_test)
      add_dependencies(mpi_tests ${room}_test_${stack})
    endif()
  endforeach()
endforeach()

# Tools' headers, once a stack: tools/*_test.cpp.
foreach(stack IN LISTS tested_stacks)
  if(TARGET convene-${stack})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*_test.cpp)
    convene_add_unit_test(tools_test_${stack} unit-${stack} tools ${stack} ${sources})
    target_link_libraries(tools_test_${stack} PRIVATE convene-${stack} convene_clock_${stack} convene_collective
                                                      convene_arrival CLI11::CLI11)
    target_compile_options(tools_test_${stack} PRIVATE -O0)
    convene_link_mpi(tools_test_${stack} ${stack})
    set_target_properties(tools_test_${stack} PROPERTIES OUTPUT_NAME tools_test)
    add_dependencies(mpi_tests tools_test_${stack})
  endif()
endforeach()

# Tests in which threads share something, as one program that is linked with no MPI: those of distributions load libraries
# that the thread sanitizer ends at. (Open MPI's handles are objects in its library, so its stack cannot be taken.)
set(threaded_stacks ${CONVENE_STACKS})
list(REMOVE_ITEM threaded_stacks openmpi)
if(CONVENE_SANITIZE AND threaded_stacks)
  list(GET threaded_stacks 0 stack)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_threads_test.cpp)
  convene_add_unit_test(
    threads_test unit threads ${stack} ${sources} ${PROJECT_SOURCE_DIR}/src/base/poller_test.cpp
    ${PROJECT_SOURCE_DIR}/src/runtime/progress/progress_engine.cpp ${PROJECT_SOURCE_DIR}/src/runtime/call/failure.cpp)
  target_link_libraries(threads_test PRIVATE convene_execute_${stack} convene_collective convene_simulate)
endif()

get_property(test_programs GLOBAL PROPERTY CONVENE_TEST_PROGRAMS)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/programs.txt CONTENT "${test_programs}")

# Under a sanitizer no library is built, and for another processor there is no MPI: nothing below could be linked.
if(CONVENE_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()

# A program is linked with what it uses: an unmodified one gets the MPI alone, one of the C API also that library, one
# that looks inside also the rooms' archives.
function(convene_add_mpi_program source stack)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name}_${stack} ${source})
  set_target_properties(${name}_${stack} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX
                                                    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${stack})
  target_link_options(${name}_${stack} PRIVATE -Wl,--as-needed)
  if(TARGET convene-${stack})
    target_link_libraries(${name}_${stack} PRIVATE convene-${stack})
  endif()
  target_link_libraries(${name}_${stack} PRIVATE convene_runtime_${stack} Threads::Threads)
  convene_link_mpi(${name}_${stack} ${stack})
endfunction()

# Fortran goes through the stack's own wrapper: module files fit one compiler only. (Legacy: mpif.h has no interfaces,
# and a newer compiler minds that one routine is called with buffers of several types.)
function(convene_add_fortran_program source stack wrapper)
  get_filename_component(name ${source} NAME_WE)
  set(folder ${PROJECT_BINARY_DIR}/tests/${stack})
  set(sources ${source})
  set(library)
  file(STRINGS ${source} uses_convene REGEX "^ *use convene")
  if(uses_convene)
    list(PREPEND sources ${PROJECT_SOURCE_DIR}/include/convene/convene.f90)
    set(library $<TARGET_FILE:convene-${stack}> -Wl,-rpath,$<TARGET_FILE_DIR:convene-${stack}>)
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/modules-${name}
    COMMAND ${wrapper} -DCONVENE_STACK_${stack} -g -O1 -std=legacy -w -J ${folder}/modules-${name} -o ${folder}/${name} ${sources} ${library}
    DEPENDS ${sources} ${fortran_parts} $<$<BOOL:${uses_convene}>:convene-${stack}>
    VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(${name}_${stack} ALL DEPENDS ${folder}/${name})
endfunction()

file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mpi/*.c ${PROJECT_SOURCE_DIR}/tests/mpi/*.cpp)
file(GLOB fortran_programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mpi/*.f90
     ${PROJECT_SOURCE_DIR}/tests/mpi/*.F90)
file(GLOB fortran_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mpi/*.inc)
foreach(stack IN LISTS CONVENE_STACKS)
  foreach(program IN LISTS programs)
    convene_add_mpi_program(${program} ${stack})
  endforeach()
  # Beside mpicc.openmpi stands mpifort.openmpi.
  get_filename_component(wrapper_folder ${CONVENE_MPICC_${stack}} DIRECTORY)
  set(fortran_wrapper ${wrapper_folder}/mpifort.${stack})
  if(EXISTS ${fortran_wrapper})
    foreach(program IN LISTS fortran_programs)
      convene_add_fortran_program(${program} ${stack} ${fortran_wrapper})
    endforeach()
  endif()
endforeach()

# Benchmarks of the pure rooms (Google Benchmark).
file(GLOB benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
if(benchmarks)
  find_package(benchmark REQUIRED)
  foreach(source IN LISTS benchmarks)
    get_filename_component(name ${source} NAME_WE)
    add_executable(benchmark_${name} ${source})
    target_link_libraries(benchmark_${name} PRIVATE convene_decide
                                                    benchmark::benchmark)
  endforeach()
endif()

# Benchmarks that are MPI programs of the C API, one per file and stack: build/benchmarks/<stack>/<name>.
file(GLOB mpi_benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/mpi/*.cpp)
foreach(stack IN LISTS CONVENE_STACKS)
  if(NOT TARGET convene-${stack})
    continue()
  endif()
  foreach(source IN LISTS mpi_benchmarks)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name}_${stack} ${source})
    target_link_options(${name}_${stack} PRIVATE -Wl,--as-needed)  # plain MPI programs get no Convene
    target_link_libraries(${name}_${stack} PRIVATE convene-${stack})
    convene_link_mpi(${name}_${stack} ${stack})
    set_target_properties(${name}_${stack} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                          ${PROJECT_BINARY_DIR}/benchmarks/${stack})
  endforeach()
endforeach()
