// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatype.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <mutex>

namespace convene::mpi {
namespace {

// Facts of named types, in a small hash table by handle. Entries are written once, under the lock, and
// published by their key.
struct Entry {
  std::atomic<std::uintptr_t> key{0};  // the handle + 1, so that no handle is 0
  TypeFacts facts;
};
constexpr std::size_t table_size = 256;  // a power of two, a few times the number of predefined types
Entry table[table_size];
std::mutex table_writers;

std::uintptr_t key_of(MPI_Datatype type) {
  return (std::uintptr_t)(type) + 1;
}  // a pointer or an int, by stack

std::size_t slot_of(std::uintptr_t key) {
  return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> 56);
}
static_assert(table_size == 256, "slot_of takes 8 bits");

const TypeFacts* find_named(std::uintptr_t key) {
  for (std::size_t i = slot_of(key), tries = 0; tries < table_size; ++tries, i = (i + 1) % table_size) {
    const std::uintptr_t there = table[i].key.load(std::memory_order_acquire);
    if (there == key) return &table[i].facts;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

void remember_named(std::uintptr_t key, const TypeFacts& facts) {
  const std::lock_guard lock(table_writers);
  if (find_named(key)) return;
  for (std::size_t i = slot_of(key), tries = 0; tries < table_size / 2; ++tries, i = (i + 1) % table_size) {
    if (table[i].key.load(std::memory_order_relaxed) != 0) continue;
    table[i].facts = facts;
    table[i].key.store(key, std::memory_order_release);
    return;
  }
}

TypeFacts size_and_extent(MPI_Datatype type) {
  TypeFacts facts;
  MPI_Count size = 0;
  pmpi.Type_size_x(type, &size);
  MPI_Aint lower = 0, extent = 0;
  pmpi.Type_get_extent(type, &lower, &extent);
  facts.size = static_cast<std::size_t>(size);
  facts.extent = extent;
  facts.is_contiguous = lower == 0 && extent == static_cast<MPI_Aint>(size);
  return facts;
}

struct Envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  /// Some predefined types have no name: they have no contents either and cannot be freed.
  bool is_predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == stack::combiner_value_index ||
           combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX;
  }

  /// One type, repeated.
  bool is_run() const {
    return (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP) && integers + counts <= 1 &&
           addresses == 0 && types == 1;
  }
};

// In an MPI with large counts, the int forms fail for types created with large counts.

Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
#if CONVENE_LARGE_COUNTS
  if (pmpi.Type_get_envelope_c) {
    pmpi.Type_get_envelope_c(type, &e.integers, &e.addresses, &e.counts, &e.types, &e.combiner);
    return e;
  }
#endif
  int integers = 0, addresses = 0, types = 0;
  pmpi.Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
  e.integers = integers, e.addresses = addresses, e.types = types;
  return e;
}

/// The type that another one repeats.
int contents_of_run(MPI_Datatype type, const Envelope& e, MPI_Datatype* inner) {
  int integers[1];
  MPI_Aint addresses[1];
#if CONVENE_LARGE_COUNTS
  MPI_Count counts[1];
  if (pmpi.Type_get_contents_c)
    return pmpi.Type_get_contents_c(type, e.integers, 0, e.counts, 1, integers, addresses, counts, inner);
#endif
  return pmpi.Type_get_contents(type, static_cast<int>(e.integers), 0, 1, integers, addresses, inner);
}

/// True if a derived type consists of consecutive items of a type that is contiguous itself.
bool is_run_of_contiguous(MPI_Datatype type, const Envelope& envelope) {
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  if (!envelope.is_run() || contents_of_run(type, envelope, &inner) != MPI_SUCCESS) return false;
  const Envelope of_inner = envelope_of(inner);
  if (of_inner.is_predefined()) return size_and_extent(inner).is_contiguous;
  const bool result = is_run_of_contiguous(inner, of_inner);
  pmpi.Type_free(&inner);  // what Type_get_contents returns of derived types is a new handle
  return result;
}

/// True if a type whose extent equals its size also has lower bound 0: then it has no gaps.
bool fills_its_extent(MPI_Datatype type, const TypeFacts& facts) {
  MPI_Aint lower = 0, extent = 0;
  pmpi.Type_get_true_extent(type, &lower, &extent);
  return lower == 0 && extent == facts.extent;
}

/// Number of items per call of MPI_Pack: their bytes must fit an int.
int items_at_once(const TypeFacts& facts, MPI_Count left) {
  constexpr MPI_Count most_bytes = MPI_Count{1} << 30;
  const auto size = static_cast<MPI_Count>(std::max<std::size_t>(facts.size, 1));
  return static_cast<int>(std::min(left, std::max<MPI_Count>(1, most_bytes / size)));
}

