// SPDX-License-Identifier: BSD-3-Clause
// For tests of reductions: predefined and user-defined operators on predefined and derived datatypes, with
// values that need no rounding, so that results are equal byte for byte in any order of ranks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "random_parts.hpp"

/// One item at `at`, of a small value.
using Fill = void (*)(void* at, Random& random);

/// Classes of predefined types in MPI's standard, on which operators are defined.
enum class Class { integer, fortran_integer, floating, logical, complex, byte, language, pair, derived };

/// Bytes of an item that belong to its type and have no meaning.
struct Padding {
  std::ptrdiff_t at;
  std::size_t bytes;
};

struct ItemType {
  std::string name;
  MPI_Datatype handle;
  Fill fill;
  Class of;
  MPI_Aint extent = 0, reach = 0;  // bytes from one item to the next; extent of an item to either side
  std::vector<Padding> padding = {};
};

/// Offsets of the four numbers of a user-defined item, and the distance of items, in bytes.
struct Shape {
  std::ptrdiff_t at[4];
  std::ptrdiff_t extent;
};

struct Op {
  std::string name;
  MPI_Op handle;
  bool commutes = true;
  MPI_User_function* function = nullptr;  // of a user-defined operator, for items of this shape
  const Shape* shape = nullptr;
};

/// An operator with a type for which it is defined.
struct Kind {
  ItemType type;
  Op op;
  std::string in_words() const { return op.name + " on " + type.name; }
};

template <class Value>
void fill_number(void* at, Random& random) {
  const auto value = static_cast<Value>(static_cast<int>(random() % 4));
  std::memcpy(at, &value, sizeof value);
}

template <class Value>
void fill_truth(void* at, Random& random) {
  const auto value = static_cast<Value>(random() % 2);
  std::memcpy(at, &value, sizeof value);
}

template <class Value>
void fill_pair_of(void* at, Random& random) {
  const Value pair[] = {static_cast<Value>(static_cast<int>(random() % 3)),
                        static_cast<Value>(static_cast<int>(random() % 3))};
  std::memcpy(at, pair, sizeof pair);
}

/// The padding bytes of a long double after its value, if any.
inline Padding padding_of_long_double(std::ptrdiff_t at) {
  const std::size_t used = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  return {at + static_cast<std::ptrdiff_t>(used), sizeof(long double) - used};
}

/// MPI's pair types in C.
template <class Value>
struct Pair {
  Value value;
  int index;
};
template <class Value>
void fill_pair(void* at, Random& random) {
  const auto value = static_cast<Value>(random() % 3);
  const int index = static_cast<int>(random() % 3);
  std::memcpy(at, &value, sizeof value);
  std::memcpy(static_cast<char*>(at) + offsetof(Pair<Value>, index), &index, sizeof index);
}

inline ItemType item_type(const std::string& name, MPI_Datatype handle, Fill fill,
                          Class of = Class::derived) {
  ItemType type{name, handle, fill, of};
  MPI_Aint lower = 0, true_lower = 0, true_extent = 0;
  MPI_Type_get_extent(handle, &lower, &type.extent);
  MPI_Type_get_true_extent(handle, &true_lower, &true_extent);
  type.reach = std::abs(true_lower) + true_extent + std::abs(type.extent);
  return type;
}

inline std::vector<ItemType> predefined_types() {
  std::vector<ItemType> all;
  const auto add = [&](const char* name, MPI_Datatype type, Fill fill, Class of) {
    int size = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) return;
    all.push_back(item_type(name, type, fill, of));
  };
