// SPDX-License-Identifier: BSD-3-Clause
// Measures collectives: Convene's algorithms, the MPI's own choice, and each of the MPI's own algorithms that can be
// chosen, side by side in one run. Writes every observation as JSON; `convene bench` starts it and reads that.
// Exit status: 0 done, 1 something failed (an MPI error, wrong data), 2 the request was wrong.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench_contender.hpp"
#include "bench_environment.hpp"
#include "bench_footprint.hpp"
#include "bench_measure.hpp"
#include "bench_options.hpp"

namespace convene::bench {
namespace {

using nlohmann::json;

std::vector<Contender> make_contenders(const Options& options, Forcing& forcing) {
  std::vector<Contender> contenders;
  for (const std::string& name : options.contenders)
    contenders.emplace_back(name, options.collective, forcing);
  return contenders;
}

void check_sizes(const Options& options, int procs) {
  for (const std::uint64_t size : options.sizes)
    if (size * static_cast<std::uint64_t>(procs) > INT32_MAX)
      throw RequestError("blocks of " + std::to_string(size) + " bytes from " + std::to_string(procs) +
                         " ranks are more than 2 GiB together; take smaller ones");
}

json measure_size(const Options& options, const std::vector<Contender>& contenders, std::uint64_t size,
                  int procs, int rank) {
  Data data(procs, rank, size);
  const std::string before = load();
  const Observations found = Measurement(options, contenders, data).run();
  json rows = json::array();
  for (std::size_t i = 0; i < contenders.size(); ++i)
    rows.push_back({{"name", contenders[i].name()}, {"seconds", found.seconds[i]}});
  return {{"bytes", size}, {"calls", found.calls}, {"load", {before, load()}}, {"contenders", rows}};
}

json asked_for(const Options& options) {
  return {{"repetitions", options.repetitions},
          {"least", options.least},
          {"seconds", options.seconds},
          {"warm_up", options.warm_up},
          {"batch", options.batch},
          {"most_calls", options.most_calls},
          {"order", options.order},
          {"group", options.group},
          {"check", options.check},
          {"seed", options.seed}};
}

/// Whoever waits for the run sees how far it is.
void report_progress(int rank, std::size_t done, std::size_t all) {
  if (rank != 0) return;
  std::printf("progress %zu %zu\n", done, all);
  std::fflush(stdout);
}

json measure(const Options& options, int procs, int rank) {
  check_sizes(options, procs);
  Forcing forcing(options.collective);
  json result = {{"format", 1},
                 {"collective", options.collective},
                 {"procs", procs},
                 {"stack", CONVENE_STACK_NAME},
                 {"convene", convene_version()},
                 {"options", asked_for(options)},
                 {"environment", environment(procs)},
                 {"selectable", forcing.names()}};
  if (options.footprint) result["footprint"] = footprint();
  std::vector<Contender> contenders = make_contenders(options, forcing);
  json sizes = json::array();
  for (const std::uint64_t size : options.sizes) {
    report_progress(rank, sizes.size(), options.sizes.size());
    sizes.push_back(measure_size(options, contenders, size, procs, rank));
  }
  report_progress(rank, sizes.size(), options.sizes.size());
  result["sizes"] = sizes;
  for (Contender& contender : contenders) contender.free();
  return result;
}

void write(const json& result, const std::string& path) {
  if (path.empty()) {
    std::cout << result.dump() << std::endl;
    return;
  }
  std::ofstream file(path);
  file << result.dump() << '\n';
  if (!file.flush()) throw RequestError("the file " + path + " cannot be written");
}

/// The same sentence on all ranks: one of them says it.
int complain(int rank, const char* sentence, int status) {
  if (rank == 0) std::fprintf(stderr, "convene-bench: %s\n", sentence);
  return status;
}

int run(int argc, char** argv, int procs, int rank) {
  Options options;
  CLI::App app("Measures an MPI collective by several algorithms, interleaved");
  declare(options, app);
  try {
    app.parse(argc, argv);
    const json result = measure(options, procs, rank);
    if (rank == 0) write(result, options.output);
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return rank == 0 ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    return complain(rank, error.what(), 2);
  } catch (const RequestError& error) {
    return complain(rank, error.what(), 2);
  } catch (const std::exception& error) {
    return complain(rank, error.what(), 1);
  }
}

}  // namespace
}  // namespace convene::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int procs = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = convene::bench::run(argc, argv, procs, rank);
  MPI_Finalize();
  return status;
}
