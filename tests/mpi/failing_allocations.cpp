// SPDX-License-Identifier: BSD-3-Clause
// Failing allocations in Convene: failing_allocations [OPTIONS] COLLECTIVE... In every form of a collective
// (blocking, non-blocking, persistent and with declared phases; of MPI and of the C API, with large counts,
// by Fortran names) one allocation after the other fails, each on a new communicator. The call must return
// MPI_SUCCESS or MPI_ERR_NO_MEM, and so must a later one there.
//
//   --rank RANK     allocations fail on this rank only
//   --form FORM     only this form, in larger steps
//   --from NUMBER   the first allocation that fails
//
// Ranks may wait for one that has failed: such a run ends after a second with status 77, and prints "waiting:
// COLLECTIVE FORM NUMBER". A call that waits although no rank has failed in it ends the run after half a
// minute, with status 78.
//
// failing_allocations COLLECTIVE first NUMBER: the allocation of that number fails in the first call of the
// process.
//
// The program's own malloc fails for calls from Convene's library (its operator new included: it has its own
// C++ runtime).
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <thread>
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

// Those with large counts, also where the MPI has none.
#define DECLARE_LARGE(Name, name, NAME, PATTERN, ...)                                                     \
  extern "C" int test_##name##_c(CONVENE_ARGUMENTS_##PATTERN(LARGE_PARAMETER)) __asm__("MPI_" #Name "_c") \
      __attribute__((weak));                                                                              \
  extern "C" int test_i##name##_c(CONVENE_ARGUMENTS_##PATTERN(LARGE_PARAMETER),                           \
                                  MPI_Request*) __asm__("MPI_I" #name "_c") __attribute__((weak));
CONVENE_COLLECTIVES(DECLARE_LARGE, DECLARE_LARGE, CONVENE_NO_COLLECTIVE)

// Fortran names, which Convene defines where the MPI's bindings do not call the C names. All arguments are
// addresses.
#define FORTRAN_PARAMETER(KIND, name) const void* name
#define DECLARE_FORTRAN(Name, name, NAME, PATTERN, ...)                                          \
  extern "C" void test_fortran_##name(CONVENE_ARGUMENTS_##PATTERN(FORTRAN_PARAMETER),            \
                                      int*) __asm__("mpi_" #name "_f08_") __attribute__((weak)); \
  extern "C" void test_fortran_i##name(CONVENE_ARGUMENTS_##PATTERN(FORTRAN_PARAMETER), int*,     \
                                       int*) __asm__("mpi_i" #name "_f08_") __attribute__((weak));
CONVENE_COLLECTIVES(DECLARE_FORTRAN, DECLARE_FORTRAN, DECLARE_FORTRAN)

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
  std::vector<MPI_Datatype> types = std::vector<MPI_Datatype>(16, MPI_INT);
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
  [[maybe_unused]] const MPI_Datatype *const sendtypes = (of).types.data(), *const recvtypes = sendtypes; \
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

/// Declares a phase, and runs the operation.
int run_phase_after(int code, convene_operation* operation) {
  if (code != MPI_SUCCESS) return code;
  code = convene_phase_init(*operation, 1e-6);
  if (code == MPI_SUCCESS) code = convene_phase_begin(*operation);
  if (code == MPI_SUCCESS) code = convene_phase_edge(*operation, 0.5);
  if (code == MPI_SUCCESS) code = convene_phase_end(*operation);
  if (code == MPI_SUCCESS) return run_after(code, operation);
  convene_free(operation);
  return code;
}

// Handles as Fortran has them.
#ifdef MPI_ABI_VERSION
int integer_of_comm(MPI_Comm comm) { return MPI_Comm_toint(comm); }
int integer_of_type(MPI_Datatype datatype) { return MPI_Type_toint(datatype); }
int integer_of_op(MPI_Op op) { return MPI_Op_toint(op); }
MPI_Request request_of(int integer) { return MPI_Request_fromint(integer); }
#else
int integer_of_comm(MPI_Comm comm) { return MPI_Comm_c2f(comm); }
int integer_of_type(MPI_Datatype datatype) { return MPI_Type_c2f(datatype); }
int integer_of_op(MPI_Op op) { return MPI_Op_c2f(op); }
MPI_Request request_of(int integer) { return MPI_Request_f2c(integer); }
#endif

#define FORTRAN_INPUT(name) name
#define FORTRAN_OUTPUT(name) name
#define FORTRAN_COUNT(name) &name
#define FORTRAN_COUNTS(name) name
#define FORTRAN_DISPLACEMENTS(name) name
#define FORTRAN_ROOT_COUNT(name) &name
#define FORTRAN_ROOT_COUNTS(name) name
#define FORTRAN_ROOT_DISPLACEMENTS(name) name
#define FORTRAN_TYPE(name) &fortran_type
#define FORTRAN_TYPES(name) fortran_types
#define FORTRAN_SEND_TYPES(name) fortran_types
#define FORTRAN_OP(name) &fortran_op
#define FORTRAN_ROOT(name) &name
#define FORTRAN_COMM(name) &fortran_comm
#define FORTRAN_ARGUMENT(KIND, name) FORTRAN_##KIND(name)

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
#define FORTRAN_HANDLES                                                                            \
  [[maybe_unused]] const int fortran_comm = integer_of_comm(comm), fortran_op = integer_of_op(op), \
                             fortran_type = integer_of_type(type);                                 \
  [[maybe_unused]] int fortran_types[16];                                                          \
  std::fill(std::begin(fortran_types), std::end(fortran_types), fortran_type);                     \
  int error = MPI_SUCCESS;
/// Calls by Fortran names; nothing where Convene defines none.
#define FORTRAN_FORMS(name, PATTERN)                                                                     \
  CALL("Fortran", narrow, [&] {                                                                          \
    FORTRAN_HANDLES                                                                                      \
    if (test_fortran_##name) test_fortran_##name(CONVENE_ARGUMENTS_##PATTERN(FORTRAN_ARGUMENT), &error); \
    return error;                                                                                        \
  }())                                                                                                   \
  CALL("Fortran non-blocking", narrow, [&] {                                                             \
    FORTRAN_HANDLES                                                                                      \
    int integer = 0;                                                                                     \
    if (!test_fortran_i##name) return error;                                                             \
    test_fortran_i##name(CONVENE_ARGUMENTS_##PATTERN(FORTRAN_ARGUMENT), &integer, &error);               \
    if (error != MPI_SUCCESS) return error;                                                              \
    request = request_of(integer);                                                                       \
    return MPI_Wait(&request, MPI_STATUS_IGNORE);                                                        \
  }())
#define FORMS_OF_ALL(Name, name, PATTERN)                                                           \
  CALL("blocking", narrow, MPI_##Name(CONVENE_NAMES(PATTERN)))                                      \
  CALL("non-blocking", narrow, wait_after(MPI_I##name(CONVENE_NAMES(PATTERN), &request), &request)) \
  CALL("persistent", narrow,                                                                        \
       run_after(test_##name##_init(CONVENE_NAMES(PATTERN), MPI_INFO_NULL, &request), &request))    \
  CALL("convene", narrow, convene_##name(CONVENE_NAMES(PATTERN)))                                   \
  CALL("convene non-blocking", narrow,                                                              \
       wait_after(convene_i##name(CONVENE_NAMES(PATTERN), &request), &request))                     \
  CALL("convene persistent", narrow,                                                                \
       run_after(convene_##name##_init(CONVENE_NAMES(PATTERN), &operation), &operation))            \
  CALL("declared phase", narrow,                                                                    \
       run_phase_after(convene_##name##_init(CONVENE_NAMES(PATTERN), &operation), &operation))      \
  FORTRAN_FORMS(name, PATTERN)
#define FORMS(Name, name, NAME, PATTERN, ...)                                                                \
  Forms{                                                                                                     \
      #name,                                                                                                 \
      {FORMS_OF_ALL(Name, name, PATTERN)                                                                     \
           CALL("convene large", large, convene_##name##_c(CONVENE_NAMES(PATTERN))) CALL(                    \
               "convene large non-blocking", large,                                                          \
               wait_after(convene_i##name##_c(CONVENE_NAMES(PATTERN), &request), &request))                  \
               CALL("large", large, test_##name##_c ? test_##name##_c(CONVENE_NAMES(PATTERN)) : MPI_SUCCESS) \
                   CALL("large non-blocking", large,                                                         \
                        test_i##name##_c                                                                     \
                            ? wait_after(test_i##name##_c(CONVENE_NAMES(PATTERN), &request), &request)       \
                            : MPI_SUCCESS)}},
#define PLAIN_FORMS(Name, name, NAME, PATTERN, ...) Forms{#name, {FORMS_OF_ALL(Name, name, PATTERN)}},

const std::vector<Forms> collectives = {CONVENE_COLLECTIVES(FORMS, FORMS, PLAIN_FORMS)};

int wrong = 0;

/// How far a rank is, in memory that all ranks share.
struct State {
  std::atomic<long> begun, ended;  ///< calls
  std::atomic<long> failed;        ///< number of the last call that returned an error
  std::atomic<bool> is_over;
};
State* states = nullptr;
char current[128];  // what is being called
std::atomic<bool> is_watching{true};
std::thread watcher;

/// Ends the process where a call waits for too long.
void watch() {
  State& own = states[rank];
  long call = 0;
  for (int ticks = 0;;) {
    usleep(50000);
    if (!is_watching) return;
    for (int i = 0; i < procs; ++i)
      if (states[i].is_over) {
        usleep(1000000);  // the launcher ends it before
        _exit(77);
      }
    const long now = own.begun;
    ticks = now == call && own.ended != now ? ticks + 1 : 0;
    call = now;
    bool is_excused = false;
    for (int i = 0; i < procs; ++i) is_excused = is_excused || (i != rank && states[i].failed == call);
    if (ticks < (is_excused ? 20 : 600)) continue;
    std::printf("%s: %s\n", is_excused ? "waiting" : "stuck", current);
    std::fflush(stdout);
    own.is_over = true;
    usleep(300000);  // for the launcher to read that
    _exit(is_excused ? 77 : 78);
  }
}

void start_watch() {
  MPI_Comm node;
  MPI_Win window;
  void* base = nullptr;
  MPI_Aint bytes = 0;
  int unit = 0;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  PMPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(sizeof(State)) * procs : 0, 1, MPI_INFO_NULL,
                           node, static_cast<void*>(&base), &window);
  PMPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&base));
  states = static_cast<State*>(base);
  new (&states[rank]) State{};
  PMPI_Barrier(node);
  watcher = std::thread(watch);
}

/// Runs a form while the watch looks on.
int run(const Form& form, MPI_Comm comm) {
  State& own = states[rank];
  const long call = ++own.begun;
  const int code = form.run(comm);
  if (code != MPI_SUCCESS) own.failed = call;
  own.ended = call;
  return code;
}

int failing_rank = -1;  // -1: all

/// True if the MPI lacks a form: where a rank has no memory for the internal communicator, all ranks agree on
/// native, which then is not to be had.
bool is_missing(const Form& form) {
  static const bool has_persistent = dlsym(RTLD_DEFAULT, "PMPI_Allgather_init") != nullptr;
  return std::strcmp(form.name, "persistent") == 0 && !has_persistent;
}

/// True if a call may return this code.
bool is_allowed(const Form& form, int code) {
  if (code == MPI_SUCCESS) return true;
  int error_class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  if (error_class == MPI_ERR_UNSUPPORTED_OPERATION && is_missing(form)) return true;
  return error_class == MPI_ERR_NO_MEM && length > 0;
}

void check(const char* collective, const Form& form, long number, const char* what, int code) {
  if (is_allowed(form, code)) return;
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
  std::snprintf(current, sizeof current, "%s %s %ld", collective, form.name, number);
  left = failing_rank < 0 || failing_rank == rank ? number : 0;
  const int code = run(form, comm);
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
  if (procs == 1) return has_failed;
  int any = has_failed;  // ranks allocate differently
  PMPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

void fail_one_after_the_other(const Forms& collective, const char* only, long from) {
  for (const Form& form : collective.forms) {
    if (only && std::strcmp(only, form.name) != 0) continue;
    constexpr long most = 5000;
    const long slowness = only ? 2 : 16;
    fail(collective.name, form, 0);  // what is made once in a process is made then
    long number = from;
    while (number < most && fail(collective.name, form, number)) number += 1 + number / slowness;
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
  start_watch();
  const char* form = nullptr;
  long from = 1;
  int at = 1;
  for (; at + 1 < argc && std::strncmp(argv[at], "--", 2) == 0; at += 2) {
    const std::string option = argv[at];
    if (option == "--rank") failing_rank = std::atoi(argv[at + 1]);
    if (option == "--form") form = argv[at + 1];
    if (option == "--from") from = std::atol(argv[at + 1]);
  }
  const bool is_first = argc == 4 && std::strcmp(argv[2], "first") == 0;
  for (const Forms& each : collectives) {
    if (is_first && std::strcmp(argv[1], each.name) == 0)
      fail(each.name, each.forms.front(), std::atol(argv[3]));
    for (int i = at; i < argc && !is_first; ++i)
      if (std::strcmp(argv[i], each.name) == 0) fail_one_after_the_other(each, form, from);
  }
  is_watching = false;  // MPI_Finalize may free the memory that it reads
  watcher.join();
  MPI_Finalize();
  if (rank == 0) std::printf("%ld failed, %d wrong\n", failed.load(), wrong);
  return wrong != 0;
}
