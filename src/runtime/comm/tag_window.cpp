// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/tag_window.hpp"

#include "transport/tags.hpp"

namespace convene::runtime {

void TagWindow::begin(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(number);
}

void TagWindow::end(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  std::erase(pending_, number);
  std::erase(agreeing_, number);  // of one that failed before
}

bool TagWindow::tag_is_free(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return pending_.empty() || number - pending_.front() < collective_range;
}

void TagWindow::queue_agreement(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  agreeing_.push_back(number);
}

void TagWindow::note_agreement(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  std::erase(agreeing_, number);
}

bool TagWindow::may_agree(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return agreeing_.empty() || agreeing_.front() == number;
}

bool TagWindow::may_agree() {
  const std::lock_guard lock(mutex_);
  return agreeing_.empty();
}

}  // namespace convene::runtime
