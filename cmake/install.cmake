# SPDX-License-Identifier: BSD-3-Clause
# Two ways in: `cmake --install` for C programs (find_package and pkg-config), and, under scikit-build-core, everything
# inside the Python package, where the `convene` command looks for it.

set(libraries)
set(tools ${CONVENE_CLUSTER_TOOLS})
foreach(stack IN LISTS CONVENE_STACKS)
  foreach(library convene-${stack} convene-preload-${stack})
    if(TARGET ${library})
      list(APPEND libraries ${library})
    endif()
  endforeach()
  list(APPEND tools ${CONVENE_TOOLS_${stack}})
endforeach()

if(SKBUILD)
  if(NOT libraries)
    message(FATAL_ERROR "no MPI stack was found: without one there is nothing to put between a program and its MPI; "
                        "install libopenmpi-dev or libmpich-dev")
  endif()
  install(TARGETS ${libraries} LIBRARY DESTINATION convene/lib)
  if(TARGET convene_mpich_name)
    install(TARGETS convene_mpich_name LIBRARY DESTINATION convene/lib/mpich NAMELINK_SKIP)
  endif()
  if(tools)
    install(TARGETS ${tools} RUNTIME DESTINATION convene/bin)
  endif()
  if(TARGET convene-smpi)
    install(TARGETS convene-smpi LIBRARY DESTINATION convene/bin)
  endif()
  install(DIRECTORY include/convene DESTINATION convene/include)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man DESTINATION ${SKBUILD_DATA_DIR}/share OPTIONAL)
  return()
endif()

# No stack, or a build for sanitizers: nothing that could be installed.
if(NOT libraries)
  return()
endif()

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/convene)
# From lib/pkgconfig (or lib/x86_64-linux-gnu/pkgconfig) up to the prefix.
file(RELATIVE_PATH CONVENE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" CONVENE_PC_PREFIX "${CONVENE_PC_PREFIX}")

foreach(stack IN LISTS CONVENE_STACKS)
  if(NOT TARGET convene-${stack})
    continue()
  endif()
  set_target_properties(convene-${stack} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  install(TARGETS convene-${stack} EXPORT convene)
  configure_file(cmake/convene.pc.in convene-${stack}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/convene-${stack}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(TARGET convene-preload-${stack})
    install(TARGETS convene-preload-${stack})
  endif()
endforeach()
if(tools)
  install(TARGETS ${tools})
endif()
install(DIRECTORY include/convene DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)

install(EXPORT convene NAMESPACE convene:: FILE conveneTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/conveneConfig.cmake.in conveneConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(conveneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/conveneConfig.cmake ${PROJECT_BINARY_DIR}/conveneConfigVersion.cmake
        DESTINATION ${package_folder})
