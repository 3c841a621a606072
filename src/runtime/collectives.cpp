// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/collectives.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
#include "execute/executor.hpp"
#include "runtime/communicator.hpp"
#include "runtime/datatype.hpp"
#include "runtime/settings.hpp"

namespace convene {
namespace {

/// The blocks of an allgather's receive buffer, in items of the receive type: n each, or counts and displacements.
template <class Count>
struct Blocks {
  Count each = 0;
  const Count* counts = nullptr;
  const DisplacementOf<Count>* displacements = nullptr;

  bool is_uniform() const { return counts == nullptr; }
  MPI_Count count(Rank block) const { return is_uniform() ? each : counts[block]; }
  std::ptrdiff_t at(Rank block) const {
    return is_uniform() ? static_cast<std::ptrdiff_t>(block) * static_cast<std::ptrdiff_t>(each)
                        : static_cast<std::ptrdiff_t>(displacements[block]);
  }
  /// All counts together; nothing where one is negative.
  std::optional<std::uint64_t> total(Rank procs) const {
    if (is_uniform())
      return each < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(each) * procs);
    std::uint64_t sum = 0;
    for (Rank block = 0; block < procs; ++block) {
      if (counts[block] < 0) return std::nullopt;
      sum += static_cast<std::uint64_t>(counts[block]);
    }
    return sum;
  }
};

template <class Count>
struct Arguments {
  const void* sendbuf;
  Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  Blocks<Count> blocks;
  MPI_Datatype recvtype;
  MPI_Comm comm;

  bool in_place() const { return sendbuf == MPI_IN_PLACE; }

  /// Whether there is nothing in them that an MPI would refuse: it knows best how to say so.
  bool are_sound(bool has_total) const {
    return has_total && recvtype != MPI_DATATYPE_NULL &&
           (in_place() || (sendcount >= 0 && sendtype != MPI_DATATYPE_NULL));
  }
};

/// The output as bytes: the program's own memory where its type is contiguous, else staging that is unpacked afterwards.
template <class Count>
class Output {
 public:
  Output(const Arguments<Count>& arguments, const TypeFacts& facts, Rank procs, std::uint32_t segments,
         Arena& arena)
      : arguments_(arguments), facts_(facts), procs_(procs) {
    const auto& blocks = arguments.blocks;
    if (facts.is_contiguous && blocks.is_uniform()) {
      memory =
          Memory::uniform(arguments.recvbuf, facts.size * static_cast<std::size_t>(blocks.each), segments);
    } else if (facts.is_contiguous) {
      memory = Memory::irregular(arguments.recvbuf, blocks.counts, blocks.displacements, facts.size,
                                 facts.extent, segments);
    } else {
      stage(segments, arena);
    }
  }

  /// Under MPI_IN_PLACE the own block is in the program's buffer already: the staging needs it too.
  int fetch(Rank rank, MPI_Comm comm) const {
    if (!staging_) return MPI_SUCCESS;
    return pack_items(items(rank), arguments_.blocks.count(rank), arguments_.recvtype, facts_,
                      memory.block(rank).at, comm);
  }

