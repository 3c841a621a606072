// SPDX-License-Identifier: BSD-3-Clause
// Wisdom files: where they are, and which of them may be trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decide/wisdom.hpp"

namespace convene::decide {

/// A file that may hold wisdom. One that is optional may be absent.
struct WisdomFile {
  std::string path;
  bool is_optional = true;
};

/// The search path, from the value of CONVENE_WISDOM: paths separated by colons, or "none". One behind a
/// hyphen is optional: "-/opt/wisdom.json". If the value is empty, the user's file
/// ($XDG_DATA_HOME/convene/wisdom.json, else
/// ~/.local/share/convene/wisdom.json) and the site's, which are optional.
std::vector<WisdomFile> wisdom_files(std::string_view variable);

/// The site's file.
inline constexpr std::string_view site_wisdom = "/etc/convene/wisdom.json";

/// Why a file must not be used, as a clause; empty if it may be, or does not exist.
std::string distrust_of(const std::string& path);

/// What was read: the entries of this place, and a sentence for each file, or part of one, that is not used.
struct FoundWisdom {
  Wisdom wisdom;
  std::vector<std::string> refusals;
};

/// Reads all files and keeps the entries of this place. Does not throw for a file that is damaged, or that
/// other users may write: it is refused. The entries that are left out are added to `others`.
FoundWisdom read_wisdom(const std::vector<WisdomFile>& files, const MachineKey& here,
                        std::vector<WisdomEntry>* others = nullptr);

/// This node: model name of its processor, number of its cores, names of its RDMA devices.
MachineKey this_machine(std::string_view mpi_library_version);

}  // namespace convene::decide
