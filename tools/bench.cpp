// SPDX-License-Identifier: BSD-3-Clause
// Benchmark of collectives: Convene's algorithms, the native choice, and each selectable native algorithm,
// interleaved in one run. Writes every observation as lines of JSON; `convene bench` starts it and reads
// them. Exit status: 0 done, 1 failed (an MPI error, wrong data), 2 an invalid request.
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "bench_arrivals.hpp"
#include "bench_clock.hpp"
#include "bench_contender.hpp"
#include "bench_environment.hpp"
#include "bench_footprint.hpp"
#include "bench_measure.hpp"
#include "bench_options.hpp"
#include "result_output.hpp"

namespace convene::bench {
namespace {

using nlohmann::json;

std::vector<Contender> make_contenders(const Options& options, Forcing& forcing, std::size_t patterns) {
  std::vector<Contender> contenders;
  for (const std::string& name : options.contenders)
    contenders.emplace_back(name, options.collective, forcing, patterns);
  return contenders;
}

void check_request(const Options& options, int procs) {
  const Collective collective = collective_of(options.collective);
  if (options.root >= procs)
    throw RequestError("root " + std::to_string(options.root) + " is out of range (" + std::to_string(procs) +
                       " ranks)");
  if (is_reduction(collective) && options.type == "byte")
    throw RequestError("bytes cannot be combined; use another type for " + options.collective);
  if (!is_irregular(collective) && options.distribution != "regular")
    throw RequestError(options.collective + " has blocks of equal size; leave out the distribution " +
                       options.distribution);
  const std::uint64_t most_blocks = options.distribution == "regular" ? 1 : static_cast<std::uint64_t>(procs);
  const std::uint64_t blocks = is_of_vectors(collective) ? 1 : static_cast<std::uint64_t>(procs);
  const std::size_t item = item_type(options.type).bytes;
  for (const std::uint64_t size : options.sizes) {
    if (size * blocks * most_blocks > INT32_MAX)
      throw RequestError("blocks of " + format_size(size) + " from " + std::to_string(procs) +
                         " ranks exceed 2 GiB; use smaller blocks");
    if (size % item != 0)
      throw RequestError("a size of " + std::to_string(size) + " B is not a whole number of items of type " +
                         options.type + "; use a multiple of " + std::to_string(item));
  }
}

json asked_for(const Options& options) {
  return {{"repetitions", options.repetitions},
          {"least", options.least},
          {"seconds", options.seconds},
          {"precision", options.precision},
          {"warm_up", options.warm_up},
          {"batch", options.batch},
          {"most_calls", options.most_calls},
          {"type", options.type},
          {"op", options.op},
          {"distribution", options.distribution},
          {"root", options.root},
          {"rotate_root", options.rotate_root},
          {"arrivals", options.arrivals},
          {"sync", options.sync},
          {"cache", options.cache},
          {"order", options.order},
          {"group", options.group},
          {"check", options.check},
          {"seed", options.seed}};
}

/// Rank 0's file: a line for the run, then one for each size and pattern as soon as it is measured, so that a
/// run that ends early loses nothing.
class Output {
 public:
  Output(const Options& options, int rank) : path_(options.output) {
    if (rank == 0) output_.emplace(path_, options.returns);
  }

  /// Collective: if rank 0 cannot write, all ranks end.
  void write(const json& line) {
    int error = 0;
    if (output_) error = output_->write(line.dump() + '\n');
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (error) throw RequestError(ResultOutput::sentence(path_, error));
  }

 private:
  std::string path_;
  std::optional<ResultOutput> output_;  // of rank 0
};

/// Reports progress: in sizes, with fractions.
void report_progress(double done, std::size_t all) {
  std::printf("progress %.3f %zu\n", done, all);
  std::fflush(stdout);
}

void measure(const Options& options, int procs, int rank) {
  check_request(options, procs);
  const std::vector<Pattern> patterns = make_patterns(options, procs, rank);
  Output output(options, rank);
  Forcing forcing(options.collective);
  Clock clock;
  json head = {{"format", 2},
               {"collective", options.collective},
               {"procs", procs},
               {"stack", CONVENE_STACK_NAME},
               {"convene", convene_version()},
               {"options", asked_for(options)},
               {"environment", environment(procs)},
               {"crowded", clock.is_crowded()},
               {"selectable", forcing.names()}};
  if (options.footprint) head["footprint"] = footprint();
  std::vector<Contender> contenders = make_contenders(options, forcing, patterns.size());
  output.write(head);
  for (std::size_t done = 0; done < options.sizes.size(); ++done) {
    Data data({.collective = collective_of(options.collective),
               .procs = procs,
               .rank = rank,
               .root = options.root,
               .rotates_root = options.rotate_root,
               .rotates_buffers = options.rotates_buffers(),
               .type = options.type,
               .op = options.op,
               .distribution = options.distribution},
              options.sizes[done]);
    const std::string before = load();
    const auto progress = [&](double part) {
      report_progress(static_cast<double>(done) + part, options.sizes.size());
    };
    clock.update();
    Measurement measurement(options, contenders, patterns, clock, data, progress);
    std::vector<json> cells = measurement.run();
    clock.update();
    const json clocks = clock.describe();
    for (json& cell : cells) {
      cell["load"] = {before, load()};
      cell["clock"] = clocks;
      output.write(cell);
    }
  }
  for (Contender& contender : contenders) contender.free();
}

/// The same sentence on all ranks: one rank prints it.
int complain(int rank, const char* sentence, int status) {
  if (rank == 0) std::fprintf(stderr, "convene-bench: %s\n", sentence);
  return status;
}

int run(int argc, char** argv, int procs, int rank) {
  Options options;
  CLI::App app("Measures algorithms of an MPI collective, interleaved");
  declare(options, app);
  try {
    app.parse(argc, argv);
    measure(options, procs, rank);
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return rank == 0 ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    return complain(rank, error.what(), 2);
  } catch (const RequestError& error) {
    return complain(rank, error.what(), 2);
  } catch (const Error& error) {
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
