# SPDX-License-Identifier: BSD-3-Clause
# The MPI stacks. Of each, Convene's libraries use the header and nothing else: MPI's functions are looked up at run
# time. Only test programs and tools are linked against the MPI itself.

set(CONVENE_STACKS_DIR ${PROJECT_SOURCE_DIR}/.stacks CACHE PATH "Where ./dev setup puts MPI stacks of its own")

# The stacks; where the compiler wrapper of each may be, the macro by which its mpi.h is known, and its family: sources
# named after that are compiled for it, too (cmake/rooms.cmake). A new stack is one line of each kind.
set(CONVENE_KNOWN_STACKS openmpi mpich abi)
set(CONVENE_WRAPPERS_openmpi mpicc.openmpi openmpi5/bin/mpicc mpicc)
set(CONVENE_WRAPPERS_mpich mpicc.mpich mpich5/bin/mpicc mpicc)
set(CONVENE_WRAPPERS_abi mpicc_abi mpich5/bin/mpicc_abi)
set(CONVENE_MACRO_openmpi OPEN_MPI)
set(CONVENE_MACRO_mpich MPICH)
set(CONVENE_MACRO_abi MPI_ABI_VERSION)
set(CONVENE_FAMILY_mpich mpich_family)
set(CONVENE_FAMILY_abi mpich_family)

# Asks a wrapper for its command line; sets <prefix>_COMPILE (-I, -D), <prefix>_LINK (-L, -l, -Wl) and <prefix>_FAILED.
function(convene_ask_wrapper wrapper prefix)
  execute_process(
    COMMAND ${wrapper} -show
    OUTPUT_VARIABLE line
    ERROR_QUIET RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(line "")
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  set(compile)
  set(link)
  foreach(word IN LISTS words)
    if(word MATCHES "^-[ID]")
      list(APPEND compile ${word})
    elseif(word MATCHES "^-(L|l|Wl,|pthread)")
      list(APPEND link ${word})
    endif()
  endforeach()
  # `-Wl,-rpath -Wl,DIR` must stay together: CMake would otherwise drop repeated words.
  string(REPLACE "-Wl,-rpath;-Wl," "-Wl,-rpath," link "${link}")
  set(${prefix}_COMPILE "${compile}" PARENT_SCOPE)
  set(${prefix}_LINK "${link}" PARENT_SCOPE)
  set(${prefix}_FAILED "${failed}" PARENT_SCOPE)
endfunction()

# Is the mpi.h that these flags find the stack's? (A plain `mpicc` may be anybody's.)
function(convene_check_header stack compile variable)
  separate_arguments(more UNIX_COMMAND "${CMAKE_C_COMPILER_ARG1}")
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} ${more} ${compile} -E -dM -include mpi.h -x c /dev/null
    OUTPUT_VARIABLE macros
    ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND macros MATCHES "#define ${CONVENE_MACRO_${stack}}[ \n]")
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()

# All programs of that name: what CMake finds first, and every other one in PATH. (The first `mpicc` in PATH may be another
# MPI's: a Python package is built with the one that brings the standard ABI's header in front.)
function(convene_find_wrappers name variable)
  unset(first)
  find_program(first ${name} HINTS ${CONVENE_STACKS_DIR} NO_CACHE)
  set(found)
  if(first)
    get_filename_component(first ${first} ABSOLUTE)
    list(APPEND found ${first})
  endif()
  string(REPLACE ":" ";" directories "$ENV{PATH}")
  foreach(directory IN LISTS directories)
    unset(other)
    find_program(other ${name} PATHS ${directory} NO_CACHE NO_DEFAULT_PATH)
    if(other)
      list(APPEND found ${other})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# Sets CONVENE_STACKS and, for each, CONVENE_MPICC_<stack> (unless it is given), CONVENE_<stack>_COMPILE and
