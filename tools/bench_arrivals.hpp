// SPDX-License-Identifier: BSD-3-Clause
// Arrival patterns of a benchmark run. Rank 0 reads the traces that they name, and broadcasts them: nodes
// need not share files.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrival/pattern.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "bench_options.hpp"

namespace convene::bench {

/// Traces as they are on a command line: values between commas, lines between slashes, traces between
/// semicolons, and the whole in pieces, because systems limit the length of a word.
inline std::vector<std::string> join_traces(const std::vector<std::string>& pieces) {
  std::vector<std::string> traces(pieces.empty() ? 0 : 1);
  for (const std::string& piece : pieces)
    for (const char each : piece) {
      if (each == ';')
        traces.emplace_back();
      else
        traces.back() += each == '/' ? '\n' : each;
    }
  return traces;
}

/// Collective: the text of rank 0 on all ranks.
inline std::string broadcast_text(std::string text, int rank) {
  std::uint64_t size = text.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank != 0) text.resize(size);
  constexpr std::uint64_t most = 1 << 30;
  for (std::uint64_t at = 0; at < size; at += most)
    MPI_Bcast(text.data() + at, static_cast<int>(std::min(size - at, most)), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

/// Parses patterns, and finds the traces that they name. `find`: name → Trace.
inline std::vector<Pattern> parse_patterns(const std::vector<std::string>& texts, const TraceReader& find) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) patterns.push_back(Pattern::parse(text, find));
  return patterns;
}

/// Collective: the patterns of the options on all ranks. Throws the same Error on all ranks.
inline std::vector<Pattern> make_patterns(const Options& options, int procs, int rank) {
  nlohmann::json traces = nlohmann::json::object(), failure;
  if (rank == 0) {
    try {
      const std::vector<std::string> given = join_traces(options.traces);
      std::size_t next = 0;
      parse_patterns(options.arrivals, [&](const std::string& name) {
        Trace trace = next < given.size() ? Trace::parse(given[next++], in_quotes(name)) : Trace::read(name);
        traces[name] = trace.text();
        return trace;
      });
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  const nlohmann::json found = {{"traces", traces}, {"failure", failure}};
  const nlohmann::json all = nlohmann::json::parse(broadcast_text(found.dump(-1, ' ', true, replace), rank));
  if (all["failure"].is_string()) throw Error("on the node of rank 0: " + all["failure"].get<std::string>());
  std::vector<Pattern> patterns = parse_patterns(options.arrivals, [&](const std::string& name) {
    return Trace::parse(all["traces"].at(name).get<std::string>(), in_quotes(name));
  });
  for (const Pattern& pattern : patterns)
    pattern.delays(static_cast<std::uint32_t>(procs));  // throws if it does not fit
  return patterns;
}

}  // namespace convene::bench