/// A type with its displacements relative to `base` instead of address 0. Some MPIs reject a null pointer in
/// MPI_Pack, although MPI_BOTTOM is one and the type's displacements are addresses.
class Rebased {
 public:
  Rebased(MPI_Datatype type, const void* base) {
    const int one = 1;
    const MPI_Aint back = -reinterpret_cast<MPI_Aint>(base);
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    pmpi.Type_create_struct(1, &one, &back, &type, &moved);
    pmpi.Type_commit(&moved);
    type_ = moved;
  }
  ~Rebased() { pmpi.Type_free(&type_); }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Calls act(address, number of items, type) for `count` items from `at` on, in portions whose bytes fit an
/// int, until one fails.
template <class Function>
int for_each_run(const void* at, MPI_Count count, MPI_Datatype type, const TypeFacts& facts,
                 Function&& function) {
  static const std::byte anywhere{};
  MPI_Count done = 0;
  if (!at && count > 0) {
    const Rebased rebased(type, &anywhere);
    const int code = function(&anywhere, 1, rebased.type());
    if (code != MPI_SUCCESS) return code;
    done = 1;
  }
  while (done < count) {
    const int now = items_at_once(facts, count - done);
    const std::uintptr_t items =
        reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(facts.extent * done);
    const int code = function(reinterpret_cast<const void*>(items), now, type);
    if (code != MPI_SUCCESS) return code;
    done += now;
  }
  return MPI_SUCCESS;
}

constexpr std::size_t most_at_once = INT_MAX;

// A single item of more bytes than an int counts needs MPI 4.

int pack_run(const void* items, int count, MPI_Datatype type, std::byte* to, std::size_t bytes,
             MPI_Comm comm) {
  if (bytes <= most_at_once) {
    int position = 0;
    return pmpi.Pack(items, count, type, to, static_cast<int>(bytes), &position, comm);
  }
#if CONVENE_LARGE_COUNTS
  MPI_Count position = 0;
  if (pmpi.Pack_c) return pmpi.Pack_c(items, count, type, to, static_cast<MPI_Count>(bytes), &position, comm);
#endif
  return MPI_ERR_COUNT;
}

int unpack_run(const std::byte* from, std::size_t bytes, void* items, int count, MPI_Datatype type,
               MPI_Comm comm) {
  if (bytes <= most_at_once) {
    int position = 0;
    return pmpi.Unpack(from, static_cast<int>(bytes), &position, items, count, type, comm);
  }
#if CONVENE_LARGE_COUNTS
  MPI_Count position = 0;
  if (pmpi.Unpack_c)
    return pmpi.Unpack_c(from, static_cast<MPI_Count>(bytes), &position, items, count, type, comm);
#endif
  return MPI_ERR_COUNT;
}

}  // namespace

TypeFacts facts_of(MPI_Datatype type) {
  const std::uintptr_t key = key_of(type);
  if (const TypeFacts* known = find_named(key)) return *known;
  TypeFacts facts = size_and_extent(type);
  const Envelope envelope = envelope_of(type);
  facts.is_named = envelope.is_predefined();
  facts.is_dense = facts.is_contiguous && (facts.is_named || fills_its_extent(type, facts));
  if (facts.is_named)
    remember_named(key, facts);
  else
    facts.is_contiguous = facts.is_contiguous && is_run_of_contiguous(type, envelope);
  return facts;
}

int pack_items(const void* from, MPI_Count count, MPI_Datatype type, const TypeFacts& facts, std::byte* to,
               MPI_Comm comm) {
  if (facts.size == 0) return MPI_SUCCESS;
  const auto pack = [&](const void* items, int now, MPI_Datatype of_type) {
    const std::size_t bytes = facts.size * static_cast<std::size_t>(now);
    const int code = pack_run(items, now, of_type, to, bytes, comm);
    to += bytes;
    return code;
  };
  return for_each_run(from, count, type, facts, pack);
}

int unpack_items(const std::byte* from, void* to, MPI_Count count, MPI_Datatype type, const TypeFacts& facts,
                 MPI_Comm comm) {
  if (facts.size == 0) return MPI_SUCCESS;
  const auto unpack = [&](const void* items, int now, MPI_Datatype of_type) {
    const std::size_t bytes = facts.size * static_cast<std::size_t>(now);
    const int code = unpack_run(from, bytes, const_cast<void*>(items), now, of_type, comm);
    from += bytes;
    return code;
  };
  return for_each_run(to, count, type, facts, unpack);
}

// Not by MPI_Type_dup: that would call the copy callbacks of the program's attributes.
KeptType::KeptType(MPI_Datatype& type) {
  if (type == MPI_DATATYPE_NULL || facts_of(type).is_named) return;
  pmpi.Type_contiguous(1, type, &kept_);
  pmpi.Type_commit(&kept_);
  type = kept_;
}

KeptType::~KeptType() {
  if (kept_ != MPI_DATATYPE_NULL) pmpi.Type_free(&kept_);
}

}  // namespace convene::mpi