#define ADD(type, Value, of) add(#type, type, fill_number<Value>, Class::of)
  ADD(MPI_SIGNED_CHAR, signed char, integer);
  ADD(MPI_UNSIGNED_CHAR, unsigned char, integer);
  ADD(MPI_SHORT, short, integer);
  ADD(MPI_UNSIGNED_SHORT, unsigned short, integer);
  ADD(MPI_INT, int, integer);
  ADD(MPI_UNSIGNED, unsigned, integer);
  ADD(MPI_LONG, long, integer);
  ADD(MPI_UNSIGNED_LONG, unsigned long, integer);
  ADD(MPI_LONG_LONG, long long, integer);
  ADD(MPI_UNSIGNED_LONG_LONG, unsigned long long, integer);
  ADD(MPI_INT8_T, std::int8_t, integer);
  ADD(MPI_INT16_T, std::int16_t, integer);
  ADD(MPI_INT32_T, std::int32_t, integer);
  ADD(MPI_INT64_T, std::int64_t, integer);
  ADD(MPI_UINT8_T, std::uint8_t, integer);
  ADD(MPI_UINT16_T, std::uint16_t, integer);
  ADD(MPI_UINT32_T, std::uint32_t, integer);
  ADD(MPI_UINT64_T, std::uint64_t, integer);
  ADD(MPI_FLOAT, float, floating);
  ADD(MPI_DOUBLE, double, floating);
  ADD(MPI_AINT, MPI_Aint, language);
  ADD(MPI_OFFSET, MPI_Offset, language);
  ADD(MPI_COUNT, MPI_Count, language);
  ADD(MPI_BYTE, unsigned char, byte);
  ADD(MPI_C_FLOAT_COMPLEX, std::complex<float>, complex);
  ADD(MPI_C_DOUBLE_COMPLEX, std::complex<double>, complex);