# CONVENE_<stack>_LINK.
function(convene_find_stacks)
  set(found)
  foreach(stack IN LISTS CONVENE_KNOWN_STACKS)
    set(names ${CONVENE_WRAPPERS_${stack}})
    if(CONVENE_MPICC_${stack})
      set(names ${CONVENE_MPICC_${stack}})
    endif()
    set(candidates)
    foreach(name IN LISTS names)
      convene_find_wrappers(${name} wrappers)
      list(APPEND candidates ${wrappers})
    endforeach()
    foreach(wrapper IN LISTS candidates)
      convene_ask_wrapper(${wrapper} asked)
      if(asked_FAILED)
        continue()
      endif()
      convene_check_header(${stack} "${asked_COMPILE}" fits)
      if(fits)
        list(APPEND found ${stack})
        set(CONVENE_MPICC_${stack} ${wrapper} PARENT_SCOPE)
        set(CONVENE_${stack}_COMPILE "${asked_COMPILE}" PARENT_SCOPE)
        set(CONVENE_${stack}_LINK "${asked_LINK}" PARENT_SCOPE)
        message(STATUS "MPI stack ${stack}: ${wrapper}")
        break()
      endif()
    endforeach()
    if(NOT stack IN_LIST found)
      if(CONVENE_MPICC_${stack})
        message(FATAL_ERROR "CONVENE_MPICC_${stack}='${CONVENE_MPICC_${stack}}' is no compiler wrapper whose mpi.h "
                            "is that of ${stack}; give another one, or unset it to have one looked for")
      endif()
      message(STATUS "MPI stack ${stack}: not found, left out")
    endif()
  endforeach()
  set(CONVENE_STACKS ${found} PARENT_SCOPE)
endfunction()

