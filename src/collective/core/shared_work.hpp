// SPDX-License-Identifier: BSD-3-Clause
// Work shared by the ranks of one plan: made for the first rank, read by the others.
#pragma once

#include <any>
#include <memory>

namespace convene::collective {

/// One object serves the schedules of one algorithm and one call, which differ in Call::rank only. Not
/// thread-safe.
class SharedWork {
 public:
  /// The result of make(), which runs the first time only.
  template <class Make>
  auto get(Make&& make) {
    using Work = decltype(make());
    using Kept = std::shared_ptr<const Work>;
    if (const Kept* kept = std::any_cast<Kept>(&kept_)) return *kept;
    Kept work = std::make_shared<const Work>(make());
    kept_ = work;
    return work;
  }

 private:
  std::any kept_;
};

}  // namespace convene::collective
