// SPDX-License-Identifier: BSD-3-Clause
#include "decide/mismatch_text.hpp"

#include <string_view>

#include "base/sizes.hpp"

namespace convene::decide {

namespace {

/// Clauses, separated by semicolons.
class Clauses {
 public:
  void add(const std::string& clause) {
    if (!text_.empty()) text_ += "; ";
    text_ += clause;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A number that must be equal or within bounds: "needs 2 to 4 ranks, this call has 6".
std::string count_text(const Bounds& bounds, std::string_view unit, Rank actual) {
  const std::string least = std::to_string(bounds.least), most = std::to_string(bounds.most);
  std::string wanted = bounds.least == bounds.most ? most
                       : bounds.most == UINT64_MAX ? "at least " + least
                       : bounds.least <= 1         ? "at most " + most
                                                   : least + " to " + most;
  const bool is_one = bounds.most == 1 || (bounds.most == UINT64_MAX && bounds.least == 1);
  wanted.append(" ").append(unit.substr(0, unit.find(' '))).append(is_one ? "" : "s");
  if (unit.find(' ') != std::string_view::npos) wanted.append(unit.substr(unit.find(' ')));
  return "needs " + wanted + ", this call has " + std::to_string(actual);
}

std::string bytes_text(const Bounds& bounds, const CallContext& context) {
  const std::string what = has_one_vector(context.collective) ? "vector" : "block";
  const std::uint64_t actual = context.block_bytes();
  if (bounds.least == bounds.most)
    return "needs a " + what + " of " + format_size(bounds.most) + ", this call has " + format_size(actual);
  const bool is_above = actual > bounds.most;
  return what + " of " + format_size(actual) +
         (is_above ? " is above the maximum of " : " is below the minimum of ") +
         format_size(is_above ? bounds.most : bounds.least);
}

void add_counts(Clauses& clauses, const Mismatch& mismatch, const CallContext& context, const Bounds& procs,
                const Bounds& nodes, const Bounds& ranks_per_node) {
  if (mismatch.procs) clauses.add(count_text(procs, "rank", context.procs));
  if (mismatch.nodes) clauses.add(count_text(nodes, "node", context.nodes));
  if (mismatch.ranks_per_node)
    clauses.add(count_text(ranks_per_node, "rank per node", context.ranks_per_node));
}

}  // namespace

std::string mismatch_text(const Rule& rule, const CallContext& context) {
  const Mismatch mismatch = rule.mismatch(context);
  if (mismatch.collective) return "is for " + std::string(name(rule.collective));
  Clauses clauses;
  add_counts(clauses, mismatch, context, rule.procs, rule.nodes, rule.ranks_per_node);
  if (mismatch.bytes) clauses.add(bytes_text(rule.bytes, context));
  return clauses.text();
}

std::string mismatch_text(const WisdomEntry& entry, const CallContext& context) {
  const Mismatch mismatch = entry.mismatch(context);
  if (mismatch.collective) return "is for " + std::string(name(entry.collective));
  Clauses clauses;
  add_counts(clauses, mismatch, context, {entry.procs, entry.procs}, {entry.nodes, entry.nodes},
             {entry.ranks_per_node, entry.ranks_per_node});
  if (mismatch.bytes) clauses.add(bytes_text(entry.bytes, context));
  if (mismatch.shares_cores)
    clauses.add(entry.shares_cores
                    ? "measured with more ranks than cores, this call has a core for each rank"
                    : "measured with a core for each rank, this call has more ranks than cores");
  return clauses.text();
}

std::string machine_mismatch_text(const WisdomEntry& entry, const MachineKey& here) {
  Clauses clauses;
  const auto compare = [&](const std::string& there, const std::string& actual, const char* what) {
    if (there != actual)
      clauses.add("measured with " + (there.empty() ? "no " + std::string(what) : there) + ", this is " +
                  (actual.empty() ? "an unknown " + std::string(what) : actual));
  };
  compare(entry.place.mpi, here.mpi, "MPI");
  compare(entry.place.cpu, here.cpu, "processor");
  if (entry.place.cores != here.cores)
    clauses.add("measured on nodes with " + std::to_string(entry.place.cores) + " cores, this one has " +
                std::to_string(here.cores));
  if (entry.nodes > 1 && entry.place.network != here.network)
    clauses.add("measured with " +
                (entry.place.network.empty() ? "no RDMA device" : "network " + entry.place.network) +
                ", this is a node with " + (here.network.empty() ? "none" : here.network));
  return clauses.text();
}

}  // namespace convene::decide
