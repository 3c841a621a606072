// SPDX-License-Identifier: BSD-3-Clause
// One allgather, checked: buffers are built from type maps, the expected result is computed here, and
// afterwards all bytes are compared, including those between and around the data.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "typemap.hpp"

struct Comm {
  const char* name;
  MPI_Comm handle;
  int rank = 0, size = 1;
  mutable std::uint32_t salt = 0;  ///< distinguishes the data of one call from that of others; equal on all
                                   ///< ranks

  Comm(const char* name_, MPI_Comm handle_) : name(name_), handle(handle_) {
    MPI_Comm_rank(handle, &rank);
    MPI_Comm_size(handle, &size);
    for (const char* c = name; *c; ++c) salt = salt * 31 + static_cast<unsigned char>(*c);
  }
};

/// Counts cases and failures; the first few failures are printed.
struct Tally {
  long calls = 0, failures = 0;

  void expect(bool holds, const std::string& what) {
    if (holds) return;
    if (++failures > 5) return;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what.c_str());
  }
};

/// The n-th byte that a rank contributes.
inline unsigned char contributed(int rank, std::uint32_t salt, std::size_t n) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank + 1) << 56) + (std::uint64_t{salt} << 32) + n;
  x ^= x >> 29;
  x *= 0x9e3779b97f4a7c15ull;
  return static_cast<unsigned char>(x >> 56);
}

/// Memory for items of one type at any displacement, with a margin on both sides.
class Buffer {
 public:
  /// `blocks`: (first item, number of items).
  Buffer(const Type& type, const std::vector<std::pair<std::ptrdiff_t, std::size_t>>& blocks,
         unsigned char fill)
      : type_(type) {
    std::ptrdiff_t low = 0, high = 0;
    for (const auto& [first, count] : blocks)
      for (std::size_t item : {std::size_t{0}, count - 1})
        for (const Leaf& leaf : type.leaves) {
          if (count == 0) continue;
          const std::ptrdiff_t at = type.extent * (first + static_cast<std::ptrdiff_t>(item)) + leaf.offset;
          low = std::min(low, at);
          high = std::max(high, at + static_cast<std::ptrdiff_t>(leaf.bytes));
        }
    origin_ = (static_cast<std::size_t>(-low) + margin + 63) / 64 * 64;
    bytes_.assign(origin_ + static_cast<std::size_t>(high) + margin, fill);
  }

  void* address() { return bytes_.data() + origin_; }

  /// Writes what `rank` contributes as the items from `first` on.
  void write(std::ptrdiff_t first, std::size_t count, int rank, std::uint32_t salt) {
    std::size_t n = 0;
    for (std::size_t item = 0; item < count; ++item) {
      unsigned char* at = bytes_.data() + static_cast<std::ptrdiff_t>(origin_) +
                          type_.extent * (first + static_cast<std::ptrdiff_t>(item));
      for (const Leaf& leaf : type_.leaves)
        for (std::size_t i = 0; i < leaf.bytes; ++i)
          at[leaf.offset + static_cast<std::ptrdiff_t>(i)] = contributed(rank, salt, n++);
    }
  }

  bool operator==(const Buffer& other) const { return bytes_ == other.bytes_; }

  /// The first byte that differs, counted from the address given to the MPI.
  std::ptrdiff_t first_difference(const Buffer& other) const {
    std::size_t i = 0;
    while (i < bytes_.size() && bytes_[i] == other.bytes_[i]) ++i;
    return static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(origin_);
  }

 private:
  static constexpr std::size_t margin = 64;
  const Type& type_;
  std::vector<unsigned char> bytes_;
  std::size_t origin_ = 0;
};

enum class Form { allgather, allgatherv, allgather_c, allgatherv_c };
enum class Layout { packed, gaps, backwards };

/// The forms that this MPI has.
inline std::vector<Form> forms() {
#if MPI_VERSION >= 4
  return {Form::allgather, Form::allgatherv, Form::allgather_c, Form::allgatherv_c};
#else
  return {Form::allgather, Form::allgatherv};
#endif
}

inline bool is_irregular(Form form) { return form == Form::allgatherv || form == Form::allgatherv_c; }

inline const char* name_of(Form form) {
  switch (form) {
    case Form::allgather:
      return "MPI_Allgather";
    case Form::allgatherv:
      return "MPI_Allgatherv";
    case Form::allgather_c:
      return "MPI_Allgather_c";
    case Form::allgatherv_c:
      return "MPI_Allgatherv_c";
  }
  return "";
}

/// One call: rank r contributes units[r] units, a unit being the least data that is whole items of both
/// types.
struct Case {
  Form form = Form::allgather;
  const Type* send = nullptr;
  const Type* receive = nullptr;
  std::vector<std::size_t> units;
  Layout layout = Layout::packed;
  bool in_place = false;
};

