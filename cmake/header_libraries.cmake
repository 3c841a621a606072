# SPDX-License-Identifier: BSD-3-Clause
# Read after project() where programs are for another machine. /usr/include has this machine's glibc and must not be searched.
# Header-only libraries in it are reached by links.

set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(library IN ITEMS CLI fmt nlohmann rdma)
  if(EXISTS /usr/include/${library})
    file(CREATE_LINK /usr/include/${library} ${headers}/${library} SYMBOLIC)
  endif()
endforeach()
include_directories(SYSTEM ${headers})
foreach(language IN ITEMS C CXX)
  list(APPEND CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES /usr/include)
endforeach()
# Where Debian's packages of such libraries have their CMake files.
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
