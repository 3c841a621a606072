# SPDX-License-Identifier: BSD-3-Clause
# convene-cluster-switch: what joins the nodes of an emulated cluster with a delay. It knows nothing of MPI.

if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CONVENE_SANITIZE AND EXISTS ${PROJECT_SOURCE_DIR}/tools/cluster)
  find_package(CLI11 REQUIRED)
  add_executable(convene-cluster-switch ${PROJECT_SOURCE_DIR}/tools/cluster/switch.cpp)
  target_link_libraries(convene-cluster-switch PRIVATE convene_settings CLI11::CLI11)
  set(CONVENE_CLUSTER_TOOLS convene-cluster-switch)
endif()
