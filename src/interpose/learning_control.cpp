// SPDX-License-Identifier: BSD-3-Clause
// Control of learning by the program: MPI_Pcontrol(0) pauses it in this process, any other level resumes it;
// the info key convene_learn=false excludes a communicator.
#include <cstdarg>
#include <cstring>

#include "interpose/interposition.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/settings/settings.hpp"

using convene::interpose::HandleWord;

namespace {

constinit convene::mpi::NextFunction<int (*)(int, ...)> next_pcontrol("MPI_Pcontrol");
constinit convene::mpi::NextFunction<int (*)(HandleWord, HandleWord)> next_set_info("MPI_Comm_set_info");
constinit convene::mpi::NextFunction<int (*)(MPI_Info, const char*, int, char*, int*)> next_info_get(
    "PMPI_Info_get");

bool says_not_to_learn(MPI_Info info, const void* caller) {
  const auto get = next_info_get.get(caller);
  if (!get || info == MPI_INFO_NULL) return false;
  char value[8] = "";
  int found = 0;
  constexpr int longest = 6;  // characters besides the final zero
  return get(info, "convene_learn", longest, value, &found) == MPI_SUCCESS && found &&
         std::strcmp(value, "false") == 0;
}

void note_info(HandleWord comm, HandleWord info, const void* caller) noexcept try {
  if (!convene::runtime::settings().learns) return;
  if (!says_not_to_learn(convene::interpose::from_word<MPI_Info>(info), caller)) return;
  auto* const communicator =
      convene::runtime::Communicator::of(convene::interpose::from_word<MPI_Comm>(comm));
  if (communicator) communicator->learning().exclude();
} catch (...) {
  convene::runtime::code_of_exception();
}

}  // namespace

extern "C" int convene_entry_Comm_set_info(HandleWord comm, HandleWord info) __asm__("MPI_Comm_set_info")
    __attribute__((visibility("default")));
extern "C" int convene_entry_Comm_set_info(HandleWord comm, HandleWord info) {
  const void* const caller = __builtin_return_address(0);
  const int code = next_set_info.get(caller)(comm, info);
  if (code == MPI_SUCCESS && convene::interpose::is_active()) note_info(comm, info, caller);
  return code;
}

/// Further arguments belong to the tool behind Convene: those that are integers or pointers reach it.
extern "C" int convene_entry_Pcontrol(int level, ...) __asm__("MPI_Pcontrol")
    __attribute__((visibility("default")));
extern "C" int convene_entry_Pcontrol(int level, ...) {
  const void* const caller = __builtin_return_address(0);
  if (convene::interpose::is_active()) convene::runtime::pause_learning(level == 0);
  va_list arguments;
  va_start(arguments, level);
  void* passed[4];
  for (void*& each : passed) each = va_arg(arguments, void*);
  va_end(arguments);
  const auto next = next_pcontrol.get(caller);
  return next ? next(level, passed[0], passed[1], passed[2], passed[3]) : MPI_SUCCESS;
}
