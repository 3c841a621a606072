// SPDX-License-Identifier: BSD-3-Clause
#include "base/device_runtime.hpp"

#include <gtest/gtest.h>

namespace convene::base {
namespace {

TEST(DeviceRuntime, FilesOfEveryVersionAreKnown) {
  EXPECT_EQ(device_runtime_of("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), "CUDA");
  EXPECT_EQ(device_runtime_of("/opt/cuda/lib64/libcudart.so.12"), "CUDA");
  EXPECT_EQ(device_runtime_of("libamdhip64.so"), "HIP");
  EXPECT_EQ(device_runtime_of("/usr/lib/libze_loader.so.1.2"), "Level Zero");
}

TEST(DeviceRuntime, OtherFilesAreNone) {
  for (const char* path : {"", "/usr/lib/libc.so.6", "/opt/libcuda.so.1/libm.so.6", "/usr/lib/libcuda.sox",
                           "/usr/lib/notlibcuda.so.1", "/opt/cuda/lib64/libcudart_static.a"})
    EXPECT_EQ(device_runtime_of(path), "") << path;
}

TEST(DeviceRuntime, NoneIsLoadedHere) { EXPECT_EQ(loaded_device_runtime(), ""); }

}  // namespace
}  // namespace convene::base
