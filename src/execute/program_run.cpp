// SPDX-License-Identifier: BSD-3-Clause
// Programs: one entry after the other.
#include <algorithm>

#include "base/stream_copy.hpp"
#include "execute/program.hpp"
#include "execute/step_run.hpp"

namespace convene::execute {
namespace {

class ProgramRun {
 public:
  ProgramRun(const Binding& binding, const Program& program, Arena& arena)
      : binding_(binding), program_(program), messages_(binding, arena), tags_(binding.tags()) {
    if (program.slots() == 0) return;
    requests_ = arena.take_array<MPI_Request>(program.slots());
    std::fill_n(requests_, program.slots(), program_.no_request());
  }

  int run() {
    int code = MPI_SUCCESS;
    for (const Entry& entry : program_.entries())
      if ((code = act(entry)) != MPI_SUCCESS) break;
    // One by one: what is complete costs next to nothing, and all must come anyway.
    for (std::uint32_t slot = 0; slot < program_.slots() && code == MPI_SUCCESS; ++slot)
      if (requests_[slot] != program_.no_request()) code = wait(&requests_[slot], slot);
    if (code != MPI_SUCCESS) abandon(requests_, program_.slots());
    messages_.finish_all();
    return code;
  }

 private:
  [[gnu::always_inline]] int act(const Entry& entry) {
    switch (entry.act) {
      case Act::send:
        return pmpi.Isend(at(entry.base, entry.offset), static_cast<int>(entry.bytes_or_step), program_.byte(),
                         entry.message.peer, tags_.of(entry.match), binding_.comm, request_of(entry));
      case Act::send_now:
        return send(entry);
      case Act::recv:
        return pmpi.Irecv(at(entry.base, entry.offset), static_cast<int>(entry.bytes_or_step), program_.byte(),
                         entry.message.peer, tags_.of(entry.match), binding_.comm, request_of(entry));
      case Act::recv_now:
        return receive(entry);
      case Act::exchange:
        return exchange(entry, (&entry)[1]);
      case Act::joined:
        return MPI_SUCCESS;
      case Act::wait:
        if (*request_of(entry) != program_.no_request())
          if (const int code = wait(request_of(entry), entry.message.slot); code != MPI_SUCCESS) return code;
        messages_.finish(entry.bytes_or_step);
        return MPI_SUCCESS;
      case Act::copy:
        copy_bytes(at(entry.target_base, entry.target), at(entry.base, entry.offset), entry.bytes_or_step);
        return MPI_SUCCESS;
      case Act::share:
        copy_into_shared(at(entry.target_base, entry.target), at(entry.base, entry.offset),
                         entry.bytes_or_step);
        return MPI_SUCCESS;
      case Act::combine:
        return binding_.op(at(entry.base, entry.offset), at(entry.target_base, entry.target),
                           entry.bytes_or_step);
      case Act::signal:
        binding_.shared_memory->signal(static_cast<Rank>(entry.message.peer), entry.message.slot);
        return MPI_SUCCESS;
      case Act::await:
        return await(entry);
      case Act::scattered:
        return messages_.start(entry.bytes_or_step, request_of(entry));
      case Act::general:
        return messages_.do_local(entry.bytes_or_step);
    }
    return MPI_SUCCESS;
  }

  MPI_Request* request_of(const Entry& entry) const { return requests_ + entry.message.slot; }

  int send(const Entry& to) {
    const auto bytes = static_cast<int>(to.bytes_or_step);
    const std::byte* const sent = at(to.base, to.offset);
    const int tag = tags_.of(to.match);
    if (!tells_) return pmpi.Send(sent, bytes, program_.byte(), to.message.peer, tag, binding_.comm);
    MPI_Request request = program_.no_request();
    const int code = pmpi.Isend(sent, bytes, program_.byte(), to.message.peer, tag, binding_.comm, &request);
    return code == MPI_SUCCESS ? end(&request, to) : code;
  }

