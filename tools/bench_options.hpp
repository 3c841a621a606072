// SPDX-License-Identifier: BSD-3-Clause
// Options of a benchmark run.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench_collective.hpp"
#include "bench_types.hpp"

namespace convene::bench {

struct Options {
  std::string collective;
  std::vector<std::uint64_t> sizes;     ///< bytes per block, or of the vector
  std::vector<std::string> contenders;  ///< see bench_contender.hpp
  std::string type = "byte";
  std::string op = "sum";
  std::string distribution = "regular";
  int root = 0;
  bool rotate_root = false;  ///< the root of each call is the next rank
  int repetitions = 50;      ///< maximum number of observations per contender and size
  int least = 10;            ///< and minimum, if another limit is reached
  double seconds = 0;        ///< time for one size; 0: no limit
  double precision = 0;      ///< relative half width of the median's interval; 0: no limit
  int warm_up = 5;           ///< untimed calls per contender and size
  double batch = 200e-6;     ///< target duration of one observation in seconds
  int most_calls = 2000;     ///< maximum number of calls per observation
  std::vector<std::string> arrivals = {"none"};  ///< patterns, see src/arrival/pattern.hpp
  std::string sync = "barrier";
  double window = 200e-6;  ///< initial time from the agreement on a deadline to the deadline, in seconds
  std::string order = "shuffled";
  int group = 1;  ///< number of neighbours in the list of contenders that are measured one directly after the
                  ///< other
  std::string check = "once";
  std::string cache = "hot";
  std::uint64_t seed = 1;
  std::string output;
  bool footprint = false;

  bool shuffles() const { return order == "shuffled"; }
  bool checks() const { return check != "never" && !rotate_root; }
  bool checks_always() const { return check == "every" && !rotate_root; }
  bool has_windows() const { return sync == "window"; }
  bool is_cold() const { return cache == "cold"; }
  /// True if one observation is one call. (The second call of a batch would have no delay, and a warm cache.)
  /// With the shortest selectable batch, an observation is one call of any duration.
  bool is_single() const {
    constexpr double shortest_batch = 1e-6;
    return batch <= shortest_batch || arrivals.size() > 1 || arrivals[0] != "none" || has_windows() ||
           is_cold();
  }
};

inline std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ItemType& each : item_types()) names.push_back(each.name);
  return names;
}

/// Options of the subject: collective, sizes, contenders.
inline void declare_subject(Options& options, CLI::App& app) {
  app.add_option("collective", options.collective)->required()->check(CLI::IsMember(collective_names()));
  app.add_option("--sizes", options.sizes, "Bytes per block, or of the vector")->delimiter(',');
  app.add_option("--contenders", options.contenders,
                 "Algorithms of Convene's (sparbit;send=packed; clairvoyant@truth, @average, @mirrored: with "
                 "a forecast of "
                 "arrivals), native, mpi:NAME for one of the MPI's own, or "
                 "intercepted: the call as a program makes it, for runs with the drop-in library");
  app.add_option("--type", options.type, "Of the items")
      ->check(CLI::IsMember(type_names()))
      ->capture_default_str();
  app.add_option("--op", options.op, "How items are combined")
      ->check(CLI::IsMember({"sum", "max", "min"}))
      ->capture_default_str();
  app.add_option("--distribution", options.distribution, "Sizes of unequal blocks")
      ->check(CLI::IsMember(distributions()))
      ->capture_default_str();
  app.add_option("--root", options.root)->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_flag("--rotate-root", options.rotate_root,
               "Each call has the next rank as its root; results are not checked");
  app.add_option("--arrivals", options.arrivals, "Patterns of arrival, such as uniform:5ms")
      ->capture_default_str();
  app.add_option("--sync", options.sync, "What ranks start from")
      ->check(CLI::IsMember({"barrier", "window"}))
      ->capture_default_str();
  app.add_option("--window", options.window,
                 "Seconds to a common deadline, at first; grows where ranks miss it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--cache", options.cache)->check(CLI::IsMember({"hot", "cold"}))->capture_default_str();
}

/// Options of repetition, duration and order.
inline void declare_course(Options& options, CLI::App& app) {
  app.add_option("--repetitions", options.repetitions, "Observations per contender and size")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "Stop a size after this time, but not before --least observations")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--precision", options.precision,
         "Stop a size when the interval of every median is no wider than this part of it to each side")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--least", options.least)->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "Calls that do not count")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Seconds that one observation should last")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--most-calls", options.most_calls, "Calls in one observation, at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--order", options.order, "In which order contenders follow each other")
      ->check(CLI::IsMember({"shuffled", "fixed"}))
      ->capture_default_str();
  app.add_option("--group", options.group, "Neighbours in the list of contenders that stay together")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--check", options.check,
                 "How often results are looked at: after every observation, once a size, or never")
      ->check(CLI::IsMember({"every", "once", "never"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "For the order and for random arrivals")->capture_default_str();
  app.add_option("-o,--output", options.output, "Where rank 0 writes its JSON, a line for each size");
  app.add_flag("--footprint", options.footprint, "Also say how much memory a communicator costs");
}

/// Declares the options; the application must not outlive them.
inline void declare(Options& options, CLI::App& app) {
  declare_subject(options, app);
  declare_course(options, app);
}

}  // namespace convene::bench
