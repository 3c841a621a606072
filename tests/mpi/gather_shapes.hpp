// SPDX-License-Identifier: BSD-3-Clause
// Datatypes and block sizes of the allgather program.
#pragma once

#include <cstdint>

#include "gather_check.hpp"
#include "typemap.hpp"

namespace shapes {

/// One unit more for each rank, starting with none.
inline std::vector<std::size_t> rising(const Comm& comm) {
  std::vector<std::size_t> units = equal_units(comm, 0);
  std::iota(units.begin(), units.end(), std::size_t{0});
  if (comm.size == 1) units[0] = 2;
  return units;
}

/// Irregular block sizes: those of the sources, and with empty blocks in all positions.
inline std::vector<std::vector<std::size_t>> distributions(const Comm& comm, std::size_t most) {
  const auto procs = static_cast<std::size_t>(comm.size);
  std::vector<std::vector<std::size_t>> all;
  const auto add = [&](auto&& units_of) {
    std::vector<std::size_t> units;
    for (std::size_t i = 0; i < procs; ++i) units.push_back(units_of(i));
    all.push_back(units);
  };
  add([&](std::size_t) { return most / procs; });                        // equal
  add([&](std::size_t i) { return most * (i + 1) / (procs * procs); });  // rising
  add([&](std::size_t i) { return most >> (i + 1); });                   // each half of the one before
  add([&](std::size_t i) { return i == procs / 2 ? most : 1; });         // one much larger
  add([&](std::size_t i) { return i == procs - 1 ? most : 0; });         // all from the last rank
  add([&](std::size_t i) { return i == 0 ? 0 : 7; });                    // nothing from the first
  add([&](std::size_t i) { return (i * 2654435761u) % 97; });            // any
  add([&](std::size_t) { return std::size_t{0}; });                      // nothing at all
  return all;
}

inline std::vector<Type> named_types() {
  using typemap::named;
  return {
      named("MPI_CHAR", MPI_CHAR, sizeof(char), 'c'),
      named("MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, 1, 'c'),
      named("MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, 1, 'c'),
      named("MPI_WCHAR", MPI_WCHAR, sizeof(wchar_t), 'w'),
      named("MPI_SHORT", MPI_SHORT, sizeof(short), 's'),
      named("MPI_UNSIGNED", MPI_UNSIGNED, sizeof(unsigned), 'u'),
      named("MPI_LONG", MPI_LONG, sizeof(long), 'l'),
      named("MPI_LONG_LONG", MPI_LONG_LONG, sizeof(long long), 'l'),
      named("MPI_FLOAT", MPI_FLOAT, sizeof(float), 'f'),
      named("MPI_DOUBLE", MPI_DOUBLE, sizeof(double), 'd'),
      named("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, sizeof(long double), 'D'),
      named("MPI_INT8_T", MPI_INT8_T, 1, 'i'),
      named("MPI_UINT64_T", MPI_UINT64_T, 8, 'i'),
      named("MPI_AINT", MPI_AINT, sizeof(MPI_Aint), 'a'),
      named("MPI_COUNT", MPI_COUNT, sizeof(MPI_Count), 'a'),
      named("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, 16, 'z'),
      named("MPI_BYTE", MPI_BYTE, 1, 'b'),
      named("MPI_PACKED", MPI_PACKED, 1, 'p'),
      typemap::pair<int>("MPI_2INT", MPI_2INT, 'i'),
      typemap::pair<float>("MPI_FLOAT_INT", MPI_FLOAT_INT, 'f'),
      typemap::pair<double>("MPI_DOUBLE_INT", MPI_DOUBLE_INT, 'd'),
      typemap::pair<long>("MPI_LONG_INT", MPI_LONG_INT, 'l'),
      typemap::pair<short>("MPI_SHORT_INT", MPI_SHORT_INT, 's'),
  };
}

/// Types of integers only: any two have equal signatures for some counts.
inline std::vector<Type> integer_types() {
  using namespace typemap;
  const Type number = named("MPI_INT", MPI_INT, sizeof(int), 'i');
  std::vector<Type> types = {
      number,
      contiguous(3, number),
      vector(3, 2, 5, number),
      indexed("indexed", {1, 2, 0, 1}, {0, 3, 4, 8}, number),
      indexed("indexed, permuted", {1, 2, 1}, {7, 3, 0}, number),
      indexed("indexed, dense but permuted", {1, 1, 1}, {2, 0, 1}, number),
      indexed("indexed, negative", {2, 1}, {-4, 1}, number),
      duplicate(number),
      typemap::pair<int>("MPI_2INT", MPI_2INT, 'i'),
  };
  const auto derive = [&](Type type, Type&& base) {
    types.push_back(std::move(type));
    base.free();
  };
  Type row = contiguous(2, number);
  derive(resized(row, 0, 4 * number.extent), std::move(row));
  Type shifted = contiguous(2, number);
  derive(resized(shifted, -number.extent, 4 * number.extent), std::move(shifted));
  Type same = contiguous(2, number);
  derive(resized(same, 0, same.extent), std::move(same));
  Type dense = contiguous(4, number);
  derive(duplicate(dense), std::move(dense));
  Type nested = vector(2, 1, 2, number);
  derive(contiguous(2, nested), std::move(nested));
  Type strided = vector(2, 1, 3, number);
  derive(duplicate(strided), std::move(strided));
  Type backwards = vector(3, 1, -2, number);
  derive(duplicate(backwards), std::move(backwards));
  return types;
}

/// Types of a double and an integer.
inline std::vector<Type> pair_types() {
  using namespace typemap;
  const Type number = named("MPI_INT", MPI_INT, sizeof(int), 'i');
  const Type real = named("MPI_DOUBLE", MPI_DOUBLE, sizeof(double), 'd');
  std::vector<Type> types = {
      typemap::pair<double>("MPI_DOUBLE_INT", MPI_DOUBLE_INT, 'd'),
      structure("struct, dense", {{0, real}, {8, number}}, 12),
      structure("struct, the second member first in memory", {{8, real}, {0, number}}, 16),
      structure("struct, large", {{16, real}, {64, number}}, 128),
  };
  types.push_back(contiguous(2, types[0]));
  types.push_back(duplicate(types[0]));
  return types;
}

/// Types without data, and types that only look empty.
inline std::vector<Type> empty_types() {
  using namespace typemap;
  const Type number = named("MPI_INT", MPI_INT, sizeof(int), 'i');
  Type nothing = contiguous(0, number), wide = resized(nothing, 0, 16);
  return {nothing, wide};
}

/// Groups within which any two types match.
inline std::vector<std::vector<Type>> families() { return {integer_types(), pair_types()}; }

}  // namespace shapes