  int deliver(MPI_Comm comm) const {
    if (!staging_) return MPI_SUCCESS;
    for (Rank block = 0; block < procs_; ++block) {
      const int code = unpack_items(memory.block(block).at, items(block), arguments_.blocks.count(block),
                                    arguments_.recvtype, facts_, comm);
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

  Memory memory;

 private:
  void stage(std::uint32_t segments, Arena& arena) {
    const auto& blocks = arguments_.blocks;
    staging_ = arena.take(facts_.size * blocks.total(procs_).value_or(0));
    if (blocks.is_uniform()) {
      memory = Memory::uniform(staging_, facts_.size * static_cast<std::size_t>(blocks.each), segments);
      return;
    }
    auto* counts = arena.take_array<MPI_Count>(procs_);
    auto* at = arena.take_array<MPI_Aint>(procs_);
    std::copy_n(blocks.counts, procs_, counts);
    std::exclusive_scan(counts, counts + procs_, at, MPI_Aint{0});
    memory = Memory::irregular(staging_, counts, at, facts_.size, static_cast<std::ptrdiff_t>(facts_.size),
                               segments);
  }

  void* items(Rank block) const {
    return static_cast<std::byte*>(arguments_.recvbuf) + facts_.extent * arguments_.blocks.at(block);
  }

  const Arguments<Count>& arguments_;
  const TypeFacts& facts_;
  const Rank procs_;
  std::byte* staging_ = nullptr;
};

/// The own block as bytes: where the program has it, or packed.
template <class Count>
int bind_input(const Arguments<Count>& arguments, MPI_Comm comm, std::uint32_t segments, Arena& arena,
               Memory& memory) {
  const TypeFacts facts = facts_of(arguments.sendtype);
  const std::size_t bytes = facts.size * static_cast<std::size_t>(arguments.sendcount);
  if (facts.is_contiguous) {
    memory = Memory::uniform(const_cast<void*>(arguments.sendbuf), bytes, segments);
    return MPI_SUCCESS;
  }
  std::byte* packed = arena.take(bytes);
  memory = Memory::uniform(packed, bytes, segments);
  return pack_items(arguments.sendbuf, arguments.sendcount, arguments.sendtype, facts, packed, comm);
}

int execute(Decision& decision, const Binding& binding, Arena& arena) {
  const Prepared& prepared = *decision.prepared;
  if (!prepared.is_dynamic) {
    if (!decision.program.fits(binding.buffers))
      decision.program.bind(prepared.schedule, prepared.order, binding.buffers, arena);
    return run_program(binding, decision.program, arena);
  }
  const std::uint64_t shuffle = settings().shuffle;
  if (shuffle == 0) return run_dynamic(binding, Limits{}, arena);
  const Limits none{.receives = prepared.schedule.size(), .sends = prepared.schedule.size()};
  return run_dynamic(binding, none, arena, shuffle + binding.collective_number);
}

/// An error of the MPI goes to the program's error handler.
void report_failure(int code, MPI_Comm comm, Communicator& communicator) {
  communicator.note_failure();
  mpi.Comm_call_errhandler(comm, code);
}

/// Whether a call is the last one again, on any buffers.
template <class Count>
bool repeats(const Arguments<Count>& arguments, Collective collective, const Repeat& last) {
  return last.decision && last.decision->collective == collective &&
         last.recvcount == arguments.blocks.each && last.recvtype == arguments.recvtype &&
         last.in_place == arguments.in_place() &&
         (last.in_place || (last.sendcount == arguments.sendcount && last.sendtype == arguments.sendtype));
}

/// The short way through: straight to the program.
template <class Count>
int run_again(const Arguments<Count>& arguments, Communicator& communicator) {
  const std::uint64_t start = ticks();
  Repeat& last = communicator.repeat();
  last.binding.buffers.input.rebase(const_cast<void*>(arguments.sendbuf));
  last.binding.buffers.output.rebase(arguments.recvbuf);
  last.binding.collective_number = communicator.next_collective();
  communicator.arena().reset();
  const int code = run_program(last.binding, last.decision->program, communicator.arena());
  if (code != MPI_SUCCESS) report_failure(code, arguments.comm, communicator);
  last.record->add(ticks() - start, last.block_bytes);
  communicator.note_last(*last.record);
  return code;
}

/// Keeps a call for run_again(), if it is of the kind that may be repeated.
template <class Count>
void keep_for_repeat(const Arguments<Count>& arguments, const TypeFacts& facts, const Binding& binding,
                     Decision& decision, Repeat& repeat) {
  const bool plain = facts.is_named && facts.is_contiguous && arguments.blocks.is_uniform();
  if (!plain || decision.prepared->is_dynamic || settings().check_agreement) return;
  if (!arguments.in_place()) {
    const TypeFacts sent = facts_of(arguments.sendtype);
    if (!sent.is_named || !sent.is_contiguous) return;
    repeat.sendcount = arguments.sendcount;
    repeat.sendtype = arguments.sendtype;
  }
  repeat.in_place = arguments.in_place();
  repeat.recvcount = arguments.blocks.each;
  repeat.recvtype = arguments.recvtype;
  repeat.block_bytes = facts.size * static_cast<std::size_t>(arguments.blocks.each);
  repeat.binding = binding;
  repeat.decision = &decision;
}

template <class Count>
int run_prepared(Decision& decision, const Arguments<Count>& arguments, const TypeFacts& facts,
                 Communicator& communicator) {
  const Prepared& prepared = *decision.prepared;
  Arena& arena = communicator.arena();
  arena.reset();
  communicator.repeat().decision = nullptr;  // its program may be bound anew, and this call may fail
  const MPI_Comm own = communicator.own();
  const Output output(arguments, facts, communicator.procs(), prepared.segments, arena);
  Binding binding{.schedule = &prepared.schedule,
                  .buffers = {},
                  .comm = own,
                  .collective_number = communicator.next_collective()};
  binding.buffers.output = output.memory;
  int code = arguments.in_place()
                 ? output.fetch(communicator.rank(), own)
                 : bind_input(arguments, own, prepared.segments, arena, binding.buffers.input);
  if (code == MPI_SUCCESS) code = execute(decision, binding, arena);
  if (code == MPI_SUCCESS) code = output.deliver(own);
  if (code == MPI_SUCCESS) keep_for_repeat(arguments, facts, binding, decision, communicator.repeat());
  return code;
}

#if MPI_VERSION < 4
// The MPI's own algorithms behind Convene's large-count forms, where the MPI has none: as far as an int reaches.

bool fits_int(MPI_Count value) { return value >= INT_MIN && value <= INT_MAX; }

int report(MPI_Comm comm, int code) {
  mpi.Comm_call_errhandler(comm, code);
  return code;
}

int native_narrow(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (!fits_int(sendcount) || !fits_int(recvcount)) return report(comm, MPI_ERR_COUNT);
  return mpi.Allgather(sendbuf, static_cast<int>(sendcount), sendtype, recvbuf, static_cast<int>(recvcount),
                       recvtype, comm);
}

int native_narrow(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  MPI_Comm comm) {
  int inter = 0, procs = 0;  // an intercommunicator gathers from its other group
  if (const int code = mpi.Comm_test_inter(comm, &inter); code != MPI_SUCCESS) return code;
  (inter ? mpi.Comm_remote_size : mpi.Comm_size)(comm, &procs);
  if (!recvcounts || !displs) return report(comm, MPI_ERR_ARG);
  if (!fits_int(sendcount) || !std::all_of(recvcounts, recvcounts + procs, fits_int) ||
      !std::all_of(displs, displs + procs, fits_int))
    return report(comm, MPI_ERR_COUNT);
  const std::vector<int> counts(recvcounts, recvcounts + procs), displacements(displs, displs + procs);
  return mpi.Allgatherv(sendbuf, static_cast<int>(sendcount), sendtype, recvbuf, counts.data(),
                        displacements.data(), recvtype, comm);
}
#endif

template <class Count, class Native>
int run(Collective collective, const Arguments<Count>& arguments, Native&& native) {
  Communicator* communicator = Communicator::of(arguments.comm);
  if (!communicator) return native();
  if (repeats(arguments, collective, communicator->repeat())) return run_again(arguments, *communicator);
  const std::uint64_t start = ticks();
  const Rank procs = communicator->procs();
  const auto items = communicator->is_inter() ? 0 : arguments.blocks.total(procs);
  if (!arguments.are_sound(items.has_value())) return native();
  const TypeFacts facts = facts_of(arguments.recvtype);
  const std::uint64_t total = *items * facts.size;
  Decision& decision = communicator->decide(collective, total, arguments.in_place());
  int code;
  if (decision.prepared) {
    code = run_prepared(decision, arguments, facts, *communicator);
    if (code != MPI_SUCCESS) report_failure(code, arguments.comm, *communicator);
  } else {
    code = native();
  }
  const std::uint64_t block = total / procs;
  Record& record = communicator->record_of(decision, block);
  record.add(ticks() - start, block);
  if (Repeat& repeat = communicator->repeat(); repeat.decision == &decision) repeat.record = &record;
  return code;
}

}  // namespace

template <class Count>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm) {
  const auto native = [&] {
    if constexpr (std::is_same_v<Count, int>)
      return mpi.Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
#if MPI_VERSION >= 4
    else
      return mpi.Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
#else
    else
      return native_narrow(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
#endif
  };
  const Arguments<Count> arguments{sendbuf,  sendcount, sendtype, recvbuf, {.each = recvcount},
                                   recvtype, comm};
  return run(Collective::allgather, arguments, native);
}

template <class Count>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
               MPI_Comm comm) {
  const auto native = [&] {
    if constexpr (std::is_same_v<Count, int>)
      return mpi.Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
#if MPI_VERSION >= 4
    else
      return mpi.Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
#else
    else
      return native_narrow(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
#endif
  };
  if (!recvcounts || !displs) return native();  // the MPI has its own words for that
  const Arguments<Count> arguments{
      sendbuf, sendcount, sendtype, recvbuf, {.counts = recvcounts, .displacements = displs}, recvtype, comm};
  return run(Collective::allgatherv, arguments, native);
}

template int allgather<int>(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
template int allgather<MPI_Count>(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                                  MPI_Comm);
template int allgatherv<int>(const void*, int, MPI_Datatype, void*, const int[], const int[], MPI_Datatype,
                             MPI_Comm);
template int allgatherv<MPI_Count>(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[],
                                   const MPI_Aint[], MPI_Datatype, MPI_Comm);

}  // namespace convene