#undef ADD
  add("MPI_C_BOOL", MPI_C_BOOL, fill_truth<bool>, Class::logical);
  // If this MPI lacks a type, it rejects it together with its operators.
  const auto add_padded = [&](const char* name, MPI_Datatype type, Fill fill, Class of,
                              std::vector<Padding> padding) {
    const std::size_t before = all.size();
    add(name, type, fill, of);
    if (all.size() > before) all.back().padding = std::move(padding);
  };
  constexpr std::ptrdiff_t size = sizeof(long double);
  add_padded("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, fill_number<long double>, Class::floating,
             {padding_of_long_double(0)});
  add_padded("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, fill_number<std::complex<long double>>,
             Class::complex, {padding_of_long_double(0), padding_of_long_double(size)});
  add_padded("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, fill_pair<long double>, Class::pair,
             {padding_of_long_double(0), {size + 4, sizeof(Pair<long double>) - size - 4}});
  // Fortran's types, with the compilers' default sizes.
  add("MPI_INTEGER", MPI_INTEGER, fill_number<std::int32_t>, Class::fortran_integer);
  add("MPI_REAL", MPI_REAL, fill_number<float>, Class::floating);
  add("MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, fill_number<double>, Class::floating);
  add("MPI_COMPLEX", MPI_COMPLEX, fill_number<std::complex<float>>, Class::complex);
  add("MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, fill_number<std::complex<double>>, Class::complex);
  add("MPI_LOGICAL", MPI_LOGICAL, fill_truth<std::int32_t>, Class::logical);
  add("MPI_2INTEGER", MPI_2INTEGER, fill_pair_of<std::int32_t>, Class::pair);
  add("MPI_2REAL", MPI_2REAL, fill_pair_of<float>, Class::pair);
  add("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, fill_pair_of<double>, Class::pair);
  add("MPI_FLOAT_INT", MPI_FLOAT_INT, fill_pair<float>, Class::pair);
  // Intel MPI's native reductions write between or after the two values, on some processors.
  const std::size_t behind_double = sizeof(Pair<double>) - sizeof(double) - sizeof(int);
  const std::size_t behind_long = sizeof(Pair<long>) - sizeof(long) - sizeof(int);
  add_padded("MPI_DOUBLE_INT", MPI_DOUBLE_INT, fill_pair<double>, Class::pair,
             {{sizeof(double) + sizeof(int), behind_double}});
  add_padded("MPI_LONG_INT", MPI_LONG_INT, fill_pair<long>, Class::pair,
             {{sizeof(long) + sizeof(int), behind_long}});
  add("MPI_2INT", MPI_2INT, fill_pair<int>, Class::pair);
  add_padded("MPI_SHORT_INT", MPI_SHORT_INT, fill_pair<short>, Class::pair,
             {{sizeof(short), offsetof(Pair<short>, index) - sizeof(short)}});
  return all;
}

inline std::vector<Op> predefined_ops() {
  return {{"MPI_MAX", MPI_MAX},   {"MPI_MIN", MPI_MIN},       {"MPI_SUM", MPI_SUM},
          {"MPI_PROD", MPI_PROD}, {"MPI_LAND", MPI_LAND},     {"MPI_BAND", MPI_BAND},
          {"MPI_LOR", MPI_LOR},   {"MPI_BOR", MPI_BOR},       {"MPI_LXOR", MPI_LXOR},
          {"MPI_BXOR", MPI_BXOR}, {"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC}};
}

/// True if the standard defines it.
inline bool is_legal(const ItemType& type, const Op& op) {
  const auto op_is = [&](std::initializer_list<MPI_Op> list) {
    return std::find(list.begin(), list.end(), op.handle) != list.end();
  };
  const auto type_is = [&](std::initializer_list<Class> list) {
    return std::find(list.begin(), list.end(), type.of) != list.end();
  };
  if (op_is({MPI_MAX, MPI_MIN}))
    return type_is({Class::integer, Class::fortran_integer, Class::floating, Class::language});
  if (op_is({MPI_SUM, MPI_PROD}))
    return type_is(
        {Class::integer, Class::fortran_integer, Class::floating, Class::complex, Class::language});
  if (op_is({MPI_LAND, MPI_LOR, MPI_LXOR})) return type_is({Class::integer, Class::logical});
  if (op_is({MPI_BAND, MPI_BOR, MPI_BXOR}))
    return type_is({Class::integer, Class::fortran_integer, Class::byte, Class::language});
  return type_is({Class::pair});
}

/// All legal pairs of predefined operators and types that this MPI accepts.
inline std::vector<Kind> predefined_kinds() {
  std::vector<Kind> kinds;
  MPI_Errhandler world = MPI_ERRHANDLER_NULL, self = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (const ItemType& type : predefined_types())
    for (const Op& op : predefined_ops()) {
      alignas(64) char in[64] = {}, out[64] = {};
      if (!is_legal(type, op)) continue;
      if (MPI_Reduce_local(in, out, 1, type.handle, op.handle) == MPI_SUCCESS) kinds.push_back({type, op});
    }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
  MPI_Errhandler_free(&world);
  MPI_Errhandler_free(&self);
  return kinds;
}

// User-defined ones. All items contain a matrix of 2 × 2 whole numbers, at four offsets that differ by type;
// the operator is the matrix product, which does not commute, or the sum.

struct Matrix {
  std::uint32_t at[4];
};

inline void fill_matrix(Matrix& matrix, Random& random) {
  for (std::uint32_t& each : matrix.at) each = static_cast<std::uint32_t>(random() % 1000);
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  return {{a.at[0] * b.at[0] + a.at[1] * b.at[2], a.at[0] * b.at[1] + a.at[1] * b.at[3],
           a.at[2] * b.at[0] + a.at[3] * b.at[2], a.at[2] * b.at[1] + a.at[3] * b.at[3]}};
}

inline Matrix sum(const Matrix& a, const Matrix& b) {
  return {{a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]}};
}

inline constexpr Shape shapes[] = {
    {{0, 4, 8, 12}, 16},    // without gaps
    {{0, 8, 16, 24}, 32},   // each second word
    {{12, 0, 4, 8}, 16},    // without gaps, in another order
    {{-8, 20, 4, 12}, 40},  // with a negative lower bound
    {{0, 4, 40, 44}, 16},   // interleaved items
};

template <int which, bool is_product>
void apply(void* in, void* inout, int* count, MPI_Datatype*) {
  const Shape& shape = shapes[which];
  const auto load = [&](const char* item) {
    Matrix matrix;
    for (int i = 0; i < 4; ++i) std::memcpy(&matrix.at[i], item + shape.at[i], 4);
    return matrix;
  };
  auto *a = static_cast<char*>(in), *b = static_cast<char*>(inout);
  for (int i = 0; i < *count; ++i, a += shape.extent, b += shape.extent) {
    const Matrix result = is_product ? product(load(a), load(b)) : sum(load(a), load(b));
    for (int k = 0; k < 4; ++k) std::memcpy(b + shape.at[k], &result.at[k], 4);
  }
}

template <int which>
void fill_shape(void* at, Random& random) {
  Matrix matrix;
  fill_matrix(matrix, random);
  for (int i = 0; i < 4; ++i) std::memcpy(static_cast<char*>(at) + shapes[which].at[i], &matrix.at[i], 4);
}

template <int which>
void add_shape(std::vector<Kind>& kinds) {
  const Shape& shape = shapes[which];
  MPI_Datatype parts, type;
  const int lengths[] = {1, 1, 1, 1};
  const MPI_Aint at[] = {shape.at[0], shape.at[1], shape.at[2], shape.at[3]};
  const MPI_Datatype of[] = {MPI_UINT32_T, MPI_UINT32_T, MPI_UINT32_T, MPI_UINT32_T};
  MPI_Type_create_struct(4, lengths, at, of, &parts);
  MPI_Type_create_resized(parts, std::min<MPI_Aint>(0, shape.at[0]), shape.extent, &type);
  MPI_Type_free(&parts);
  MPI_Type_commit(&type);
  MPI_Op multiply, add;
  MPI_Op_create(apply<which, true>, 0, &multiply);
  MPI_Op_create(apply<which, false>, 1, &add);
  const ItemType item = item_type("matrices of shape " + std::to_string(which), type, fill_shape<which>);
  kinds.push_back({item, {"product", multiply, false, apply<which, true>, &shape}});
  kinds.push_back({item, {"sum", add, true, apply<which, false>, &shape}});
}

inline std::vector<Kind> user_kinds() {
  std::vector<Kind> kinds;
  add_shape<0>(kinds);
  add_shape<1>(kinds);
  add_shape<2>(kinds);
  add_shape<3>(kinds);
  add_shape<4>(kinds);
  MPI_Datatype run;
  MPI_Type_contiguous(4, MPI_UINT32_T, &run);
  MPI_Type_commit(&run);
  Kind of_run = kinds[0];
  of_run.type = item_type("runs of four", run, fill_shape<0>);
  kinds.push_back(of_run);
  return kinds;
}

/// Memory with guards around a buffer, to detect writes outside it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t margin) : margin_(margin), memory_(bytes + 2 * margin) {}
  void* at() { return memory_.data() + margin_; }
  std::vector<unsigned char>& all() { return memory_; }

 private:
  std::size_t margin_;
  std::vector<unsigned char> memory_;
};

/// A reduction with all its arguments, twice: for Convene, and for the MPI.
struct ReductionCall {
  std::string collective;
  const Kind* kind = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, procs = 1, root = 0;
  bool in_place = false;
  int count = 0;            // of the vector, or of a block of reduce_scatter_block
  std::vector<int> counts;  // of reduce_scatter
  int items = 0;            // of the vector that a rank contributes
  std::vector<Guarded> input, output;

  bool is(const char* name) const { return collective == name; }
  bool scatters() const { return is("reduce_scatter") || is("reduce_scatter_block"); }

  /// Makes the buffers, of items drawn from `mine`.
  void fill(Random& mine) {
    items = is("reduce_scatter_block") ? count * procs : count;
    if (is("reduce_scatter")) items = std::accumulate(counts.begin(), counts.end(), 0);
    const ItemType& type = kind->type;
    const std::size_t bytes = static_cast<std::size_t>(items * type.extent) + 64;
    const std::size_t margin = (static_cast<std::size_t>(type.reach) + 127) / 64 * 64;
    for (auto* buffer : {&input, &output}) {
      buffer->clear();
      buffer->emplace_back(bytes, margin);
      for (unsigned char& byte : buffer->front().all()) byte = static_cast<unsigned char>(mine());
      for (int i = 0; i < items; ++i)
        type.fill(static_cast<char*>(buffer->front().at()) + i * type.extent, mine);
    }
    output.push_back(output[0]);
  }

  /// Computes the reference result: by the MPI or, for user-defined operators, here from all ranks' vectors.
  /// (Native algorithms have bugs with datatypes that have gaps.)
  int run_reference() {
    if (!kind->op.function && in_place &&
        scatters()) {  // in place, MPICH's native algorithm fails on overlapping copies
      ReductionCall other = *this;
      other.in_place = false;
      other.input = {output[1]};
      const int code = other.run(1, false, nullptr);
      output[1] = other.output[1];
      return code;
    }
    if (!kind->op.function) return run(1, false, nullptr);
    const bool here = in_place && (!is("reduce") || rank == root);
    std::vector<unsigned char>& own = here ? output[1].all() : input[0].all();
    std::vector<unsigned char> all(own.size() * static_cast<std::size_t>(procs));
    const int bytes = static_cast<int>(own.size());
    PMPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
    const std::ptrdiff_t margin = static_cast<unsigned char*>(output[1].at()) - output[1].all().data();
    const auto vector_of = [&](int of) { return all.data() + std::ptrdiff_t{of} * bytes + margin; };
    const int last = is("scan") ? rank : is("exscan") ? rank - 1 : procs - 1;
    if (last < 0 || (is("reduce") && rank != root)) return MPI_SUCCESS;
    for (int left = last - 1, n = items; left >= 0; --left)
      kind->op.function(vector_of(left), vector_of(last), &n, nullptr);
    int first = 0, wanted = count;
    if (is("reduce_scatter_block")) first = rank * count;
    if (is("reduce_scatter")) {
      first = std::accumulate(counts.begin(), counts.begin() + rank, 0);
      wanted = counts[static_cast<std::size_t>(rank)];
    }
    for (int i = 0; i < wanted; ++i)
      for (const std::ptrdiff_t at : kind->op.shape->at)
        std::memcpy(static_cast<char*>(output[1].at()) + i * kind->type.extent + at,
                    vector_of(last) + (first + i) * kind->type.extent + at, 4);
    return MPI_SUCCESS;
  }

  /// Executes the call, by Convene (0) or natively (1); with a request it is only started.
  int run(int by, bool interposed, MPI_Request* request) {
    const bool here = in_place && (!is("reduce") || rank == root);
    const void* in = here ? MPI_IN_PLACE : input[0].at();
    void* out = output[static_cast<std::size_t>(by)].at();
    const MPI_Datatype type = kind->type.handle;
    const MPI_Op op = kind->op.handle;
#define ONE(ours, own, theirs, ...) \
  return by == 1 ? theirs(__VA_ARGS__) : interposed ? own(__VA_ARGS__) : ours(__VA_ARGS__)
#define DO(name, NAME, ...)                                                                   \
  if (is(#name)) {                                                                            \
    if (request) ONE(convene_i##name, MPI_I##name, PMPI_I##name, __VA_ARGS__, comm, request); \
    ONE(convene_##name, MPI_##NAME, PMPI_##NAME, __VA_ARGS__, comm);                          \
  }
    DO(reduce, Reduce, in, out, count, type, op, root)
    DO(allreduce, Allreduce, in, out, count, type, op)
    DO(reduce_scatter, Reduce_scatter, in, out, counts.data(), type, op)
    DO(reduce_scatter_block, Reduce_scatter_block, in, out, count, type, op)
    DO(scan, Scan, in, out, count, type, op)
    DO(exscan, Exscan, in, out, count, type, op)
#undef DO
#undef ONE
    return MPI_ERR_OTHER;
  }

  /// True if both have the same result, and nothing else was written. In place, a reduce_scatter may leave
  /// anything in the rest of its buffer.
  bool is_right() {
    for (Guarded& buffer : output)
      for (int i = 0; i < items; ++i)
        for (const Padding& padding : kind->type.padding)
          std::memset(static_cast<char*>(buffer.at()) + i * kind->type.extent + padding.at, 0, padding.bytes);
    if (!in_place || !scatters()) return output[0].all() == output[1].all();
    const int own = is("reduce_scatter") ? counts[static_cast<std::size_t>(rank)] : count;
    if (!kind->op.shape)
      return std::memcmp(output[0].at(), output[1].at(), static_cast<std::size_t>(own * kind->type.extent)) ==
             0;
    for (int i = 0; i < own; ++i)
      for (const std::ptrdiff_t at : kind->op.shape->at) {
        const auto word = [&](int by) {
          return static_cast<char*>(output[static_cast<std::size_t>(by)].at()) + i * kind->type.extent + at;
        };
        if (std::memcmp(word(0), word(1), 4) != 0) return false;
      }
    return true;
  }
};
