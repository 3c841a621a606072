// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace convene::transport {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

// Runs share a half up to this size: small runs reuse memory that is still in the caches.
constexpr std::size_t most_shared = 32 * 1024;

std::size_t rounded(std::size_t bytes, std::size_t unit = page) { return (bytes + unit - 1) / unit * unit; }

std::size_t index_of(const std::vector<Rank>& ranks, Rank rank) {
  return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
}

/// Copies what a signal carries.
void copy_carried(std::byte* to, const std::byte* from) {
#ifdef __SANITIZE_THREAD__  // which does not see a copy that is not a call
  for (std::size_t i = 0; i < SharedMemory::carried_bytes; ++i) to[i] = from[i];
#else
  std::memcpy(to, from, SharedMemory::carried_bytes);
#endif
}

}  // namespace

std::uint32_t SharedMemory::runs_per_half(std::size_t ranks, Runs runs) {
  constexpr std::size_t most = 64, most_signals = 1024;
  if (runs == Runs::one) return 1;
  const std::size_t many = ranks <= 8 ? 8 : ranks <= 32 ? 4 : 2;
  const std::size_t far_ahead = std::min(most, most_signals / (ranks * ranks));
  return static_cast<std::uint32_t>(runs == Runs::many ? many : std::max(many, far_ahead));
}

std::size_t SharedMemory::bytes(std::size_t ranks, std::size_t data, Runs runs) {
  return rounded(words(ranks, runs) * sizeof(Word)) + 2 * rounded(data);
}

SharedMemory::SharedMemory(std::shared_ptr<std::byte> memory, std::vector<Rank> ranks, Rank own,
                           std::size_t data, Runs runs)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      number_(ranks_.back() + 1),
      own_(index_of(ranks_, own)),
      data_(rounded(data)),
      runs_per_half_(runs_per_half(ranks_.size(), runs)),
      words_(reinterpret_cast<Word*>(memory_.get())),
      signals_of_run_(words_ + 2 * ranks_.size()),
      bells_(reinterpret_cast<Doorbells::Bell*>(words_ + ranks_.size()), own_),
      halves_(memory_.get() + rounded(words(ranks_.size(), runs) * sizeof(Word))),
      copies_(copies(ranks_.size())) {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) number_[ranks_[i]] = i;
}

std::byte* SharedMemory::begin(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes, line);
  if (runs_in_half_ == runs_per_half_ ||
      (runs_in_half_ > 0 && used_in_half_ + wanted > std::min(data_, most_shared)))
    change_half();
  ++run_;
  signals_of_run_ =
      words_ + 2 * ranks_.size() + (half_ * runs_per_half_ + runs_in_half_) * ranks_.size() * ranks_.size();
  std::byte* const data = halves_ + half_ * data_ + used_in_half_;
  ++runs_in_half_;
  used_in_half_ += wanted;
  if (trials_.begin(run_, bytes)) judge();
  if (trials_.is_timed()) started_ = base::ticks();
  return data;
}

std::byte* SharedMemory::begin_carrying() {
  begin(0);
  return copies_.front().data;
}

/// From here on, the runs that used the other half before must have ended on all ranks.
void SharedMemory::change_half() {
  awaited_ = std::exchange(last_in_other_half_, run_);
  half_ ^= 1;
  runs_in_half_ = 0;
  used_in_half_ = 0;
}

bool SharedMemory::look_for_end() {
  std::uint64_t least = run_;
  for (std::size_t rank = 0; rank < ranks_.size() && least >= awaited_; ++rank)
    least = std::min(least, ended(rank).run.load(std::memory_order_acquire));
  if (least >= awaited_) ended_by_all_ = least;
  return least >= awaited_;
}

void SharedMemory::end() {
  if (trials_.is_timed())
    if (const auto outcome = trials_.end(base::ticks() - started_)) publish(*outcome);
  ended(own_).run.store(run_, std::memory_order_release);
  if (rings_) bells_.ring_all(ranks_.size(), Doorbells::end_of(own_, run_));
}

Doorbells::Outcome SharedMemory::sleep_until_ended(std::uint64_t timeout_ns) {
  std::size_t rank = 0;
  const auto has_ended = [&] { return ended(rank).run.load(std::memory_order_acquire) >= awaited_; };
  while (rank < ranks_.size() && has_ended()) ++rank;
  if (rank == ranks_.size()) return Doorbells::Outcome::rung;
  const auto outcome = bells_.sleep(Doorbells::end_of(rank, awaited_), timeout_ns, has_ended);
  return outcome == Doorbells::Outcome::holds ? Doorbells::Outcome::rung : outcome;  // others may be behind
}

void SharedMemory::publish(StoreTrials::Outcome outcome) const {
  const auto difference = static_cast<std::uint32_t>(outcome.difference);
  ended(own_).trials[trials_.slot()].store(std::uint64_t{outcome.last_run} << 32 | difference,
                                           std::memory_order_relaxed);
}

void SharedMemory::judge() {
  std::int64_t difference = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::uint64_t found = ended(rank).trials[trials_.slot()].load(std::memory_order_relaxed);
    if (found >> 32 != trials_.judged()) return;  // it has published that of another size since
    difference += static_cast<std::int32_t>(found);
  }
  trials_.judge(difference);
}

void SharedMemory::signal(Rank to, std::uint32_t match) {
  word(own_, number_[to]).value.store(stamp(match), std::memory_order_release);
  if (rings_) [[unlikely]]
    bells_.ring(number_[to], Doorbells::signal_from(own_));
}

bool SharedMemory::is_signalled(Rank from, std::uint32_t match) const {
  return word(number_[from], own_).value.load(std::memory_order_acquire) >= stamp(match);
}

void SharedMemory::signal_with(Rank to, const std::byte* data) {
  Word& line = word(own_, number_[to]);
  copy_carried(line.data, data);
  line.value.store(stamp(0), std::memory_order_release);
  if (rings_) [[unlikely]]
    bells_.ring(number_[to], Doorbells::signal_from(own_));
}

bool SharedMemory::take(Rank from, std::byte* data) const {
  const Word& line = word(number_[from], own_);
  if (line.value.load(std::memory_order_acquire) < stamp(0)) return false;
  copy_carried(data, line.data);
  return true;
}

}  // namespace convene::transport
