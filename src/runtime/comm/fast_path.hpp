// SPDX-License-Identifier: BSD-3-Clause
// Fast path: calls that repeat earlier ones with other buffers. Nothing is decided or bound again. Only calls
// with named types, predefined operators and equal blocks are kept.
//
// A communicator keeps its last call, and what that needs. Only where calls alternate there is a table of
// earlier ones: most communicators make one kind of call.
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

/// What a call needs besides its arguments, if it runs an algorithm of Convene's.
struct RepeatedProgram {
  std::shared_ptr<Decision> decision;  ///< has the program
  Binding binding;
  ItemOperator item_operator;  ///< of a reduction: the operator to which the binding refers

  void refer_to(std::shared_ptr<Decision> decided, const Binding& bound, const ItemOperator& op) {
    decision = std::move(decided);
    binding = bound;
    item_operator = op;
    binding.op.context = &item_operator;
  }
};

/// A call that may be repeated.
struct RepeatedCall {
  CallKey key;
  CallStats* record = nullptr;  ///< null: there is none
  Lesson* lesson = nullptr;     ///< counts the calls, where something is learned
  std::uint64_t block_bytes = 0;
  bool has_only_empty_messages = false;      ///< of its program
  std::unique_ptr<RepeatedProgram> program;  ///< null: the call is native

  [[gnu::always_inline]] bool is_for(const CallKey& call) const { return record && key.stands_for(call); }
  bool runs(const Decision& decision) const {
    return record && program && program->decision.get() == &decision;
  }
};

/// Calls of several signatures: applications alternate between roots, sizes and collectives.
class EarlierCalls {
 public:
  /// Returns the call that this one replaces. (Without memory nothing is kept: the call itself.)
  RepeatedCall keep(RepeatedCall&& call) {
    if (!calls_) calls_.reset(new (std::nothrow) Calls);
    return calls_ ? std::exchange((*calls_)[place_of(call.key)], std::move(call)) : std::move(call);
  }
  [[gnu::always_inline]] const RepeatedCall* find(const CallKey& key) const {
    const RepeatedCall* const call = calls_ ? &(*calls_)[place_of(key)] : nullptr;
    return call && call->is_for(key) ? call : nullptr;
  }
  template <class Action>
  void for_each(const Action& action) const {
    if (!calls_) return;
    for (RepeatedCall& call : *calls_) action(call);
  }
  std::size_t memory() const {
    std::size_t bytes = calls_ ? sizeof(Calls) : 0;
    for_each([&](const RepeatedCall& call) { bytes += call.program ? sizeof(RepeatedProgram) : 0; });
    return bytes;
  }

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

/// The last call, and earlier ones.
class FastPath {
 public:
  const RepeatedCall& last() const { return last_; }

  /// A call that another one repeats; null: there is none.
  [[gnu::always_inline]] const RepeatedCall* find(const CallKey& call) const {
    return last_.is_for(call) ? &last_ : earlier_.find(call);
  }
  /// Keeps a call as the last one.
  void keep(RepeatedCall&& call) {
    if (last_.record && !last_.key.stands_for(call.key)) last_ = earlier_.keep(std::move(last_));
    forget(last_);
    last_ = std::move(call);
  }
  /// Memory for the program of the next call that is kept, used again where one was dropped; null: there is
  /// none.
  std::unique_ptr<RepeatedProgram> memory_for_program() {
    return spare_ ? std::move(spare_) : std::unique_ptr<RepeatedProgram>(new (std::nothrow) RepeatedProgram);
  }
  /// The program of a decision is bound anew, to other sizes.
  void forget_program_of(const Decision& decision) {
    const auto forget_user = [&](RepeatedCall& call) {
      if (call.runs(decision)) forget(call);
    };
    forget_user(last_);
    earlier_.for_each(forget_user);
  }
  void forget() {
    forget(last_);
    earlier_.for_each([this](RepeatedCall& call) { forget(call); });
  }

  /// Bytes beside this object.
  std::size_t memory() const {
    return earlier_.memory() + ((last_.program ? 1u : 0u) + (spare_ ? 1u : 0u)) * sizeof(RepeatedProgram);
  }

 private:
  void forget(RepeatedCall& call) {
    call.record = nullptr;
    if (!call.program) return;
    call.program->decision = nullptr;
    spare_ = std::move(call.program);
  }

  RepeatedCall last_;
  EarlierCalls earlier_;
  std::unique_ptr<RepeatedProgram> spare_;
};

}  // namespace convene::runtime
