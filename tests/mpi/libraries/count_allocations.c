// SPDX-License-Identifier: BSD-3-Clause
// Counts allocations called from Convene's libraries, and prints the count at exit. Preloaded before them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int allocations = 0;

static void count(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libconvene")) ++allocations;
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_malloc(bytes);
}

void* calloc(size_t number, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, bytes);
}

void* realloc(void* memory, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

__attribute__((destructor)) static void print(void) { fprintf(stderr, "allocations: %d\n", allocations); }