namespace gather_check {

/// Items of each type that make up one unit.
inline std::pair<std::size_t, std::size_t> items_per_unit(const Type& send, const Type& receive) {
  const std::size_t s = send.leaves.size(), r = receive.leaves.size();
  if (s == 0 || r == 0) return {1, 1};
  const std::size_t all = std::lcm(s, r);
  return {all / s, all / r};
}

/// Where each rank's block starts, in items of the receive type.
inline std::vector<std::ptrdiff_t> displacements(const std::vector<std::size_t>& counts, Layout layout) {
  const std::size_t procs = counts.size();
  std::vector<std::ptrdiff_t> at(procs);
  std::ptrdiff_t next = 0;
  for (std::size_t i = 0; i < procs; ++i) {
    const std::size_t block = layout == Layout::backwards ? procs - 1 - i : i;
    if (layout != Layout::packed) next += static_cast<std::ptrdiff_t>(block % 3);
    at[block] = next;
    next += static_cast<std::ptrdiff_t>(counts[block]);
  }
  return at;
}

inline std::string describe(const Case& c, const Comm& comm) {
  std::string text = std::string(name_of(c.form)) + " on " + comm.name + " of " + std::to_string(comm.size) +
                     ", " + (c.in_place ? "MPI_IN_PLACE" : c.send->name) + " to " + c.receive->name +
                     ", units";
  for (std::size_t unit : c.units) text += " " + std::to_string(unit);
  if (c.layout != Layout::packed) text += c.layout == Layout::gaps ? ", gaps" : ", backwards";
  return text;
}

inline int call(const Case& c, const Comm& comm, void* from, std::size_t send_count, void* to,
                const std::vector<std::size_t>& counts, const std::vector<std::ptrdiff_t>& at) {
  const MPI_Datatype send = c.in_place ? MPI_DATATYPE_NULL : c.send->handle, receive = c.receive->handle;
  if (c.in_place) {
    from = MPI_IN_PLACE;
    send_count = 0;
  }
  switch (c.form) {
    case Form::allgather:
      return MPI_Allgather(from, static_cast<int>(send_count), send, to, static_cast<int>(counts[0]), receive,
                           comm.handle);
    case Form::allgatherv: {
      const std::vector<int> narrow(counts.begin(), counts.end()), places(at.begin(), at.end());
      return MPI_Allgatherv(from, static_cast<int>(send_count), send, to, narrow.data(), places.data(),
                            receive, comm.handle);
    }
#if MPI_VERSION >= 4
    case Form::allgather_c:
      return MPI_Allgather_c(from, static_cast<MPI_Count>(send_count), send, to,
                             static_cast<MPI_Count>(counts[0]), receive, comm.handle);
    case Form::allgatherv_c: {
      const std::vector<MPI_Count> wide(counts.begin(), counts.end());
      const std::vector<MPI_Aint> places(at.begin(), at.end());
      return MPI_Allgatherv_c(from, static_cast<MPI_Count>(send_count), send, to, wide.data(), places.data(),
                              receive, comm.handle);
    }
#else
    default:
      break;
#endif
  }
  return MPI_ERR_OTHER;
}

}  // namespace gather_check

/// Executes the call and compares everything. `units` must have one number per rank; regular forms use the
/// first for all.
inline void check(Tally& tally, const Comm& comm, Case c) {
  const std::uint32_t salt = comm.salt++;
  if (!is_irregular(c.form)) {
    std::fill(c.units.begin(), c.units.end(), c.units[0]);
    c.layout = Layout::packed;
  }
  const auto [send_items, receive_items] = gather_check::items_per_unit(*c.send, *c.receive);
  const auto me = static_cast<std::size_t>(comm.rank);
  std::vector<std::size_t> counts;
  for (std::size_t unit : c.units) counts.push_back(unit * receive_items);
  const std::vector<std::ptrdiff_t> at = gather_check::displacements(counts, c.layout);
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> blocks;
  for (std::size_t i = 0; i < counts.size(); ++i) blocks.emplace_back(at[i], counts[i]);

  const std::size_t send_count = c.units[me] * send_items;
  Buffer from(*c.send, {{0, send_count}}, 0xa5), to(*c.receive, blocks, 0x5a);
  from.write(0, send_count, comm.rank, salt);
  Buffer expected = to;
  if (c.in_place) to.write(at[me], counts[me], comm.rank, salt);
  for (int rank = 0; rank < comm.size; ++rank) {
    const auto block = static_cast<std::size_t>(rank);
    expected.write(at[block], counts[block], rank, salt);
  }
  const Buffer unchanged = from;

  ++tally.calls;
  const int code = gather_check::call(c, comm, from.address(), send_count, to.address(), counts, at);
  const auto text = [&] { return gather_check::describe(c, comm); };
  if (code != MPI_SUCCESS) tally.expect(false, text() + ": returned " + std::to_string(code));
  if (!(to == expected))
    tally.expect(false, text() + ": byte " + std::to_string(to.first_difference(expected)) + " differs");
  if (!(from == unchanged)) tally.expect(false, text() + ": the send buffer was written to");
}

/// The same number of units on every rank.
inline std::vector<std::size_t> equal_units(const Comm& comm, std::size_t units) {
  return std::vector<std::size_t>(static_cast<std::size_t>(comm.size), units);
}