  int receive(const Entry& from) {
    const auto bytes = static_cast<int>(from.bytes_or_step);
    std::byte* const to = at(from.base, from.offset);
    const int tag = tags_.of(from.match);
    if (!tells_)
      return pmpi.Recv(to, bytes, program_.byte(), from.message.peer, tag, binding_.comm, MPI_STATUS_IGNORE);
    MPI_Request request = program_.no_request();
    const int code = pmpi.Irecv(to, bytes, program_.byte(), from.message.peer, tag, binding_.comm, &request);
    return code == MPI_SUCCESS ? end(&request, from) : code;
  }

  int exchange(const Entry& from, const Entry& to) {
    if (!tells_)
      return pmpi.Sendrecv(at(to.base, to.offset), static_cast<int>(to.bytes_or_step), program_.byte(),
                          to.message.peer, tags_.of(to.match), at(from.base, from.offset),
                          static_cast<int>(from.bytes_or_step), program_.byte(), from.message.peer,
                          tags_.of(from.match), binding_.comm, MPI_STATUS_IGNORE);
    MPI_Request request = program_.no_request();
    int code = pmpi.Isend(at(to.base, to.offset), static_cast<int>(to.bytes_or_step), program_.byte(),
                         to.message.peer, tags_.of(to.match), binding_.comm, &request);
    if (code != MPI_SUCCESS) return code;
    code = receive(from);
    return code == MPI_SUCCESS ? end(&request, to) : abandoned(&request, code);
  }

  /// Waits for a message that has no slot's request, and tells for whom where that takes long.
  int end(MPI_Request* request, const Entry& entry) {
    const int code = wait_and_tell(request, entry.message.slot);
    return code == MPI_SUCCESS ? code : abandoned(request, code);
  }

  static int abandoned(MPI_Request* request, int code) {
    abandon(request, 1);
    return code;
  }

  int await(const Entry& entry) {
    const auto has_come = [&] {
      return binding_.shared_memory->has_come(static_cast<Rank>(entry.message.peer), entry.message.slot);
    };
    return has_come() ? MPI_SUCCESS : poll(binding_, entry.message.peer, has_come);
  }

  int wait(MPI_Request* request, std::uint32_t slot) {
    return tells_ ? wait_and_tell(request, slot) : pmpi.Wait(request, MPI_STATUS_IGNORE);
  }

  /// Likewise, but says for whom, where that takes long.
  [[gnu::noinline]] int wait_and_tell(MPI_Request* request, std::uint32_t slot) {
    PolledWait wait;
    for (;;) {
      int done = 0;
      if (const int code = pmpi.Test(request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS || done)
        return code;
      if (!wait.has_become_long()) continue;
      const int peer = peer_of(slot);
      long_wait.say(binding_.comm, &peer, peer < 0 ? 0 : 1, false);
    }
  }

  /// Who is at the other end of the message in a slot; -1 where that is not found.
  int peer_of(std::uint32_t slot) const {
    for (const Entry& entry : program_.entries()) {
      if (entry.act == Act::wait && entry.message.slot == slot)
        return static_cast<int>((*binding_.schedule)[entry.bytes_or_step].peer);
      const bool is_message = entry.act == Act::send || entry.act == Act::recv ||
                              entry.act == Act::recv_now || entry.act == Act::send_now ||
                              entry.act == Act::exchange || entry.act == Act::joined;
      if (is_message && entry.message.slot == slot) return entry.message.peer;
    }
    return -1;
  }

  std::byte* at(Buffer buffer, std::ptrdiff_t offset) const { return binding_.at(buffer, offset); }

  const Binding& binding_;
  const Program& program_;
  StepMessages messages_;
  const Tags tags_;
  const bool tells_ = long_wait.is_on();  // for whom it waits
  MPI_Request* requests_ = nullptr;       // by slot
};

}  // namespace

int run_program(const Binding& binding, const Program& program, Arena& arena) {
  if (!binding.shared_memory) return ProgramRun(binding, program, arena).run();
  const SharedRun shared(binding);
  const int code = await_memory(binding);
  return code == MPI_SUCCESS ? ProgramRun(binding, program, arena).run() : code;
}

}  // namespace convene::execute
