# SPDX-License-Identifier: BSD-3-Clause
# Toolchain of the package for other machines: Zig's compiler, which has headers and symbols of older versions of glibc.
# CONVENE_ZIG is the program, CONVENE_GLIBC the version.

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CONVENE_ZIG CONVENE_GLIBC)
set(target ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu.${CONVENE_GLIBC})
set(CMAKE_C_COMPILER ${CONVENE_ZIG} cc -target ${target})
set(CMAKE_CXX_COMPILER ${CONVENE_ZIG} c++ -target ${target})
set(CMAKE_PROJECT_convene_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/header_libraries.cmake)
