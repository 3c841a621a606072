// SPDX-License-Identifier: BSD-3-Clause
// Collectives that can be measured, and the three interfaces through which each of them is called.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "collective/core/collective.hpp"
#include "convene/convene.h"
#include "mpi/collective_table.hpp"

namespace convene::bench {

/// An invalid request: one sentence is printed, and the exit status is 2.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const Collective collective : all_collectives) found.emplace_back(name(collective));
    return found;
  }();
  return names;
}

/// `text` must be one of the names.
inline Collective collective_of(const std::string& text) { return find_collective(text).value(); }

inline bool is_one_of(Collective collective, std::initializer_list<Collective> these) {
  return std::find(these.begin(), these.end(), collective) != these.end();
}

/// True if blocks may have different sizes: the call takes arrays of counts.
inline bool is_irregular(Collective collective) {
  switch (collective) {
#define CONVENE_CASE(Name, name, NAME, PATTERN, ...) \
  case Collective::name:                             \
    return CONVENE_HAS_ARRAYS(PATTERN);
    CONVENE_COLLECTIVES(CONVENE_CASE, CONVENE_CASE, CONVENE_CASE)
#undef CONVENE_CASE
  }
  return false;
}

/// True if a size is that of a whole vector, not of one of P blocks.
inline bool is_of_vectors(Collective collective) {
  return has_one_vector(collective) || collective == Collective::barrier;
}

/// The functions of all collectives: one interface through which they can be called.
struct CallTable {
#define CONVENE_MEMBER(Name, name, ...) decltype(&PMPI_##Name) name;
  CONVENE_COLLECTIVES(CONVENE_MEMBER, CONVENE_MEMBER, CONVENE_MEMBER)
#undef CONVENE_MEMBER
};

#define CONVENE_PMPI(Name, name, ...) PMPI_##Name,
#define CONVENE_MPI(Name, name, ...) MPI_##Name,
#define CONVENE_API(Name, name, ...) convene_##name,

/// Native calls, bypassing any drop-in library.
inline constexpr CallTable pmpi_calls = {CONVENE_COLLECTIVES(CONVENE_PMPI, CONVENE_PMPI, CONVENE_PMPI)};
/// The calls of an ordinary program.
inline constexpr CallTable program_calls = {CONVENE_COLLECTIVES(CONVENE_MPI, CONVENE_MPI, CONVENE_MPI)};
/// Convene's C API.
inline constexpr CallTable convene_calls = {CONVENE_COLLECTIVES(CONVENE_API, CONVENE_API, CONVENE_API)};

#undef CONVENE_PMPI
#undef CONVENE_MPI
#undef CONVENE_API

}  // namespace convene::bench
