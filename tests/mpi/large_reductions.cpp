// SPDX-License-Identifier: BSD-3-Clause
// Reductions of gigabytes: large_reductions KIND MIB. KIND describes MIB mebibytes per rank: "words" (of
// eight bytes, added), "bytes" (xor, by the large-count form), "items" (of 1 MiB with a gap, by a
// user-defined operator).
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

using Word = std::uint64_t;

constexpr std::size_t mebibyte = 1 << 20;
constexpr std::size_t words = mebibyte / sizeof(Word), gap = 8;  // of an item, and after it

int rank = 0, size = 1;

Word value(int of_rank, std::size_t word) {
  return (static_cast<Word>(of_rank + 1) << 40) + word * 0x9e3779b97f4aull;
}

struct Kind {
  MPI_Datatype type = MPI_UINT64_T;
  MPI_Op op = MPI_SUM;
  std::size_t in_mebibyte = words;  // items
  std::size_t words_apart = words;  // between two mebibytes in memory
  Word (*combine)(Word, Word) = [](Word a, Word b) { return a + b; };
};

/// Adds, item by item.
void add_items(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Word*>(in);
  auto* to = static_cast<Word*>(inout);
  for (int item = 0; item < *count; ++item, from += words + gap, to += words + gap)
    for (std::size_t word = 0; word < words; ++word) to[word] += from[word];
}

Kind kind_of(const std::string& name) {
  Kind kind;
  if (name == "bytes") {
    kind.type = MPI_UINT8_T;
    kind.op = MPI_BXOR;
    kind.in_mebibyte = mebibyte;
    kind.combine = [](Word a, Word b) { return a ^ b; };
  }
  if (name == "items") {
    MPI_Datatype item;
    MPI_Type_contiguous(static_cast<int>(words), MPI_UINT64_T, &item);
    MPI_Type_create_resized(item, 0, (words + gap) * sizeof(Word), &kind.type);
    MPI_Type_free(&item);
    MPI_Type_commit(&kind.type);
    MPI_Op_create(add_items, 1, &kind.op);
    kind.in_mebibyte = 1;
    kind.words_apart = words + gap;
  }
  return kind;
}

enum What { reduce, allreduce, reduce_scatter_block, scan, whats };

/// In place. A block of reduce_scatter_block is a rank's share.
int call([[maybe_unused]] const std::string& name, const Kind& kind, What what, void* data, MPI_Count count) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const bool root = rank == 0;
  const void* const mine = root ? MPI_IN_PLACE : data;
#if MPI_VERSION >= 4
  if (name == "bytes") {
    const MPI_Count share = count / size;
    if (what == reduce) return MPI_Reduce_c(mine, root ? data : nullptr, count, kind.type, kind.op, 0, world);
    if (what == allreduce) return MPI_Allreduce_c(MPI_IN_PLACE, data, count, kind.type, kind.op, world);
    if (what == scan) return MPI_Scan_c(MPI_IN_PLACE, data, count, kind.type, kind.op, world);
    return MPI_Reduce_scatter_block_c(MPI_IN_PLACE, data, share, kind.type, kind.op, world);
  }
#endif
  const auto all = static_cast<int>(count);
  if (what == reduce) return MPI_Reduce(mine, root ? data : nullptr, all, kind.type, kind.op, 0, world);
  if (what == allreduce) return MPI_Allreduce(MPI_IN_PLACE, data, all, kind.type, kind.op, world);
  if (what == scan) return MPI_Scan(MPI_IN_PLACE, data, all, kind.type, kind.op, world);
  return MPI_Reduce_scatter_block(MPI_IN_PLACE, data, all / size, kind.type, kind.op, world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string name = argc > 1 ? argv[1] : "words";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto share =
      static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : size) / static_cast<std::size_t>(size);
  const std::size_t mebibytes = share * static_cast<std::size_t>(size);  // the ranks' shares are equal
  Kind kind = kind_of(name);
  const std::size_t all = mebibytes * kind.words_apart;
  const std::unique_ptr<Word[]> data(new Word[all]);
  long wrong = 0, all_wrong = 0;
  for (int what = reduce; what < whats; ++what) {
    for (std::size_t word = 0; word < all; ++word) data[word] = value(rank, word);
    wrong += call(name, kind, static_cast<What>(what), data.get(),
                  static_cast<MPI_Count>(mebibytes * kind.in_mebibyte)) != MPI_SUCCESS;
    if (what == reduce && rank != 0) continue;
    const bool scattered = what == reduce_scatter_block;
    const std::size_t first = scattered ? static_cast<std::size_t>(rank) * share * kind.words_apart : 0;
    const std::size_t count = scattered ? share * kind.words_apart : all;
    const int last = what == scan ? rank : size - 1;
    for (std::size_t word = 0; word < count; ++word) {
      const bool in_gap = word % kind.words_apart >= words;
      Word expected = value(in_gap ? rank : 0, in_gap ? word : first + word);
      for (int other = 1; other <= last && !in_gap; ++other)
        expected = kind.combine(expected, value(other, first + word));
      wrong += data[word] != expected;
    }
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, %zu MiB each, %ld wrong\n", size, mebibytes, all_wrong);
  if (name == "items") {
    MPI_Op_free(&kind.op);
    MPI_Type_free(&kind.type);
  }
  MPI_Finalize();
  return all_wrong != 0;
}
