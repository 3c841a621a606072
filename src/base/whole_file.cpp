// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace convene::base {

std::string replace_file(const std::string& path, std::string_view text) {
  const std::string part = path + ".part";  // a reader never sees half a file
  std::FILE* const file = std::fopen(part.c_str(), "wb");
  if (!file) return std::strerror(errno);
  int error = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;  // what was buffered is written here
  if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return "";
  std::remove(part.c_str());
  return std::strerror(error);
}

}  // namespace convene::base
