// SPDX-License-Identifier: BSD-3-Clause
// Failing allocations in Convene: failing_allocations COLLECTIVE... In every form of a collective (blocking,
// non-blocking and persistent, of MPI and of the C API, with large counts) one allocation after the other
// fails, each on a new communicator. The call must return MPI_SUCCESS or MPI_ERR_NO_MEM, and so must a later
// one there.
//
// failing_allocations COLLECTIVE first NUMBER: the allocation of that number fails in the first call of the
// process.
//
// The program's own malloc fails for calls from Convene's library (its operator new included: it has its own
// C++ runtime).
#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "convene/convene.h"
#include "mpi/collective_table.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<long> left{0};  // allocations until one fails; 0: none does
std::atomic<long> failed{0};

bool fails(void* caller) {
  if (left.load(std::memory_order_relaxed) <= 0) return false;
  Dl_info info{};
  if (!dladdr(caller, &info) || !info.dli_fname || !std::strstr(info.dli_fname, "libconvene")) return false;
  if (left.fetch_sub(1) != 1) return false;
  ++failed;
  return true;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t items, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(items, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (fails(__builtin_return_address(0))) return 12;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}

// The persistent forms, also in an MPI without them.
struct MpiHandles {
  using Type = MPI_Datatype;
  using Op = MPI_Op;
  using Comm = MPI_Comm;
};
#define PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(int, int, MpiHandles, name)
#define LARGE_PARAMETER(KIND, name) CONVENE_DECLARE_##KIND(MPI_Count, MPI_Aint, MpiHandles, name)
#define DECLARE(Name, name, NAME, PATTERN, ...)                                       \
  extern "C" int test_##name##_init(CONVENE_ARGUMENTS_##PATTERN(PARAMETER), MPI_Info, \
                                    MPI_Request*) __asm__("MPI_" #Name "_init") __attribute__((weak));
CONVENE_COLLECTIVES(DECLARE, DECLARE, DECLARE)

namespace {

int procs = 1, rank = 0;
const MPI_Datatype type = MPI_INT, sendtype = MPI_INT, recvtype = MPI_INT;
const int root = 0;
std::vector<int> input(64, 1), output(64);
const void* const sendbuf = input.data();
void *const recvbuf = output.data(), *const buffer = output.data();

/// The arguments by their names in mpi/collective_table.hpp.
template <class Count, class Displacement>
struct Arguments {
  Count count = 2, sendcount = 2, recvcount = 2;
  std::vector<Count> counts = std::vector<Count>(16, Count(2));
  std::vector<Displacement> places;
  Arguments() {
    for (int i = 0; i < 16; ++i) places.push_back(Displacement(2 * i));
  }
};
Arguments<int, int> narrow;
Arguments<MPI_Count, MPI_Aint> large;

#define USE_ARGUMENTS(of)                                                                                 \
  [[maybe_unused]] const auto count = (of).count, sendcount = (of).sendcount, recvcount = (of).recvcount; \
  [[maybe_unused]] const auto *const sendcounts = (of).counts.data(), *const recvcounts =                 \
                                                                          (of).counts.data();             \
  [[maybe_unused]] const auto *const displs = (of).places.data(), *const sdispls = displs,                \
                                     *const rdispls = displs;                                             \
  [[maybe_unused]] const MPI_Op op = MPI_SUM;

int wait_after(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/// Starts a persistent request of MPI's kind, and frees it.
int run_after(int code, MPI_Request* request) {
  if (code != MPI_SUCCESS) return code;
  code = wait_after(MPI_Start(request), request);
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
  return code;
}

int run_after(int code, convene_operation* operation) {
  if (code != MPI_SUCCESS) return code;
  MPI_Request request = MPI_REQUEST_NULL;
  code = wait_after(convene_start(*operation, &request), &request);
  convene_free(operation);
  return code;
}

struct Form {
  const char* name;
  int (*run)(MPI_Comm comm);
};

/// All forms of one collective.
struct Forms {
  const char* name;
  std::vector<Form> forms;
};

#define CALL(label, arguments, ...)                               \
  Form{label, [](MPI_Comm comm) -> int {                          \
         USE_ARGUMENTS(arguments)                                 \
         [[maybe_unused]] MPI_Request request = MPI_REQUEST_NULL; \
         [[maybe_unused]] convene_operation operation = nullptr;  \
         return __VA_ARGS__;                                      \
       }},
#define FORMS_OF_ALL(Name, name, PATTERN)                                                           \
  CALL("blocking", narrow, MPI_##Name(CONVENE_NAMES(PATTERN)))                                      \
  CALL("non-blocking", narrow, wait_after(MPI_I##name(CONVENE_NAMES(PATTERN), &request), &request)) \
  CALL("persistent", narrow,                                                                        \
       run_after(test_##name##_init(CONVENE_NAMES(PATTERN), MPI_INFO_NULL, &request), &request))    \
  CALL("convene", narrow, convene_##name(CONVENE_NAMES(PATTERN)))                                   \
  CALL("convene non-blocking", narrow,                                                              \
       wait_after(convene_i##name(CONVENE_NAMES(PATTERN), &request), &request))                     \
  CALL("convene persistent", narrow,                                                                \
       run_after(convene_##name##_init(CONVENE_NAMES(PATTERN), &operation), &operation))
#define FORMS(Name, name, NAME, PATTERN, ...)                                         \
  Forms{#name,                                                                        \
        {FORMS_OF_ALL(Name, name, PATTERN)                                            \
             CALL("convene large", large, convene_##name##_c(CONVENE_NAMES(PATTERN))) \
                 CALL("convene large non-blocking", large,                            \
                      wait_after(convene_i##name##_c(CONVENE_NAMES(PATTERN), &request), &request))}},
#define PLAIN_FORMS(Name, name, NAME, PATTERN, ...) Forms{#name, {FORMS_OF_ALL(Name, name, PATTERN)}},

const std::vector<Forms> collectives = {CONVENE_COLLECTIVES(FORMS, FORMS, PLAIN_FORMS)};

int wrong = 0;

/// True if a call may return this code.
bool is_allowed(int code) {
  if (code == MPI_SUCCESS) return true;
  int error_class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  return error_class == MPI_ERR_NO_MEM && length > 0;
}

void check(const char* collective, const Form& form, long number, const char* what, int code) {
  if (is_allowed(code)) return;
  ++wrong;
  std::printf("%s %s: allocation %ld: %s returned %d\n", collective, form.name, number, what, code);
}

/// True if there was such an allocation.
bool fail(const char* collective, const Form& form, long number) {
  MPI_Comm comm;
  const int every_rank = procs, periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &every_rank, &periodic, 0, &comm);  // has neighbours
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const long before = failed;
  left = number;
  const int code = form.run(comm);
  left = 0;
  check(collective, form, number, "the call", code);
  const bool has_failed = failed != before;
  if (has_failed && code != MPI_SUCCESS) {
    const int again = form.run(comm);
    check(collective, form, number, "the next call", again);
    if (form.run(comm) != again) {
      ++wrong;
      std::printf("%s %s: allocation %ld: later calls differ\n", collective, form.name, number);
    }
  }
  left = 1;  // while the handle is freed
  MPI_Comm_free(&comm);
  left = 0;
  return has_failed;
}

void fail_one_after_the_other(const Forms& collective) {
  for (const Form& form : collective.forms) {
    long number = 0;  // first without a failure: one-time allocations of the process happen then
    constexpr long most = 5000;
    fail(collective.name, form, number);
    do {
      number += 1 + number / 16;
    } while (number < most && fail(collective.name, form, number));
    if (rank == 0) std::printf("%s %s: %ld allocations\n", collective.name, form.name, number - 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const bool is_first = argc == 4 && std::strcmp(argv[2], "first") == 0;
  for (const Forms& each : collectives) {
    if (is_first && std::strcmp(argv[1], each.name) == 0)
      fail(each.name, each.forms.front(), std::atol(argv[3]));
    for (int i = 1; i < argc && !is_first; ++i)
      if (std::strcmp(argv[i], each.name) == 0) fail_one_after_the_other(each);
  }
  MPI_Finalize();
  if (rank == 0) std::printf("%ld failed, %d wrong\n", failed.load(), wrong);
  return wrong != 0;
}
