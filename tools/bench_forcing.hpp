// SPDX-License-Identifier: BSD-3-Clause
// Selection of native algorithms at run time, through the MPI's control variables (MPI_T).
//
// Open MPI: the tuned component reads coll_tuned_<collective>_algorithm when a communicator is created, so
// the variable is set around MPI_Comm_dup and every communicator keeps its own algorithm. MPICH:
// MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM is read in every call, so it is set before every batch of calls;
// MPIR_CVAR_DEVICE_COLLECTIVES=none disables the network's own collectives.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace convene::bench {

/// One control variable that holds a number or a truth value.
class Variable {
 public:
  /// Nothing if this MPI has no such variable.
  static std::optional<Variable> find(const std::string& name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
    return Variable(index);
  }

  const std::string& description() const { return description_; }

  /// The names of its values, by value, if the MPI provides them.
  std::vector<std::string> value_names() const {
    std::vector<std::string> names;
    if (enumeration_ == MPI_T_ENUM_NULL) return names;
    int count = 0, length = 0;
    MPI_T_enum_get_info(enumeration_, &count, nullptr, &length);
    for (int i = 0; i < count; ++i) {
      int value = 0, name_length = 0;
      MPI_T_enum_get_item(enumeration_, i, &value, nullptr, &name_length);
      std::string name(static_cast<std::size_t>(name_length) + 1, '\0');
      name_length = static_cast<int>(name.size());
      MPI_T_enum_get_item(enumeration_, i, &value, name.data(), &name_length);
      if (value < 0) continue;
      if (names.size() <= static_cast<std::size_t>(value)) names.resize(static_cast<std::size_t>(value) + 1);
      names[static_cast<std::size_t>(value)] = name.c_str();
    }
    return names;
  }

  std::int64_t read() const {
    std::int64_t value = 0;
    check(MPI_T_cvar_read(handle_, &value), "read");
    return value;
  }

  /// Some can only be set at program start: these must have the wanted value already.
  void write(std::int64_t value) const {
    if (read() == value) return;
    check(MPI_T_cvar_write(handle_, &value), "set to " + std::to_string(value) + " while the program runs");
  }

 private:
  explicit Variable(int index) {
    char name[256], text[4096];
    int name_length = sizeof name, text_length = sizeof text, verbosity, binding, scope, count;
    MPI_Datatype type;
    check(MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumeration_, text, &text_length,
                              &binding, &scope),
          "described");
    name_ = name;
    description_ = text;
    check(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count), "opened");
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    // Values are read and written as the low bytes of a larger number.
    if (count != 1 || bytes > static_cast<int>(sizeof(std::int64_t)))
      throw std::runtime_error("the control variable " + name_ + " is not a number");
  }

  void check(int code, const std::string& what) const {
    if (code != MPI_SUCCESS)
      throw std::runtime_error("the control variable " + name_ + " cannot be " + what + " (error " +
                               std::to_string(code) + ")");
  }

  std::string name_, description_;
  MPI_T_enum enumeration_ = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

/// The selectable native algorithms of one collective.
class Forcing {
 public:
  explicit Forcing(const std::string& collective) {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (const auto tuned = Variable::find("coll_tuned_" + collective + "_algorithm")) {
      algorithm_ = {*tuned, tuned->read()};
      names_ = tuned->value_names();
      also("coll_tuned_use_dynamic_rules", 1);
      also("coll_han_priority", 0);  // between nodes it would replace the tuned component
      is_by_communicator_ = true;
    } else if (const auto intra = Variable::find("MPIR_CVAR_" + upper(collective) + "_INTRA_ALGORITHM")) {
      algorithm_ = {*intra, intra->read()};
      names_ = intra->value_names();
      if (names_.empty()) names_ = names_in(intra->description());
      constexpr int none = 1;
      also("MPIR_CVAR_DEVICE_COLLECTIVES", none);
    }
  }

  /// Names by value; the one of value 0 stands for the native choice and is not offered.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (std::size_t value = 1; value < names_.size(); ++value)
      if (!names_[value].empty()) found.push_back(names_[value]);
    return found;
  }

  std::optional<int> value_of(const std::string& name) const {
    for (std::size_t value = 1; value < names_.size(); ++value)
      if (names_[value] == name) return static_cast<int>(value);
    return std::nullopt;
  }

  /// True if a choice applies to the communicators that are created under it; else it applies to the calls
  /// made under it.
  bool is_by_communicator() const { return is_by_communicator_; }

  /// Selects the algorithm of this value; 0: the settings at program start.
  void choose(int value) {
    if (value == chosen_) return;
    chosen_ = value;
    algorithm_->variable.write(value == 0 ? algorithm_->before : value);
    for (const Companion& companion : companions_)
      companion.variable.write(value == 0 ? companion.before : companion.while_chosen);
  }

 private:
  struct Switch {
    Variable variable;
    std::int64_t before;
  };
  struct Companion {
    Variable variable;
    std::int64_t before, while_chosen;
  };

  void also(const char* name, std::int64_t while_chosen) {
    if (const auto variable = Variable::find(name))
      companions_.push_back({*variable, variable->read(), while_chosen});
  }

  static std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
  }

  /// MPICH's description has, in the order of the values, "name - explanation". MPICH 4 drops the line ends,
  /// so a name may be attached to the last word before it: to a ')', or to the "algorithm" with which the
  /// texts end.
  static std::vector<std::string> names_in(const std::string& description) {
    const std::string stuck = "algorithm";
    std::vector<std::string> names;
    for (std::size_t dash = 0; (dash = description.find(" - ", dash)) != std::string::npos; ++dash) {
      const std::size_t end = description.find_last_not_of(' ', dash) + 1;
      const std::size_t before = description.find_last_of(" \n)", end - 1);
      std::string name = description.substr(before + 1, end - before - 1);
      if (name.size() > stuck.size() && name.starts_with(stuck)) name.erase(0, stuck.size());
      names.push_back(name);
    }
    return names;
  }

  std::optional<Switch> algorithm_;
  std::vector<std::string> names_;
  std::vector<Companion> companions_;
  int chosen_ = 0;
  bool is_by_communicator_ = false;
};

}  // namespace convene::bench
