# SPDX-License-Identifier: BSD-3-Clause
# The rooms under src/ as CMake targets. A new source file needs no change here: each room is what its directory holds.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

# Which functions of fmt must be instantiated by name changes with its version; another one is used as headers only.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(convene_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
  target_compile_options(convene_fmt PRIVATE -ffunction-sections -fdata-sections)
  target_include_directories(
    convene_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(convene_fmt INTERFACE)
  target_link_libraries(convene_fmt INTERFACE fmt::fmt-header-only)
endif()

# What every C++ source of this project is compiled with. In united sources a local name hides those of other sources'
# unnamed namespaces, and no other source can see a type of one.
set(separate_warnings $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
# Warnings of the optimizer depend on what it inlines: they are no errors there.
set(united_warnings -Wno-subobject-linkage)
foreach(warning IN ITEMS array-bounds free-nonheap-object maybe-uninitialized restrict stringop-overflow stringop-overread)
  list(APPEND united_warnings -Wno-error=${warning})
endforeach()
# GCC inlines less in a large source: it lets one grow by 40 % only. With this bound, united sources are inlined as separate
# ones are.
set(united_inlining --param=inline-unit-growth=400)
foreach(options IN ITEMS united_warnings united_inlining)
  set(${options} "$<$<AND:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<CXX_COMPILER_ID:GNU>>:${${options}}>")
endforeach()
add_library(convene_settings INTERFACE)
target_include_directories(convene_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(
  convene_settings
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic ${separate_warnings} ${united_warnings}
            ${united_inlining} -Wno-missing-field-initializers>
            $<$<BOOL:${CONVENE_WERROR}>:-Werror> -ffunction-sections -fdata-sections)
target_link_libraries(convene_settings INTERFACE convene_fmt nlohmann_json::nlohmann_json)
if(CONVENE_SANITIZE)
  target_compile_options(convene_settings INTERFACE -fsanitize=${CONVENE_SANITIZE} -fno-sanitize-recover=undefined)
  target_link_options(convene_settings INTERFACE -fsanitize=${CONVENE_SANITIZE})
endif()

# Sets CONVENE_PURE_ROOMS, CONVENE_MPI_ROOMS and, for each room, CONVENE_ROOM_<room>: the rooms it may look at.
function(convene_read_rooms file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[a-z]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([a-z]+)( mpi)?:(.*)$")
      message(FATAL_ERROR "${file}: not a room: '${line}'; write 'name: rooms' or 'name mpi: rooms'")
    endif()
    set(room ${CMAKE_MATCH_1})
    string(REPLACE " " "_" kind "rooms${CMAKE_MATCH_2}")
    list(APPEND ${kind} ${room})
    separate_arguments(seen UNIX_COMMAND "${CMAKE_MATCH_3}")
    set(CONVENE_ROOM_${room} ${seen} PARENT_SCOPE)
  endforeach()
  set(CONVENE_PURE_ROOMS ${rooms} PARENT_SCOPE)
  set(CONVENE_MPI_ROOMS ${rooms_mpi} PARENT_SCOPE)
endfunction()

# Sets `variable` to a room's sources without its tests. Sources stack_<name>.cpp and stack_<name>_*.cpp are for one MPI
# stack, or for one family of stacks; those of the stack that the third argument names, and of its family, are taken.
function(convene_room_sources room variable)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  list(FILTER found EXCLUDE REGEX "_test\\.cpp$")
  set(of_stacks ${found})
  list(FILTER found EXCLUDE REGEX "/stack_[a-z0-9_]+\\.cpp$")
  list(JOIN CONVENE_FAMILY_${ARGV2} "|" family)
  list(FILTER of_stacks INCLUDE REGEX "/stack_(${ARGV2}|${family})(_[a-z0-9_]+)?\\.cpp$")
  list(APPEND found ${of_stacks})
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Sources that need libm or an initialiser, and that the libraries for MPI programs do not use: never united with others, so
# that the linker leaves them out.
set(separate arrival/pattern arrival/random model/taulop/shared_memory_cost schedule/print/print_goal
             schedule/print/svg/print_svg schedule/print/svg/svg_arrows schedule/print/svg/svg_canvas
             schedule/print/svg/svg_layout)
list(TRANSFORM separate PREPEND ${PROJECT_SOURCE_DIR}/src/)
list(TRANSFORM separate APPEND .cpp)
set_source_files_properties(${separate} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# A room is a static library convene_<room>[_<stack>]; one of headers only is an interface library of the same name.
function(convene_add_room room target settings)
  convene_room_sources(${room} sources ${ARGV3})
  set(links)
  foreach(seen IN LISTS CONVENE_ROOM_${room})
    if(seen IN_LIST CONVENE_PURE_ROOMS)
      list(APPEND links convene_${seen})
    else()
      list(APPEND links convene_${seen}_${ARGV3})
    endif()
  endforeach()
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC ${settings} ${links})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONVENE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
    # Of that room alone: a new version compiles no other source again.
    if(room STREQUAL capi)
      target_compile_definitions(${target} PRIVATE CONVENE_VERSION="${PROJECT_VERSION}")
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${settings} ${links})
  endif()
endfunction()

# Headers that most sources include, compiled once for all targets of a family, which have the same flags. For builds that
# are made as a whole, without ccache; what a source does not include itself is found by the default build.
option(CONVENE_PRECOMPILE "Precompile headers of the pure layers and of their tests" OFF)
set(CONVENE_COMMON_HEADERS <algorithm> <cmath> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
                           <vector> <fmt/format.h>)
function(convene_precompile target family)
  get_property(owner GLOBAL PROPERTY CONVENE_PRECOMPILED_${family})
  if(NOT CONVENE_PRECOMPILE)
    return()
  elseif(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE ${CONVENE_COMMON_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY CONVENE_PRECOMPILED_${family} ${target})
  endif()
endfunction()

function(convene_add_pure_rooms)
  foreach(room IN LISTS CONVENE_PURE_ROOMS)
    convene_add_room(${room} convene_${room} convene_settings)
    get_target_property(kind convene_${room} TYPE)
    if(NOT kind STREQUAL INTERFACE_LIBRARY)
      convene_precompile(convene_${room} layers)
    endif()
  endforeach()
  # One word for all of them: `ninja pure`.
  add_custom_target(pure)
  foreach(room IN LISTS CONVENE_PURE_ROOMS)
    add_dependencies(pure convene_${room})
  endforeach()
endfunction()
