// SPDX-License-Identifier: BSD-3-Clause
// Copies between private memory and the shared memory of a node.
//
// On x86, the C library's copies are slow there for two reasons:
// - An ordinary store first fetches its cache line from the cache of the last reader, 64 bytes at a time: 7
//   GB/s between two cores of an AMD EPYC, 2.3 GB/s without a common cache, for copies of 32 KiB to 1 MiB.
//   Non-temporal stores avoid that: 29 GB/s. The reader then fetches the data at 10 instead of 13 GB/s (16
//   instead of 40 with a common cache). String copies (rep movsb) overwrite whole lines and need not fetch
//   them either, on processors that report fast string copies (ERMS). They are better for short copies, which
//   stay in a cache, and between cores that share a cache: so long copies are tried both ways
//   (transport/store_trials.hpp).
// - If the target lies a few bytes after the source, modulo the page size, string copies take twenty times as
//   long (2 GB/s instead of 40; glibc bug 30994), and glibc uses them. Shared memory begins at a page
//   boundary and a large malloc 16 bytes after one, so this case is common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/layers.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CONVENE_HAS_STRING_COPY 1
#include <cpuid.h>
#include <emmintrin.h>
#endif

namespace convene::base {

#ifdef CONVENE_HAS_STRING_COPY
namespace string_copy {

/// CPUID leaf 7, EBX bit 9 (Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E).
inline bool is_quick() {
  static const bool found = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 9 & 1) != 0;
  }();
  return found;
}

/// True if a string copy between these addresses would be slow.
inline bool would_crawl(const void* to, const void* from) {
  constexpr std::uintptr_t page = 4096, line = 64;
  const auto behind = reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  return (behind % page) - 1 < line - 1;
}

/// Copies the whole cache lines of a range, 16 bytes at a time by store(to, value). Returns the number of
/// bytes copied.
template <class Store>
std::size_t copy_lines(char* to, const char* from, std::size_t bytes, Store&& store) {
  constexpr std::size_t line = 64;
  const std::size_t whole = bytes / line * line;
  for (std::size_t at = 0; at < whole; at += line) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    store(target, a);
    store(target + 1, b);
    store(target + 2, c);
    store(target + 3, d);
  }
  return whole;
}

/// Copies with ordinary stores.
inline void copy_by_lines(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const auto store = [](__m128i* at, __m128i value) { _mm_storeu_si128(at, value); };
  const std::size_t done = copy_lines(target, source, bytes, store);
  std::memcpy(target + done, source + done, bytes - done);
}

/// Copies with non-temporal stores. Later stores become visible after them.
inline void stream(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % 64;
  std::memcpy(target, source, head);
  const auto store = [](__m128i* at, __m128i value) { _mm_stream_si128(at, value); };
  const std::size_t done = head + copy_lines(target + head, source + head, bytes - head, store);
  _mm_sfence();
  std::memcpy(target + done, source + done, bytes - done);
}

constexpr std::size_t least_streamed = 8 * 1024;  // shorter copies: ordinary stores are as fast, and the
                                                  // readers faster
constexpr std::size_t least = 1024;  // shorter copies: string copies take longer to start, and glibc does not
                                     // use them

}  // namespace string_copy
#endif

/// memcpy into private memory, from any memory.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
#ifdef CONVENE_HAS_STRING_COPY
  if (bytes >= string_copy::least && string_copy::would_crawl(to, from))
    return string_copy::copy_by_lines(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
}

/// memcpy into memory that other ranks read; `streams`: with non-temporal stores, if it is long. Later stores
/// become visible after it, as with any copy.
inline void copy_into_shared(void* to, const void* from, std::size_t bytes, [[maybe_unused]] bool streams) {
#ifdef CONVENE_HAS_STRING_COPY
  if (streams && bytes >= string_copy::least_streamed) return string_copy::stream(to, from, bytes);
  if (bytes >= string_copy::least && string_copy::is_quick() && !string_copy::would_crawl(to, from)) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return;
  }
#endif
  copy_bytes(to, from, bytes);
}

}  // namespace convene::base
