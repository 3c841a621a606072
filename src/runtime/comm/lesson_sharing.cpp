// SPDX-License-Identifier: BSD-3-Clause
// Shared lessons: call signatures of about the same size, of which each may have few calls.
#include <algorithm>
#include <bit>
#include <utility>

#include "decide/trial.hpp"
#include "runtime/comm/decisions.hpp"
#include "runtime/comm/learning.hpp"

namespace convene::runtime {

/// The lesson of a signature: its own one, or the shared one that it joins; null if there is none yet.
Lesson* Learning::known_lesson(const Decision& regular, const CallSignature& signature) {
  Lesson* shared = nullptr;
  for (const auto& lesson : lessons_) {
    if (!lesson->is_like(regular, signature)) continue;
    if (lesson->signature().total_bytes == signature.total_bytes) return lesson.get();
    if (lesson->is_shared()) shared = lesson.get();
  }
  if (shared) shared->join(signature.total_bytes);
  return shared;
}

/// Lets a new lesson be shared, if there are enough like it.
void Learning::share(Lesson& made, const Decision& regular) {
  const auto is_like = [&](const auto& lesson) { return lesson->is_like(regular, made.signature()); };
  if (static_cast<std::size_t>(std::ranges::count_if(lessons_, is_like)) < most_alone) return;
  made.join(made.signature().total_bytes);
  for (auto& lesson : lessons_) {
    if (!is_like(lesson) || !lesson->is_counting()) continue;
    made.merge(*lesson);
    forget(lesson);
  }
  std::erase(lessons_, nullptr);
}

void Learning::forget(std::unique_ptr<Lesson>& lesson) {
  forgotten_.reserve(most_forgotten);  // first: nothing may fail once it is retired
  decisions_.fast_path().forget();     // it may refer to it
  lesson->retire();
  if (forgotten_.size() == most_forgotten) forgotten_.erase(forgotten_.begin());
  forgotten_.push_back(std::move(lesson));
}

bool Lesson::is_like(const Decision& regular, const CallSignature& signature) const {
  const CallSignature& own = signature_;
  return std::bit_width(own.total_bytes) == std::bit_width(signature.total_bytes) &&
         own.collective == signature.collective && own.root == signature.root &&
         own.commutative == signature.commutative && own.order_matters == signature.order_matters &&
         own.has_native == signature.has_native && is_guard_ == (regular.reason == Reason::wisdom) &&
         (!is_guard_ || specs_.front() == regular.spec);
}

void Lesson::join(std::uint64_t total_bytes) {
  is_shared_ = true;
  least_bytes_ = std::min(least_bytes_, total_bytes);
  most_bytes_ = std::max(most_bytes_, total_bytes);
}

void Lesson::merge(const Lesson& other) {
  join(other.signature_.total_bytes);
  elapsed_ = std::min(elapsed_, other.elapsed_);
  calls_ += other.calls_ + other.granted_ - other.idle_;
  idle_ = granted_ = calls_ < lesson_calls ? lesson_calls - 1 - calls_ : 0;
}

}  // namespace convene::runtime
