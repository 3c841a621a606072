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
  std::vector<std::string> traces;  ///< texts of the traces that the patterns name, see bench_arrivals.hpp
  std::string sync = "barrier";
  double window = 200e-6;  ///< initial time from the agreement on a deadline to the deadline, in seconds
  std::string order = "shuffled";
  int group = 1;  ///< number of neighbours in the list of contenders that are measured one directly after the
                  ///< other
  std::string check = "once";
  std::string cache = "hot";
  std::uint64_t seed = 1;
  std::string output;
  bool returns = false;
  bool footprint = false;

  bool shuffles() const { return order == "shuffled"; }
  bool checks() const { return check != "never" && !rotate_root; }
  bool checks_always() const { return check == "every" && !rotate_root; }
  bool has_windows() const { return sync == "window"; }
  bool is_cold() const { return cache == "cold"; }
  bool rotates_buffers() const { return cache == "rotating"; }
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
  app.add_option(
      "--contenders", options.contenders,
      "Convene's algorithms (sparbit;send=packed; with a forecast: clairvoyant@truth, @average, @mirrored), "
      "native, mpi:NAME for a native algorithm by name, or intercepted: the call of the drop-in library");
  app.add_option("--type", options.type, "Type of the items")
      ->check(CLI::IsMember(type_names()))
      ->capture_default_str();
  app.add_option("--op", options.op, "Operator of reductions")
      ->check(CLI::IsMember({"sum", "max", "min"}))
      ->capture_default_str();
  app.add_option("--distribution", options.distribution, "Distribution of unequal block sizes")
      ->check(CLI::IsMember(distributions()))
      ->capture_default_str();
  app.add_option("--root", options.root)->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_flag("--rotate-root", options.rotate_root,
               "Use the next rank as the root of each call; do not check results");
  app.add_option("--arrivals", options.arrivals, "Arrival patterns, such as uniform:5ms")
      ->capture_default_str();
  app.add_option(
      "--traces", options.traces,
      "Texts of the traces of trace:NAME, in pieces; without them, rank 0 reads files of these names");
  app.add_option("--sync", options.sync, "Synchronisation of ranks")
      ->check(CLI::IsMember({"barrier", "window"}))
      ->capture_default_str();
  app.add_option("--window", options.window,
                 "Seconds to the first common deadline; increased when ranks miss it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--cache", options.cache)
      ->check(CLI::IsMember({"hot", "rotating", "cold"}))
      ->capture_default_str();
}

/// Options of repetition, duration and order.
inline void declare_course(Options& options, CLI::App& app) {
  app.add_option("--repetitions", options.repetitions, "Observations per contender and size")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "Stop a size after this time, but not before --least observations")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--precision", options.precision,
                 "Stop a size when the interval of every median is within this fraction on each side")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--least", options.least)->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "Warm-up calls")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Duration of one observation in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--most-calls", options.most_calls, "Maximum number of calls in one observation")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--order", options.order, "Order of the contenders")
      ->check(CLI::IsMember({"shuffled", "fixed"}))
      ->capture_default_str();
  app.add_option("--group", options.group, "Number of adjacent contenders that stay together")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--check", options.check, "Check results after every observation, once per size, or never")
      ->check(CLI::IsMember({"every", "once", "never"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the order and of random arrivals")->capture_default_str();
  app.add_option("-o,--output", options.output, "JSON output of rank 0, a line for each size");
  app.add_flag("--return", options.returns,
               "Print the output as lines if the file does not exist on rank 0's node");
  app.add_flag("--footprint", options.footprint, "Also measure the memory of a communicator");
}

/// Declares the options; the application must not outlive them.
inline void declare(Options& options, CLI::App& app) {
  declare_subject(options, app);
  declare_course(options, app);
}

}  // namespace convene::bench
