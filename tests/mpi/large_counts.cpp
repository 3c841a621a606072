// SPDX-License-Identifier: BSD-3-Clause
// Blocks of gigabytes: large_counts KIND MIB. KIND is the description of a block of MIB mebibytes:
// "contiguous" (items of 1 MiB), "vector" (items of 1 MiB with gaps), "bytes" (by the large-count form).
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

constexpr std::size_t mebibyte = 1 << 20;
constexpr std::size_t words = mebibyte / sizeof(std::uint64_t);

std::uint64_t value(int rank, std::size_t word) {
  return (static_cast<std::uint64_t>(rank + 1) << 48) + word * 0x9e3779b97f4aull;
}

/// Layout of a block in memory: items of 1 MiB of data, in two halves.
struct Layout {
  MPI_Datatype item = MPI_DATATYPE_NULL;
  std::size_t extent = mebibyte, half_at = mebibyte / 2;  // bytes

  std::uint64_t* word(std::byte* block, std::size_t index) const {
    const std::size_t item_at = index / words * extent, in_item = index % words * sizeof(std::uint64_t);
    const bool second = in_item >= mebibyte / 2;
    return reinterpret_cast<std::uint64_t*>(block + item_at + (second ? half_at - mebibyte / 2 : 0) +
                                            in_item);
  }
};

Layout layout_of(const std::string& kind) {
  Layout layout;
  if (kind == "vector") {
    layout.half_at = 5 * mebibyte / 8;
    layout.extent = layout.half_at + mebibyte / 2;
    MPI_Type_vector(2, mebibyte / 2, static_cast<int>(layout.half_at), MPI_BYTE, &layout.item);
  } else {
    MPI_Type_contiguous(mebibyte, MPI_BYTE, &layout.item);
  }
  MPI_Type_commit(&layout.item);
  return layout;
}

int gather([[maybe_unused]] const std::string& kind, const Layout& layout, std::byte* all, int mebibytes,
           bool irregular) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int counts[16], places[16];
  for (int i = 0; i < size; ++i) {
    counts[i] = mebibytes;
    places[i] = i * mebibytes;
  }
#if MPI_VERSION >= 4
  if (kind == "bytes") {
    const MPI_Count count = static_cast<MPI_Count>(mebibytes) * static_cast<MPI_Count>(mebibyte);
    MPI_Count wide[16];
    MPI_Aint at[16];
    for (int i = 0; i < size; ++i) {
      wide[i] = count;
      at[i] = i * count;
    }
    if (irregular)
      return MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_BYTE, all, wide, at, MPI_BYTE, MPI_COMM_WORLD);
    return MPI_Allgather_c(MPI_IN_PLACE, 0, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
  }
#endif
  if (irregular)
    return MPI_Allgatherv(MPI_IN_PLACE, 0, layout.item, all, counts, places, layout.item, MPI_COMM_WORLD);
  return MPI_Allgather(MPI_IN_PLACE, 0, layout.item, all, mebibytes, layout.item, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string kind = argc > 1 ? argv[1] : "contiguous";
  const int mebibytes = argc > 2 ? std::atoi(argv[2]) : 1;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Layout layout = layout_of(kind);
  const std::size_t block = layout.extent * static_cast<std::size_t>(mebibytes);
  const std::size_t count = words * static_cast<std::size_t>(mebibytes);
  const std::unique_ptr<std::byte[]> all(new std::byte[block * static_cast<std::size_t>(size)]);
  long wrong = 0, all_wrong = 0;
  for (const bool irregular : {false, true}) {
    for (int i = 0; i < size; ++i) {
      std::byte* of_rank = all.get() + block * static_cast<std::size_t>(i);
      for (std::size_t word = 0; word < count; ++word)
        *layout.word(of_rank, word) = i == rank ? value(rank, word + irregular) : 0;
    }
    wrong += gather(kind, layout, all.get(), mebibytes, irregular) != MPI_SUCCESS;
    for (int i = 0; i < size; ++i) {
      std::byte* of_rank = all.get() + block * static_cast<std::size_t>(i);
      for (std::size_t word = 0; word < count; ++word)
        wrong += *layout.word(of_rank, word) != value(i, word + irregular);
    }
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d blocks of %d MiB, %ld wrong\n", size, mebibytes, all_wrong);
  MPI_Type_free(&layout.item);
  MPI_Finalize();
  return all_wrong != 0;
}
