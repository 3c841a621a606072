// SPDX-License-Identifier: BSD-3-Clause
// Fast path: calls that repeat earlier ones with other buffers. Nothing is decided or bound again. Only calls
// with named types, predefined operators and equal blocks are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "mpi/operator.hpp"
#include "runtime/comm/decision.hpp"

namespace convene::runtime {

class Lesson;

/// A call that may be repeated.
struct RepeatedCall {
  std::shared_ptr<Decision> decision;  ///< null: there is none
  CallKey key;
  CallStats* record = nullptr;
  Lesson* lesson = nullptr;  ///< counts the calls, where something is learned
  std::uint64_t block_bytes = 0;

  [[gnu::always_inline]] bool is_for(const CallKey& call) const { return decision && key == call; }
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
    for (RepeatedCall& call : *calls_) call.decision = nullptr;
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

/// The last call, and native ones before it.
struct FastPath : RepeatedCall {
  bool is_native = false, has_only_empty_messages = false;
  Binding binding;             ///< otherwise, of an algorithm of Convene's
  ItemOperator item_operator;  ///< of a reduction: the operator to which the binding refers
  NativeCalls natives;

  /// The last call, or a native one before it; null: the call repeats neither.
  [[gnu::always_inline]] const RepeatedCall* find(const CallKey& call) const {
    return is_for(call) ? this : natives.find(call);
  }
  /// True if a call that was found runs the program of the last one.
  bool is_program(const RepeatedCall& found) const { return !is_native && &found == this; }

  void forget_last() { decision = nullptr; }
  void forget() {
    forget_last();
    natives.forget();
  }
};

}  // namespace convene::runtime
