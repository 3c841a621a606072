// SPDX-License-Identifier: BSD-3-Clause
// Memory allocations in an allgather: allocations CALLS. The program's own malloc counts the calls from
// Convene's library (operator new included: the library has its own C++ runtime), first during the first
// calls, then in the steady state.
#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> counting{false};
std::atomic<long> from_convene{0}, from_others{0};

void count(void* caller) {
  if (!counting.load(std::memory_order_relaxed)) return;
  Dl_info info{};
  const bool is_convene =
      dladdr(caller, &info) && info.dli_fname && std::strstr(info.dli_fname, "libconvene");
  ++(is_convene ? from_convene : from_others);
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(std::size_t items, std::size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_calloc(items, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}

namespace {

constexpr int sizes[] = {1, 3, 64, 500, 2000, 20000};
constexpr int largest = 20000;

struct Memory {
  std::vector<int> mine, all, counts, places;
};

void calls(Memory& memory, int size, int rank, int number) {
  for (int i = 0; i < number; ++i)
    for (const int count : sizes) {
      int* mine = memory.mine.data();
      int* all = memory.all.data();
      for (int j = 0; j < size; ++j) {
        memory.counts[static_cast<std::size_t>(j)] = count - j % 2;
        memory.places[static_cast<std::size_t>(j)] = j * count;
      }
      MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
      MPI_Allgatherv(mine, count - rank % 2, MPI_INT, all, memory.counts.data(), memory.places.data(),
                     MPI_INT, MPI_COMM_WORLD);
    }
}

long counted(Memory& memory, int size, int rank, int number) {
  from_convene = from_others = 0;
  counting = true;
  calls(memory, size, rank, number);
  counting = false;
  return from_convene;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int number = argc > 1 ? std::atoi(argv[1]) : 100;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto procs = static_cast<std::size_t>(size);
  Memory memory{std::vector<int>(largest), std::vector<int>(largest * procs), std::vector<int>(procs),
                std::vector<int>(procs)};
  const long first = counted(memory, size, rank, 2);
  const long then = counted(memory, size, rank, number), by_mpi = from_others;
  long mine[3] = {first, then, by_mpi}, all[3] = {0, 0, 0};
  MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("at first %ld, then %ld; others %ld\n", all[0], all[1], all[2]);
  MPI_Finalize();
  return 0;
}
