# SPDX-License-Identifier: BSD-3-Clause
# Fuzz targets of the C++ readers, one per file of tests/fuzz: build/<preset>/fuzz/<reader>. They need Clang's libFuzzer;
# the layers are compiled for it together with the sanitizers, and the unit tests use the same objects. Sources of tests are
# compiled without the counters: no fuzz target runs them.

option(CONVENE_FUZZ "Build the fuzz targets (Clang)" OFF)
if(NOT CONVENE_FUZZ)
  return()
endif()
target_compile_options(
  convene_settings INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CONVENE_UNIT_TEST>>>:-fsanitize=fuzzer-no-link>)
target_link_options(convene_settings INTERFACE -fsanitize=fuzzer-no-link)

add_custom_target(fuzzers)
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source IN LISTS fuzzers)
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} ${source})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${name} PRIVATE convene_experiment)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers fuzz_${name})
endforeach()
