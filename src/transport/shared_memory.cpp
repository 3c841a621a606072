// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory.hpp"

#include <algorithm>
#include <utility>

namespace convene::transport {
namespace {

constexpr std::size_t page = 4096;

std::size_t rounded(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

std::size_t SharedMemory::bytes(std::size_t ranks, std::size_t data) {
  return rounded(ranks * ranks * sizeof(Word)) + 2 * rounded(data);
}

SharedMemory::SharedMemory(std::shared_ptr<std::byte> memory, std::vector<Rank> ranks, Rank own,
                           std::size_t data)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      number_(ranks_.back() + 1),
      data_(rounded(data)),
      words_(reinterpret_cast<Word*>(memory_.get())) {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) number_[ranks_[i]] = i;
  own_ = number_[own];
}

std::byte* SharedMemory::begin() {
  ++run_;
  return memory_.get() + rounded(ranks_.size() * ranks_.size() * sizeof(Word)) + run_ % 2 * data_;
}

bool SharedMemory::is_free() {
  if (run_ <= free_until_) return true;
  std::uint64_t least = run_;
  for (std::size_t rank = 0; rank < ranks_.size() && least + 2 >= run_; ++rank)
    least = std::min(least, ended(rank).value.load(std::memory_order_acquire));
  free_until_ = least + 2;
  return run_ <= free_until_;
}

void SharedMemory::end() { ended(own_).value.store(run_, std::memory_order_release); }

void SharedMemory::signal(Rank to, std::uint32_t match) {
  word(own_, number_[to]).value.store(stamp(match), std::memory_order_release);
}

bool SharedMemory::is_signalled(Rank from, std::uint32_t match) const {
  return word(number_[from], own_).value.load(std::memory_order_acquire) >= stamp(match);
}

}  // namespace convene::transport
