// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/run/run.hpp"

#include <optional>
#include <utility>

#include "execute/zero_byte_messages.hpp"
#include "runtime/arrivals/arrival_autotuner.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/comm/choice_log.hpp"
#include "runtime/run/operation.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"

namespace convene::runtime {
namespace {

/// True if native blocking calls stay blocking ones here.
bool is_left_as_it_is(const Communicator& communicator) {
  return !communicator.has_seen_operations() || progress::has_hook();
}

/// The native call, while all pending operations progress.
int run_native(NativeCall native, const Communicator& communicator) {
  const NativeCallWatch inside(communicator.is_inter() ? 0 : static_cast<int>(communicator.procs()));
  if (is_left_as_it_is(communicator)) return native();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = native({.request = &request, .is_internal = true});
  return code == MPI_SUCCESS ? progress::await(&request) : code;
}

int execute(Decision& decision, const BoundCall& call, Communicator& communicator) {
  Arena& arena = communicator.arena();
  const Prepared& prepared = *decision.prepared;
  const Binding& binding = call.binding();
  if (!progress::may_block()) return run_beside_others(binding, arena);
  if (!prepared.is_dynamic) {
    if (!decision.program) decision.program = std::make_unique<Program>();
    Program& program = *decision.program;
    if (!program.fits(binding.buffers, binding.signals_carry)) {
      communicator.fast_path().forget_program_of(decision);
      program.bind(prepared.schedule, prepared.order, binding.buffers, call.block_places(), arena,
                   binding.signals_carry);
    }
    return run_program(binding, program, arena);
  }
  const std::uint64_t shuffle = settings().shuffle;
  if (shuffle == 0) return run_dynamic(binding, Limits{}, arena);
  const Limits none{.receives = prepared.schedule.size(), .sends = prepared.schedule.size()};
  return run_dynamic(binding, none, arena, shuffle + binding.collective_number);
}

/// Passes an error of the MPI to the program's error handler.
void report_failure(int code, Communicator& communicator) {
  communicator.tags().note_error();
  communicator.fast_path().forget();  // later calls may be refused
  pmpi.Comm_call_errhandler(communicator.comm(), code);
}

bool is_plain(const BufferArgument& side) {
  if (!side.is_used()) return true;
  const TypeFacts facts = facts_of(side.type);
  return facts.is_named && facts.is_contiguous && side.blocks.is_uniform();
}

/// True if rerun() may repeat calls with these arguments.
bool may_repeat(const Arguments& arguments) {
  return may_have_equal_blocks(arguments.collective) && !settings().check_agreement &&
         is_plain(arguments.send) && is_plain(arguments.recv) &&
         (!is_reduction(arguments.collective) || is_predefined(arguments.op));
}

/// Waits until the operations with the same tags as this collective are over.
inline void await_turn(const Communicator& communicator, std::uint32_t number) {
  if (progress::outstanding.load(std::memory_order_relaxed) > 0)
    progress::wait_until([&] { return communicator.tags().shared()->tag_window.tag_is_free(number); });
}

/// True if the ranks of a node have the shared memory that a decision needs: the same on all ranks. (The
/// decision stays: another call of that signature may have smaller items.)
bool has_shared_memory(const Decision& decision, const Arguments& arguments, Communicator& communicator) {
  if (decision.shared_places == 0) return true;
  const std::uint64_t bytes = shared_bytes(arguments, *decision.prepared, decision.shared_places);
  return bytes <= settings().shared_bytes && communicator.share(bytes);
}

/// Runs an algorithm of Convene's. Adds its program to `kept`, if any, when it may be repeated.
int run_prepared(const std::shared_ptr<Decision>& shared_decision, const Arguments& arguments,
                 Communicator& communicator, RepeatedCall* kept) {
  Decision& decision = *shared_decision;
  Arena& arena = communicator.arena();
  arena.reset();
  const std::uint32_t number = communicator.tags().next_collective();
  const Channel internal = communicator.tags().shared()->channel();
  int code = communicator.failure();
  if (code != MPI_SUCCESS) return code;
  BoundCall call(arguments, *decision.prepared, internal, number, arena);
  await_turn(communicator, number);
  if (call.must_agree()) code = agree(call, communicator.tags().shared()->tag_window);
  if (decision.shared_places > 0) call.share(*communicator.shared(), decision.shared_places, arena);
  if (code == MPI_SUCCESS) code = call.prepare(arena);
  if (code == MPI_SUCCESS)
    code = execute(decision, call, communicator);
  else if (SharedMemory* const shared = call.binding().shared_memory)
    shared->end();  // runs are counted equally on all ranks
  if (code == MPI_SUCCESS) code = call.finish();
  // During other operations a call runs without its program, which then may have other sizes, or none.
  const bool has_program = !decision.prepared->is_dynamic && decision.program &&
                           decision.program->fits(call.binding().buffers, call.binding().signals_carry);
  if (!kept || code != MPI_SUCCESS || !call.is_direct() || !has_program || !may_repeat(arguments))
    return code;
  kept->program = communicator.fast_path().memory_for_program();
  if (kept->program) kept->program->refer_to(shared_decision, call.binding(), call.item_operator());
  kept->has_only_empty_messages =
      decision.program->has_only_empty_messages() && !call.binding().shared_memory && !wait_warning.is_on();
  return code;
}

/// The native non-blocking call, of which some are timed.
int start_native(const Arguments& arguments, std::uint64_t total_bytes, Decision& decision,
                 Communicator& communicator, NativeCall native, MPI_Request* request) {
  const std::uint64_t block = arguments.block_bytes(total_bytes);
  CallStats& record = communicator.stats().of(decision, block);
  if (!record.is_due()) {
    record.count(block);
    return native({.request = request});
  }
  const std::uint64_t start = ticks();
  const int code = native({.request = request});
  record.add(start, ticks(), block);
  return code;
}

}  // namespace

int run_beside_others(const Binding& binding, Arena& arena) {
  StepwiseRun run(binding, Limits{}, arena);
  bool done = false;
  int code = MPI_SUCCESS;
  progress::wait_until([&] {
    code = run.advance(done);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

CallSignature signature_of(const Arguments& arguments, std::uint64_t total_bytes) {
  return {.collective = arguments.collective,
          .root = static_cast<Rank>(arguments.root),
          .in_place = arguments.in_place,
          .commutative = !is_reduction(arguments.collective) || is_commutative(arguments.op),
          .order_matters =
              is_reduction(arguments.collective) && is_order_dependent(arguments.op, arguments.item_type()),
          .total_bytes = total_bytes};
}

// Non-blocking, as in an operation.
int agree(BoundCall& call, TagWindow& tag_window) {
  const NativeCallWatch inside(static_cast<int>(call.binding().schedule->procs()));
  progress::wait_until([&] { return tag_window.may_agree(); });
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = call.begin_agreement(&request);
  return code == MPI_SUCCESS ? progress::await(&request) : code;
}

int report_exception_in_call(MPI_Comm comm) {
  const int code = code_of_exception();
  Communicator::note_failure(comm, code);
  pmpi.Comm_call_errhandler(comm, code);
  return code;
}

int refuse_call(const Communicator& communicator) {
  pmpi.Comm_call_errhandler(communicator.comm(), communicator.failure());
  return communicator.failure();
}

int note_call(Lesson& lesson, std::uint64_t start, int code, const Communicator& communicator) try {
  lesson.note(start, ticks());
  return code;
} catch (...) {
  return report_exception_in_call(communicator.comm());
}

int rerun_barrier(Communicator& communicator) try {
  CallStats& record = *communicator.fast_path().last().record;
  const RepeatedProgram& last = *communicator.fast_path().last().program;
  communicator.stats().note_last(record, 0);
  const bool is_timed = record.is_due();
  if (!is_timed) record.count(0);
  const std::uint64_t start = is_timed ? ticks() : 0;
  const std::uint32_t number = communicator.tags().next_collective();
  await_turn(communicator, number);
  const int code = with_transport(last.binding, [&]<class T>() {
    return run_zero_byte_messages(*last.decision->program, transport_of<T>(last.binding), Tags(number));
  });
  if (code != MPI_SUCCESS) report_failure(code, communicator);
  if (is_timed) record.add(start, ticks(), 0);
  return code;
} catch (...) {
  return report_exception_in_call(communicator.comm());
}

int rerun_program(RepeatedProgram& repeated, const void* input, void* output,
                  Communicator& communicator) try {
  Arena& arena = communicator.arena();
  repeated.binding.buffers.input.rebase(const_cast<void*>(input));
  repeated.binding.buffers.output.rebase(output);
  repeated.binding.collective_number = communicator.tags().next_collective();
  await_turn(communicator, repeated.binding.collective_number);
  if (repeated.binding.shared_memory) repeated.binding.begin_shared();
  arena.reset();
  if (repeated.decision->prepared->has_scratch())
    bind_scratch(*repeated.binding.schedule, repeated.binding.buffers, arena);
  const int code = run_program(repeated.binding, *repeated.decision->program, arena);
  if (code != MPI_SUCCESS) report_failure(code, communicator);
  return code;
} catch (...) {
  return report_exception_in_call(communicator.comm());
}

int run_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native) {
  const std::uint64_t start = ticks();
  if (!arguments.are_sound()) return run_native(native, communicator);
  const std::uint64_t total = arguments.total_bytes();
  const CallSignature signature = signature_of(arguments, total);
  std::shared_ptr<Decision> decision = communicator.decide(signature);
  if (settings().watches_arrivals && !communicator.attachment())
    communicator.attach(std::make_unique<ArrivalAutotuner>());
  ArrivalAutotuner* const watch = ArrivalAutotuner::of(communicator);
  const bool is_watched = watch && ArrivalAutotuner::watches(*decision, signature, communicator);
  if (is_watched)  // the autotuner's, as long as the communicator
    decision = {decision, &watch->choose(*decision, signature, communicator, start)};
  Lesson* const lesson =
      settings().learns && !is_watched ? communicator.learning().lesson_of(*decision, signature) : nullptr;
  const std::shared_ptr<Decision> regular = decision;
  if (lesson) decision = lesson->choose(regular, signature);
  bool has_memory = !decision->prepared || has_shared_memory(*decision, arguments, communicator);
  if (!has_memory && lesson && lesson->drop_chosen()) {
    decision = lesson->choose(regular, signature);
    has_memory = !decision->prepared || has_shared_memory(*decision, arguments, communicator);
  }
  const bool is_noted = lesson && lesson->needs_attention();
  if (!has_memory)
    decision =
        std::make_shared<Decision>(Decision{.signature = signature, .reason = Reason::no_shared_memory});
  if (!has_memory || is_watched) log_choice(*decision, communicator.info());
  RepeatedCall kept{.key = arguments.key, .lesson = lesson};
  bool is_repeatable = false;
  int code;
  if (EarlyStart* const ahead = is_watched ? watch->early_start() : nullptr) {
    code = ahead->run(arguments);
    if (code != MPI_SUCCESS) report_failure(code, communicator);
  } else if (decision->prepared) {
    code = run_prepared(decision, arguments, communicator, is_watched ? nullptr : &kept);
    if (code != MPI_SUCCESS) report_failure(code, communicator);
    is_repeatable = kept.program != nullptr;
  } else {
    code = run_native(native, communicator);
    // Waits inside the MPI are watched on the long way only.
    is_repeatable = code == MPI_SUCCESS && has_memory && is_left_as_it_is(communicator) &&
                    !wait_warning.is_on() && may_repeat(arguments);
  }
  const std::uint64_t block = arguments.block_bytes(total);
  CallStats& record = communicator.stats().of(*decision, block);
  const std::uint64_t end = ticks();
  record.add(start, end, block);
  if (watch && !is_watched) watch->leave(end);
  if (is_watched) {
    communicator.fast_path().forget();  // the next call must take this path, too
    watch->note(communicator, end);     // ranks count their calls equally, including one that failed on some
    return code;
  }
  if (is_repeatable) {
    kept.record = &record;
    kept.block_bytes = block;
    kept.key.any_root = decision->any_root && !lesson;  // a lesson has one root
    communicator.fast_path().keep(std::move(kept));
  }
  if (is_noted) lesson->note(start, end);
  return code;
}

int run_non_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native,
                     MPI_Request* request) {
  if (!arguments.are_sound() || !request || !progress::can_progress()) return native({.request = request});
  const std::uint64_t total = arguments.total_bytes();
  CallSignature signature = signature_of(arguments, total);
  signature.may_block = signature.is_blocking = false;
  const std::shared_ptr<Decision>& found = communicator.decide(signature);
  if (!found->prepared) return start_native(arguments, total, *found, communicator, native, request);
  std::shared_ptr<Decision> decision = found;
  std::shared_ptr<SharedLanes> lanes;
  if (decision->shared_places > 0) {
    lanes = communicator.lanes(shared_bytes(arguments, *decision->prepared, decision->shared_places));
    signature.may_share = lanes != nullptr;
    if (!lanes) decision = communicator.decide(signature);
  }
  if (!decision->prepared) return start_native(arguments, total, *decision, communicator, native, request);
  communicator.note_operations();
  const int code = start_operation(arguments, communicator, *decision, std::move(lanes), request);
  if (code != MPI_SUCCESS) pmpi.Comm_call_errhandler(arguments.comm, code);
  return code;
}

int run_inter(Collective collective, Communicator& communicator, NativeCall native) {
  const std::uint64_t start = ticks();
  const std::shared_ptr<Decision> decision = communicator.decide({.collective = collective});
  const int code = run_native(native, communicator);
  communicator.stats().of(*decision, 0).add(start, ticks(), 0);
  return code;
}

}  // namespace convene::runtime
