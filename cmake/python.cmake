# SPDX-License-Identifier: BSD-3-Clause
# The Python module convene._core: the pure layers, bound with nanobind.

# Stable ABI: one module for Python 3.12 and all later versions, if scikit-build-core requests it.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind; run ./dev setup, or pip install nanobind")
endif()
find_package(nanobind CONFIG REQUIRED)

set(stable_abi)
if(SKBUILD_SABI_COMPONENT)
  set(stable_abi STABLE_ABI)
endif()
file(GLOB binding CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/binding/*.cpp)
if(binding)
  nanobind_add_module(_core ${stable_abi} NB_STATIC NB_SUPPRESS_WARNINGS ${binding})
  target_link_libraries(_core PRIVATE convene_experiment)
  target_compile_definitions(_core PRIVATE CONVENE_VERSION="${PROJECT_VERSION}")
  foreach(target IN ITEMS _core nanobind-static)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONVENE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
  if(SKBUILD)
    install(TARGETS _core DESTINATION convene COMPONENT python)
  else()
    # A checkout's package is used where it stands.
    set(CONVENE_MODULE_DIR ${PROJECT_SOURCE_DIR}/python/convene CACHE PATH "Where the module is put")
    set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CONVENE_MODULE_DIR})
  endif()
endif()
