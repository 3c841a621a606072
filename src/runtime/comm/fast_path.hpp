// SPDX-License-Identifier: BSD-3-Clause
// Fast path: calls that repeat earlier ones with other buffers. Nothing is decided or bound again. Only calls
// with named types, predefined operators and equal blocks are kept.
//
// A communicator keeps its last call, and what that needs. Only where calls alternate there is a table of
// native ones: most communicators make one kind of call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "mpi/operator.hpp"
#include "runtime/comm/decision.hpp"

namespace convene::runtime {

class Lesson;

/// A call that may be repeated.
struct RepeatedCall {
  CallKey key;
  CallStats* record = nullptr;  ///< null: there is none
  Lesson* lesson = nullptr;     ///< counts the calls, where something is learned
  std::uint64_t block_bytes = 0;

  [[gnu::always_inline]] bool is_for(const CallKey& call) const { return record && key.stands_for(call); }
};

/// Native calls of several signatures: programs alternate between roots, sizes and collectives.
class NativeCalls {
 public:
  /// Replaces another call at the same place. (Without memory nothing is kept.)
  void keep(const RepeatedCall& call) {
    if (!calls_) calls_.reset(new (std::nothrow) Calls);
    if (calls_) (*calls_)[place_of(call.key)] = call;
  }
  [[gnu::always_inline]] const RepeatedCall* find(const CallKey& key) const {
    const RepeatedCall* const call = calls_ ? &(*calls_)[place_of(key)] : nullptr;
    return call && call->is_for(key) ? call : nullptr;
  }
  void forget() {
    if (!calls_) return;
    for (RepeatedCall& call : *calls_) call.record = nullptr;
  }
  std::size_t memory() const { return calls_ ? sizeof(Calls) : 0; }

 private:
  static constexpr std::size_t number = 8;
  using Calls = std::array<RepeatedCall, number>;

  /// Roots of one call are at different places.
  [[gnu::always_inline]] static std::size_t place_of(const CallKey& key) {
    const auto bytes =
        static_cast<std::uint64_t>(key.sendcount) + 3 * static_cast<std::uint64_t>(key.recvcount);
    const std::uint64_t kind = bytes * 32 + static_cast<std::uint64_t>(key.collective);
    return (((kind * 0x9e3779b97f4a7c15u) >> 60) + static_cast<std::uint64_t>(key.root)) % number;
  }

  std::unique_ptr<Calls> calls_;
};

/// What the last call needs besides its arguments, if it ran an algorithm of Convene's.
struct RepeatedProgram {
  std::shared_ptr<Decision> decision;  ///< has the program; null: there is none
  Binding binding;
  ItemOperator item_operator;  ///< of a reduction: the operator to which the binding refers
};

/// The last call, and native ones before it.
struct FastPath : RepeatedCall {
  bool is_native = false, has_only_empty_messages = false;
  std::unique_ptr<RepeatedProgram> program;  ///< made when it is first needed
  NativeCalls natives;

  /// The last call, or a native one before it; null: the call repeats neither.
  [[gnu::always_inline]] const RepeatedCall* find(const CallKey& call) const {
    return is_for(call) ? this : natives.find(call);
  }
  /// True if a call that was found runs the program of the last one.
  bool is_program(const RepeatedCall& found) const { return !is_native && &found == this; }

  /// Keeps what a decision's program needs. (Without memory nothing is kept.)
  void keep_program(RepeatedProgram&& bound) {
    if (!program) program.reset(new (std::nothrow) RepeatedProgram);
    if (!program) return;
    *program = std::move(bound);
    program->binding.op.context = &program->item_operator;
  }
  bool has_program_of(const Decision* decision) const {
    return program && program->decision.get() == decision;
  }
  /// Keeps a call as the last one: a native call, or the one whose program was kept.
  void keep(const RepeatedCall& call, bool native) {
    if (is_native && key.stands_for(call.key)) record = nullptr;  // it is the same
    if (native) forget_last();
    static_cast<RepeatedCall&>(*this) = call;
    is_native = native;
  }

  /// The last call may not be repeated as such. A native one stays among the others.
  void forget_last() {
    if (record && is_native) natives.keep(*this);
    record = nullptr;
    has_only_empty_messages = false;
    if (program) program->decision = nullptr;
  }
  void forget() {
    record = nullptr;
    forget_last();
    natives.forget();
  }

  /// Bytes beside this object.
  std::size_t memory() const { return natives.memory() + (program ? sizeof(RepeatedProgram) : 0); }
};

}  // namespace convene::runtime
