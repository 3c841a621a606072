// SPDX-License-Identifier: BSD-3-Clause
// Allocator for large arrays with random access: uses large pages if the system offers them. With small
// pages, most accesses would miss the TLB.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

#include "base/layers.hpp"

namespace convene::base {

template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t items) {
    void* const memory = ::operator new(items * sizeof(T), alignment(items));
#ifdef MADV_HUGEPAGE
    if (is_large(items))
      madvise(memory, items * sizeof(T), MADV_HUGEPAGE);  // a hint: the system may ignore
                                                          // it
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t items) { ::operator delete(memory, alignment(items)); }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;

  static bool is_large(std::size_t items) { return items * sizeof(T) >= 2 * page; }
  static std::align_val_t alignment(std::size_t items) {
    return std::align_val_t{is_large(items) ? page : alignof(T)};
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace convene::base
