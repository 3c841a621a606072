# SPDX-License-Identifier: BSD-3-Clause
# Toolchain of the tests on aarch64: Debian's cross compiler; its programs run under QEMU.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
set(CMAKE_PROJECT_convene_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/header_libraries.cmake)
