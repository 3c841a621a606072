// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom_update.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/error.hpp"
#include "base/whole_file.hpp"

namespace convene::decide {
namespace {

using Kind = JsonValue::Kind;

std::string escaped(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    constexpr unsigned char first_printable = 0x20;
    if (letter == '"' || letter == '\\') {
      result.append({'\\', letter});
    } else if (static_cast<unsigned char>(letter) < first_printable) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
      result += code;
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::string json_text(const JsonValue& value) {
  if (value.kind == Kind::null) return "null";
  if (value.is_text()) return escaped(value.text);
  if (!value.is_list() && !value.is_object()) return value.text;
  std::string result(value.is_list() ? "[" : "{");
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) result += ", ";
    if (value.is_object()) result += escaped(value.keys[i].name) + ": ";
    result += json_text(value.items[i]);
  }
  return result + (value.is_list() ? "]" : "}");
}

/// An item's text with other bounds.
std::string with_bounds(const JsonValue& item, const Bounds& bytes) {
  const std::string list = "[" + std::to_string(bytes.least) + ", " + std::to_string(bytes.most) + "]";
  std::string result = "{\"bytes\": " + list;
  for (std::size_t i = 0; i < item.items.size(); ++i)
    if (item.keys[i].name != "bytes")
      result += ", " + escaped(item.keys[i].name) + ": " + json_text(item.items[i]);
  return result + "}";
}

bool is_same_case(const WisdomEntry& a, const WisdomEntry& b) {
  return a.place == b.place && a.collective == b.collective && a.procs == b.procs && a.nodes == b.nodes &&
         a.ranks_per_node == b.ranks_per_node && a.shares_cores == b.shares_cores;
}

/// What new entries leave of an old one's range.
std::vector<Bounds> rest_of(const WisdomEntry& old, std::span<const LearnedEntry> learned) {
  std::vector<Bounds> rest = {old.bytes};
  for (const LearnedEntry& each : learned) {
    if (!old.native_algorithm.empty() || !is_same_case(old, each.entry)) continue;
    std::vector<Bounds> left;
    for (const Bounds& part : rest) {
      const Bounds& taken = each.entry.bytes;
      if (taken.most < part.least || taken.least > part.most) {
        left.push_back(part);
        continue;
      }
      if (part.least < taken.least) left.push_back({part.least, taken.least - 1});
      if (part.most > taken.most) left.push_back({taken.most + 1, part.most});
    }
    rest = std::move(left);
  }
  return rest;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

std::string item_text(const LearnedEntry& learned, const std::string& date) {
  const WisdomEntry& entry = learned.entry;
  const auto whole = [](std::uint64_t number) { return std::to_string(number); };
  return "{\"mpi\": " + escaped(entry.place.mpi) + ", \"cpu\": " + escaped(entry.place.cpu) +
         ", \"cores\": " + whole(entry.place.cores) + ", \"network\": " + escaped(entry.place.network) +
         ", \"collective\": " + escaped(name(entry.collective)) + ", \"procs\": " + whole(entry.procs) +
         ", \"nodes\": " + whole(entry.nodes) + ", \"ranks_per_node\": " + whole(entry.ranks_per_node) +
         ", \"shares_cores\": " + (entry.shares_cores ? "true" : "false") + ", \"bytes\": [" +
         whole(entry.bytes.least) + ", " + whole(entry.bytes.most) +
         "], \"use\": " + escaped(entry.use.algorithm ? spec_text(entry.use) : "native") +
         ", \"ratio\": " + decimal(entry.ratio) + ", \"upper\": " + decimal(entry.upper) +
         ", \"measured\": " + escaped(date) + ", \"evidence\": {\"how\": " + escaped(learned.how) +
         ", \"ratio\": " + decimal(learned.measured_ratio) + ", \"calls\": " + whole(learned.calls) +
         ", \"pairs\": " + whole(learned.pairs) + "}}";
}

/// Creates the directories above a file.
void make_directories(const std::string& path) {
  constexpr mode_t mode = 0755;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), mode);  // the lock cannot be created if one is missing
}

/// The lock of a wisdom file, which `convene tune` takes, too.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    const std::size_t slash = path.rfind('/') + 1, dot = path.rfind('.');
    const bool has_suffix = dot != std::string::npos && dot > slash;
    const std::string lock = path.substr(0, has_suffix ? dot : path.size()) + ".lock";
    constexpr mode_t mode = 0644;
    file_ = open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, mode);
    if (file_ < 0) error_ = std::strerror(errno);
    // A holder that hangs must not stop MPI_Finalize.
    constexpr int attempts = 200;
    constexpr unsigned pause_us = 10'000;
    for (int i = 0; file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0; ++i) {
      if (i < attempts && (errno == EWOULDBLOCK || errno == EINTR)) {
        usleep(pause_us);
        continue;
      }
      error_ = errno == EWOULDBLOCK ? "another process holds its lock" : std::strerror(errno);
      return;
    }
  }
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  const std::string& error() const { return error_; }

 private:
  int file_ = -1;
  std::string error_;
};

}  // namespace

std::string merged_wisdom(std::string_view old, const std::string& file,
                          std::span<const LearnedEntry> learned, const std::string& date) {
  std::string items;
  const auto add = [&](const std::string& item) { items += (items.empty() ? " " : ",\n ") + item; };
  if (!old.empty()) {
    const std::vector<WisdomEntry> entries = parse_wisdom(old, file);
    const JsonValue root = parse_json(old, file);
    const JsonValue* const list = root.find("entries");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::vector<Bounds> rest = rest_of(entries[i], learned);
      const bool is_whole = rest.size() == 1 && rest[0].least == entries[i].bytes.least &&
                            rest[0].most == entries[i].bytes.most;
      for (const Bounds& part : rest)
        add(is_whole ? json_text(list->items[i]) : with_bounds(list->items[i], part));
    }
  }
  for (std::size_t i = 0; i < learned.size(); ++i)
    for (const Bounds& part : rest_of(learned[i].entry, learned.subspan(i + 1))) {
      LearnedEntry rest = learned[i];
      rest.entry.bytes = part;
      add(item_text(rest, date));
    }
  return "{\"convene_wisdom\": 1,\n\"entries\": [\n" + items + "\n]}\n";
}

std::string wisdom_to_write(const std::vector<WisdomFile>& files) {
  if (files.empty() || (files.front().is_optional && files.front().path == site_wisdom)) return "";
  return files.front().path;
}

std::string update_wisdom_file(const std::string& path, std::span<const LearnedEntry> learned,
                               const std::string& date) try {
  make_directories(path);
  const FileLock lock(path);
  if (!lock.error().empty()) return "cannot lock " + path + ": " + lock.error();
  if (const std::string why = distrust_of(path); !why.empty()) return path + " " + why;
  const bool exists = access(path.c_str(), F_OK) == 0;
  const std::string old = exists ? read_whole_file(path, "wisdom file") : "";
  const std::string error = replace_file(path, merged_wisdom(old, path, learned, date));
  if (!error.empty()) return "cannot write " + path + ": " + error;
  constexpr mode_t mode = 0644;
  chmod(path.c_str(), mode);  // whatever the umask is: a file that others may write is refused
  return "";
} catch (const Error& error) {
  return error.what();
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[16] = "";
  if (localtime_r(&now, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

}  // namespace convene::decide
