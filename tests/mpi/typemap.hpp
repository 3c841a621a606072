// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes with their type maps: the position of each item's bytes, computed without the MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// One basic element of an item.
struct Leaf {
  std::ptrdiff_t offset;
  std::size_t bytes;
  char kind;  ///< equal kinds match in two signatures
};

/// A datatype: the MPI's handle and its type map, leaves in signature order.
struct Type {
  std::string name;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::vector<Leaf> leaves;
  std::ptrdiff_t lower = 0, extent = 0;
  bool is_named = false;

  std::size_t size() const {
    std::size_t sum = 0;
    for (const Leaf& leaf : leaves) sum += leaf.bytes;
    return sum;
  }

  void free() {
    if (!is_named) MPI_Type_free(&handle);
  }
};

namespace typemap {

inline Type named(const char* name, MPI_Datatype handle, std::size_t bytes, char kind) {
  return {name, handle, {{0, bytes, kind}}, 0, static_cast<std::ptrdiff_t>(bytes), true};
}

/// The C pair types: {value; int}, with the compiler's padding.
template <class Value>
Type pair(const char* name, MPI_Datatype handle, char kind) {
  struct Pair {
    Value value;
    int index;
  };
  return {name,
          handle,
          {{0, sizeof(Value), kind}, {offsetof(Pair, index), sizeof(int), 'i'}},
          0,
          static_cast<std::ptrdiff_t>(sizeof(Pair)),
          true};
}

/// `base` placed at some displacements (in bytes): the common form of all constructors.
inline Type placed(std::string name, MPI_Datatype handle, const Type& base,
                   const std::vector<std::ptrdiff_t>& displacements) {
  MPI_Type_commit(&handle);
  Type type{std::move(name), handle, {}, 0, 0, false};
  std::ptrdiff_t upper = 0;
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const std::ptrdiff_t at = displacements[i], low = at + base.lower, high = low + base.extent;
    for (const Leaf& leaf : base.leaves) type.leaves.push_back({at + leaf.offset, leaf.bytes, leaf.kind});
    type.lower = i == 0 ? low : std::min(type.lower, low);
    upper = i == 0 ? high : std::max(upper, high);
  }
  type.extent = upper - type.lower;
  return type;
}

inline Type contiguous(int count, const Type& base) {
  MPI_Datatype handle;
  MPI_Type_contiguous(count, base.handle, &handle);
  std::vector<std::ptrdiff_t> at;
  for (int i = 0; i < count; ++i) at.push_back(i * base.extent);
  return placed("contiguous(" + std::to_string(count) + "," + base.name + ")", handle, base, at);
}

inline Type vector(int blocks, int length, int stride, const Type& base) {
  MPI_Datatype handle;
  MPI_Type_vector(blocks, length, stride, base.handle, &handle);
  std::vector<std::ptrdiff_t> at;
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < length; ++j) at.push_back((i * stride + j) * base.extent);
  return placed("vector(" + base.name + ")", handle, base, at);
}

/// Displacements may be in any order: the signature follows the order given.
inline Type indexed(const char* name, const std::vector<int>& lengths, const std::vector<int>& displacements,
                    const Type& base) {
  MPI_Datatype handle;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displacements.data(), base.handle,
                   &handle);
  std::vector<std::ptrdiff_t> at;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (int j = 0; j < lengths[i]; ++j) at.push_back((displacements[i] + j) * base.extent);
  return placed(name, handle, base, at);
}

inline Type resized(const Type& base, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  Type type = base;
  type.name = "resized(" + base.name + ")";
  type.is_named = false;
  MPI_Type_create_resized(base.handle, lower, extent, &type.handle);
  MPI_Type_commit(&type.handle);
  type.lower = lower;
  type.extent = extent;
  return type;
}

inline Type duplicate(const Type& base) {
  Type type = base;
  type.name = "dup(" + base.name + ")";
  type.is_named = false;
  MPI_Type_dup(base.handle, &type.handle);
  return type;
}

/// A struct of one item of each member at these offsets, resized so that alignment rules have no effect.
inline Type structure(const char* name, const std::vector<std::pair<std::ptrdiff_t, Type>>& members,
                      std::ptrdiff_t extent) {
  std::vector<int> lengths(members.size(), 1);
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> handles;
  Type type{name, MPI_DATATYPE_NULL, {}, 0, extent, false};
  for (const auto& [offset, member] : members) {
    offsets.push_back(offset);
    handles.push_back(member.handle);
    for (const Leaf& leaf : member.leaves)
      type.leaves.push_back({offset + leaf.offset, leaf.bytes, leaf.kind});
  }
  MPI_Datatype plain;
  MPI_Type_create_struct(static_cast<int>(members.size()), lengths.data(), offsets.data(), handles.data(),
                         &plain);
  MPI_Type_create_resized(plain, 0, extent, &type.handle);
  MPI_Type_commit(&type.handle);
  MPI_Type_free(&plain);
  return type;
}

}  // namespace typemap
