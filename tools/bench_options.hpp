// SPDX-License-Identifier: BSD-3-Clause
// What a benchmark run is asked to do.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace convene::bench {

struct Options {
  std::string collective;
  std::vector<std::uint64_t> sizes;     ///< bytes per block
  std::vector<std::string> contenders;  ///< see bench_contender.hpp
  int repetitions = 50;                 ///< observations per contender and size, at most
  int least = 10;                       ///< and at least, where the time is up
  double seconds = 0;                   ///< time for one size; 0: no limit
  int warm_up = 5;                      ///< calls per contender and size that do not count
  double batch = 200e-6;                ///< seconds that one observation should last
  int most_calls = 2000;                ///< calls in one observation, at most
  std::string order = "shuffled";
  int group = 1;  ///< so many neighbours in the list of contenders are measured one directly after the other
  std::string check = "once";
  std::uint64_t seed = 1;
  std::string output;
  bool footprint = false;

  bool shuffles() const { return order == "shuffled"; }
  bool checks_always() const { return check == "every"; }
};

/// Declares the options; the application must not outlive them.
inline void declare(Options& options, CLI::App& app) {
  app.add_option("collective", options.collective)
      ->required()
      ->check(CLI::IsMember({"allgather", "allgatherv"}));
  app.add_option("--sizes", options.sizes, "Bytes per block")->delimiter(',');
  app.add_option(
      "--contenders", options.contenders,
      "Algorithms of Convene's (sparbit;send=packed), native, mpi:NAME for one of the MPI's own, or "
      "intercepted: the call as a program makes it, for runs with the drop-in library");
  app.add_option("--repetitions", options.repetitions, "Observations per contender and size")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "Stop a size after this time, but not before --least observations")
      ->check(CLI::NonNegativeNumber);
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
                 "How often results are looked at: once a size, or after every observation")
      ->check(CLI::IsMember({"once", "every"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "For the order")->capture_default_str();
  app.add_option("-o,--output", options.output, "Where rank 0 writes its JSON");
  app.add_flag("--footprint", options.footprint, "Also say how much memory a communicator costs");
}

}  // namespace convene::bench