# The header of a stack, and how this build names it.
function(convene_add_stack_settings stack)
  string(TOUPPER ${stack} upper)
  add_library(convene_settings_${stack} INTERFACE)
  target_link_libraries(convene_settings_${stack} INTERFACE convene_settings)
  foreach(word IN LISTS CONVENE_${stack}_COMPILE)
    if(word MATCHES "^-I(.*)$")
      target_include_directories(convene_settings_${stack} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    else()
      target_compile_options(convene_settings_${stack} INTERFACE ${word})
    endif()
  endforeach()
  # The C++ bindings that old headers bring would need the MPI's C++ library.
  target_compile_definitions(convene_settings_${stack} INTERFACE CONVENE_STACK_${upper} CONVENE_STACK_NAME="${stack}"
                                                                 OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# Not every linker knows it; the version scripts then hide the names of static libraries alone.
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,--exclude-libs,ALL CONVENE_HAS_EXCLUDE_LIBS)

# A library that may enter any process: nothing but libc and the loader needed, nothing but `map`'s names exported.
function(convene_seal target map)
  target_link_options(
    ${target}
    PRIVATE
    -static-libstdc++
    -static-libgcc
    -Wl,--as-needed
    -Wl,--gc-sections
    $<$<BOOL:${CONVENE_HAS_EXCLUDE_LIBS}>:-Wl,--exclude-libs,ALL>
    -Wl,--version-script,${map}
    -Wl,-z,lazy
    -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libconvene-<stack>: the C API. (A sealed library and a sanitizer's own library don't go together.)
function(convene_add_api stack)
  convene_room_sources(capi sources)
  if(NOT sources OR CONVENE_SANITIZE)
    return()
  endif()
  add_library(convene-${stack} SHARED $<TARGET_OBJECTS:convene_capi_${stack}>)
  target_link_libraries(convene-${stack} PRIVATE convene_capi_${stack})
  target_include_directories(convene-${stack} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  convene_seal(convene-${stack} ${PROJECT_SOURCE_DIR}/cmake/api.map)
  set_target_properties(convene-${stack} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# libconvene-preload-<stack>: the drop-in library. It has the C API, too, so that there is one runtime in a program that is
# linked with libconvene.
function(convene_add_preload stack)
  convene_room_sources(interpose sources)
  if(NOT sources OR CONVENE_SANITIZE)
    return()
  endif()
  add_library(convene-preload-${stack} SHARED $<TARGET_OBJECTS:convene_interpose_${stack}>
                                              $<TARGET_OBJECTS:convene_capi_${stack}>)
  target_link_libraries(convene-preload-${stack} PRIVATE convene_interpose_${stack} convene_capi_${stack})
  convene_seal(convene-preload-${stack} ${PROJECT_SOURCE_DIR}/src/interpose/exports.map)
  add_dependencies(preload convene-preload-${stack})
  set_target_properties(convene-preload-${stack} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# Links a program against the stack's MPI, if that is for the same processor. A Python package goes to other places, so nothing in it names this one's MPI:
# the `convene` command starts its tools with the libraries of the launcher's MPI.
function(convene_link_mpi target stack)
  set(words ${CONVENE_${stack}_LINK})
  if(SKBUILD)
    list(FILTER words EXCLUDE REGEX "^-Wl,-rpath,")
  endif()
  if(CMAKE_CROSSCOMPILING)
    set(words)
  endif()
  target_link_libraries(${target} PRIVATE convene_settings_${stack} ${words})
endfunction()

# libmpich.so.12, for tools that were linked with Debian's MPICH: an empty library that needs libmpi.so.12, as MPICH is called
# elsewhere. `convene` adds its folder where the launcher's MPICH has that name.
function(convene_add_mpich_name)
  set(empty ${PROJECT_BINARY_DIR}/empty.c)
  file(WRITE ${empty} "")
  add_library(convene_mpi_name SHARED ${empty})
  set_target_properties(convene_mpi_name PROPERTIES OUTPUT_NAME mpi SOVERSION 12 LIBRARY_OUTPUT_DIRECTORY
                                                    ${PROJECT_BINARY_DIR}/names)
  add_library(convene_mpich_name SHARED ${empty})
  target_link_libraries(convene_mpich_name PRIVATE -Wl,--no-as-needed convene_mpi_name)
  set_target_properties(
    convene_mpich_name PROPERTIES OUTPUT_NAME mpich SOVERSION 12 SKIP_BUILD_RPATH ON LIBRARY_OUTPUT_DIRECTORY
                                                                                     ${PROJECT_BINARY_DIR}/lib/mpich)
endfunction()

# Where an installed tool finds the library: in a Python package both are in folders side by side.
if(SKBUILD)
  set(CONVENE_TOOLS_LIBDIR lib)
else()
  set(CONVENE_TOOLS_LIBDIR ${CMAKE_INSTALL_LIBDIR})
endif()

# tools/<name>.cpp is convene-<name>-<stack>. Sets CONVENE_TOOLS_<stack>.
function(convene_add_tools stack)
  file(GLOB tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.cpp)
  list(FILTER tools EXCLUDE REGEX "_test\\.cpp$")
  if(NOT tools OR NOT TARGET convene-${stack})
    return()
  endif()
  find_package(CLI11 REQUIRED)
  foreach(tool IN LISTS tools)
    get_filename_component(name ${tool} NAME_WE)
    add_executable(convene-${name}-${stack} ${tool})
    target_link_libraries(convene-${name}-${stack} PRIVATE convene-${stack} convene_clock_${stack} convene_collective
                                                          convene_arrival CLI11::CLI11)
    convene_link_mpi(convene-${name}-${stack} ${stack})
    set_target_properties(convene-${name}-${stack} PROPERTIES INSTALL_RPATH "\$ORIGIN/../${CONVENE_TOOLS_LIBDIR}")
    list(APPEND targets convene-${name}-${stack})
  endforeach()
  # The kernel that `convene bench study summa` runs: an MPI program that knows nothing of Convene.
  add_executable(convene-summa-${stack} ${PROJECT_SOURCE_DIR}/examples/summa/summa.c)
  convene_link_mpi(convene-summa-${stack} ${stack})
  list(APPEND targets convene-summa-${stack})
  set(CONVENE_TOOLS_${stack} ${targets} PARENT_SCOPE)
endfunction()

function(convene_add_stack stack)
  convene_add_stack_settings(${stack})
  foreach(room IN LISTS CONVENE_MPI_ROOMS)
    convene_add_room(${room} convene_${room}_${stack} convene_settings_${stack} ${stack})
  endforeach()
  convene_add_api(${stack})
  convene_add_preload(${stack})
  convene_add_tools(${stack})
  set(CONVENE_TOOLS_${stack} ${CONVENE_TOOLS_${stack}} PARENT_SCOPE)
endfunction()
