// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/arrivals/early_start.hpp"

#include "runtime/progress/staged_operation.hpp"

namespace convene::runtime {

EarlyStart::EarlyStart(Communicator& communicator, std::uint32_t number, std::uint64_t block_bytes)
    : internal_(communicator.tags().shared()),
      block_bytes_(block_bytes),
      mine_(std::make_unique_for_overwrite<std::byte[]>(block_bytes)),
      all_(std::make_unique_for_overwrite<std::byte[]>(block_bytes * communicator.procs())) {
  binding_.travel_on(internal_->channel());
  binding_.persistent_number = number;
}

void EarlyStart::LetGo::operator()(EarlyStart* ahead) const {
  if (!ahead->is_listed_.load(std::memory_order_acquire)) return delete ahead;
  ahead->is_orphaned_.store(true, std::memory_order_release);
  ahead->is_cancelled_.store(true, std::memory_order_release);
}

void EarlyStart::start(std::shared_ptr<const Prepared> prepared) {
  run_.reset();
  prepared_ = std::move(prepared);
  binding_.schedule = &prepared_->schedule;
  binding_.buffers.input = Memory::uniform(mine_.get(), block_bytes_, prepared_->segments);
  binding_.buffers.output = Memory::uniform(all_.get(), block_bytes_, prepared_->segments);
  binding_.buffers.blocks = binding_.buffers.output;
  arena_.reset();
  bind_scratch(*binding_.schedule, binding_.buffers, arena_);
  run_.emplace(binding_, Limits{}, arena_, Buffer::input);
  has_arrived_ = is_over_ = false;
  code_ = MPI_SUCCESS;
  has_input_ = is_cancelled_ = false;
  is_started_ = true;
  is_listed_ = true;
  progress::add(this);
  progress::advance_all();
}

int EarlyStart::run(const Arguments& call) {
  const int packed = pack(call);
  has_input_.store(true, std::memory_order_release);  // also after an error: other ranks wait for its
                                                      // messages
  progress::wait_until([&] { return !is_listed_.load(std::memory_order_acquire); });
  is_started_ = false;
  if (code_ != MPI_SUCCESS) internal_->has_failed = true;
  if (packed != MPI_SUCCESS || code_ != MPI_SUCCESS) return packed != MPI_SUCCESS ? packed : code_;
  return unpack(call);
}

void EarlyStart::cancel() {
  if (!is_started_) return;
  is_cancelled_.store(true, std::memory_order_release);
  progress::wait_until([&] { return !is_listed_.load(std::memory_order_acquire); });
  is_started_ = false;
}

void EarlyStart::complete() {
  const bool is_orphaned = is_orphaned_.load(std::memory_order_acquire);
  is_listed_.store(false, std::memory_order_release);
  if (is_orphaned) progress::defer_delete(this);
}

bool EarlyStart::close() {
  is_cancelled_.store(true, std::memory_order_release);
  return true;
}

bool EarlyStart::advance() {
  if (is_over_) return true;
  if (is_cancelled_.load(std::memory_order_acquire)) {
    run_->cancel();
    return is_over_ = true;
  }
  if (!has_arrived_ && has_input_.load(std::memory_order_acquire)) {
    has_arrived_ = true;
    run_->input_arrived();
  }
  bool done = false;
  code_ = advance_run(*run_, done);
  return is_over_ = done || code_ != MPI_SUCCESS;
}

void EarlyStart::fail(int code) {
  internal_->note_failure(code);
  code_ = code;
  is_over_ = true;
}

int EarlyStart::pack(const Arguments& call) {
  const BufferArgument& side = call.in_place ? call.recv : call.send;
  const TypeFacts facts = facts_of(side.type);
  const MPI_Count items = side.blocks.each();
  const auto* from = static_cast<const std::byte*>(side.buffer);
  if (call.in_place) from += static_cast<MPI_Count>(call.rank) * items * facts.extent;
  return pack_items(from, items, side.type, facts, mine_.get(), internal_->comm);
}

int EarlyStart::unpack(const Arguments& call) const {
  const BufferArgument& side = call.recv;
  return unpack_items(all_.get(), side.buffer, side.blocks.each() * call.procs, side.type,
                      facts_of(side.type), internal_->comm);
}

}  // namespace convene::runtime
