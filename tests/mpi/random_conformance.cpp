// SPDX-License-Identifier: BSD-3-Clause
// Random collective calls, each executed by Convene and natively: their results must be equal byte for byte.
//
//   random_conformance [--calls N] [--seed S] [--minutes M] [--collective NAME] [--interposed] [--verbose]
//
// Collectives, algorithms with their parameters, counts, datatypes, roots, in-place, communicators, blocking
// calls and several non-blocking ones at once, with a blocking one among them, are drawn from the seed; a
// failure prints the options that repeat it. The algorithms are listed in CONVENE_TEST_SPECS, a line
// "COLLECTIVE SPEC" each. With
// --interposed the program calls MPI_… instead of convene_…, so it needs the drop-in library, with the
// algorithms of CONVENE_USE.
#include <convene/convene.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "random_parts.hpp"

namespace {

/// A datatype of four ints an item, or one that takes four items for it.
struct Type {
  MPI_Datatype handle;
  int items;               // for one unit of four ints
  MPI_Aint extent, reach;  // bytes from one unit to the next; extent of a unit to either side
};

std::vector<Type> make_types() {
  std::vector<Type> types;
  const auto add = [&](MPI_Datatype type, int items) {
    if (type != MPI_INT) MPI_Type_commit(&type);
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    types.push_back(
        {type, items, extent * items, std::abs(true_lower) + true_extent + std::abs(extent) * items});
  };
  MPI_Datatype made, inner;
  add(MPI_INT, 4);
  MPI_Type_contiguous(4, MPI_INT, &made);
  add(made, 1);
  MPI_Type_contiguous(2, MPI_INT, &made);
  add(made, 2);
  MPI_Type_vector(2, 2, 3, MPI_INT, &made);
  add(made, 1);
  const int lengths[] = {1, 3}, displacements[] = {5, 0};
  MPI_Type_indexed(2, lengths, displacements, MPI_INT, &made);
  add(made, 1);
  const int counts[] = {3, 1};
  const MPI_Aint at[] = {0, 20};
  const MPI_Datatype of[] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, counts, at, of, &made);
  add(made, 1);
  MPI_Type_vector(2, 2, 4, MPI_INT, &inner);
  MPI_Type_create_resized(inner, -8, 40, &made);
  MPI_Type_free(&inner);
  add(made, 1);
  return types;
}

/// Memory with guards around a buffer, to detect writes outside it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t margin) : margin_(margin), memory_(bytes + 2 * margin) {}
  void* at() { return memory_.data() + margin_; }
  std::vector<unsigned char>& all() { return memory_; }

 private:
  std::size_t margin_;
  std::vector<unsigned char> memory_;
};

const char* const collectives[] = {"allgather", "allgatherv", "gather",    "gatherv",   "scatter", "scatterv",
                                   "bcast",     "alltoall",   "alltoallv", "alltoallw", "barrier"};
bool has_arrays(const std::string& name) { return name.back() == 'v' || name.back() == 'w'; }

/// One call with all its arguments, twice: for Convene, and for the MPI.
struct Call {
  std::string collective, spec, comm_name;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, procs = 1, root = 0;
  bool in_place = false;
  const Type *send = nullptr, *recv = nullptr;
  std::vector<MPI_Datatype> send_types, recv_types;  // of alltoallw
  int units = 0;                                     // of a block, if all are equal
  std::vector<int> send_counts, send_at, recv_counts, recv_at;
  std::unique_ptr<Guarded> input, output[2];

  bool is(const char* name) const { return collective == name; }
  bool is_between_pairs() const { return is("alltoallv") || is("alltoallw"); }
  bool is_rooted() const { return collective[0] == 'g' || collective[0] == 's' || collective[0] == 'b'; }
  std::string in_words() const {
    std::ostringstream text;
    text << collective << '=' << spec << " on " << comm_name << " of " << procs << ", root " << root << ", "
         << units << " units" << (in_place ? ", in place" : "");
    return text.str();
  }
};

/// Counts and displacements of blocks in items of a type, with gaps, in a random order.
void lay_out(const std::vector<int>& units, const Type& type, Random& mine, std::vector<int>& counts,
             std::vector<int>& at) {
  std::vector<std::size_t> order(units.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), mine);
  counts.resize(units.size());
  at.resize(units.size());
  int next = 0;
  for (const std::size_t block : order) {
    next += below(mine, 3) * type.items;
    counts[block] = units[block] * type.items;
    at[block] = next;
    next += counts[block];
  }
}

/// The same with a type per block. Displacements are in bytes; returns how many there are.
MPI_Aint lay_out(const std::vector<int>& units, const std::vector<const Type*>& types, Random& mine,
                 std::vector<int>& counts, std::vector<int>& at) {
  std::vector<std::size_t> order(units.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), mine);
  counts.resize(units.size());
  at.resize(units.size());
  MPI_Aint next = 0;
  for (const std::size_t block : order) {
    const Type& type = *types[block];
    next += type.reach + 4 * below(mine, 3);  // types reach to either side
    counts[block] = units[block] * type.items;
    at[block] = static_cast<int>(next);
    next += units[block] * type.extent + type.reach;
  }
  return next;
}

int reach(const std::vector<int>& counts, const std::vector<int>& at) {
  int most = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) most = std::max(most, at[i] + counts[i]);
  return most;
}

int random_units(Random& shared) {
  switch (below(shared, 8)) {
    case 0:
      return 0;
    case 1:
      return below(shared, 20000);
    case 2:
      return below(shared, 1000);
    default:
      return below(shared, 20);
  }
}

const Type& one_of(const std::vector<Type>& types, int items, Random& mine, bool without_gaps = false) {
  constexpr MPI_Aint dense = 4 * sizeof(int);
  for (;;) {
    const Type& type = types[static_cast<std::size_t>(below(mine, static_cast<int>(types.size())))];
    if (type.items == items && (!without_gaps || type.extent == dense)) return type;
  }
}

/// `shared` is the same on all ranks, `mine` is not.
void fill_in(Call& call, const std::vector<Type>& types, bool outstanding, Random& shared, Random& mine) {
  call.root = below(shared, call.procs);
  call.in_place = below(shared, 4) == 0 && !call.is("bcast");
  // Native calls in place that are wrong: Open MPI's alltoallv for types with gaps, its non-blocking one for
  // any, its alltoallw (open-mpi/ompi#9329); MPICH's non-blocking alltoallw (pmodels/mpich#6404).
#ifdef OPEN_MPI
  call.in_place = call.in_place && !(outstanding && call.is_between_pairs()) && !call.is("alltoallw");
  const bool without_gaps = call.in_place && call.is_between_pairs();
#else
  call.in_place = call.in_place && !(outstanding && call.is("alltoallw"));
  const bool without_gaps = false;
#endif
  call.units = random_units(shared);
  // Counts of equal size on all ranks, and in allgatherv equal types, although MPI only requires equal
  // signatures: Open MPI chooses the algorithm of an allgatherv by the size of the rank's own send type,
  // MPICH cuts its messages by the extent of its own receive type.
  const int items = below(shared, 2) == 0 ? 1 : 1 << below(shared, 3);
  Random same = shared;
  call.send = &one_of(types, items, call.is("allgatherv") ? same : mine);
  call.recv = &one_of(types, items, call.is("allgatherv") ? same : mine, without_gaps);
  const auto n = static_cast<std::size_t>(call.procs), me = static_cast<std::size_t>(call.rank);
  std::vector<std::vector<int>> units(n, std::vector<int>(n, call.units));  // by source and target
  for (auto& row : units)
    for (int& each : row)
      if (has_arrays(call.collective)) each = below(shared, 3) == 0 ? 0 : below(shared, call.units + 2);
  if (call.in_place && call.is_between_pairs())  // received blocks must fit the places of the sent ones
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < a; ++b) units[a][b] = units[b][a];
  const bool one = call.is("allgatherv") || call.is("gatherv");  // a rank's block is the same for all ranks
  std::vector<int> sent = one ? std::vector<int>{units[me][0]}
                              : units[call.is("scatterv") ? static_cast<std::size_t>(call.root) : me];
  std::vector<int> got(n);
  for (std::size_t source = 0; source < n; ++source) got[source] = one ? units[source][0] : units[source][me];
  if (call.is("scatterv")) got = {units[static_cast<std::size_t>(call.root)][me]};
  if (!has_arrays(call.collective)) {
    const bool all_in = call.is("scatter") || call.is("alltoall"),
               all_out = !call.is("scatter") && !call.is("bcast");
    sent.assign(all_in ? n : 1, call.units);
    got.assign(all_out ? n : 1, call.units);
  }
  if (call.is("barrier")) sent = got = {0};
  MPI_Aint sent_bytes = 0, got_bytes = 0;
  if (call.is("alltoallw")) {
    std::vector<const Type*> from, to;
    for (std::size_t i = 0; i < n; ++i) {
      from.push_back(&one_of(types, items, mine));
      to.push_back(&one_of(types, items, mine, without_gaps));
      call.send_types.push_back(from.back()->handle);
      call.recv_types.push_back(to.back()->handle);
    }
    sent_bytes = lay_out(sent, from, mine, call.send_counts, call.send_at);
    got_bytes = lay_out(got, to, mine, call.recv_counts, call.recv_at);
#ifdef OPEN_MPI  // on one rank it takes displacements as multiples of the extent (4.1.4, 5.0)
    if (n == 1) call.send_at[0] = call.recv_at[0] = 0;
#endif
  } else if (has_arrays(call.collective)) {
    lay_out(sent, *call.send, mine, call.send_counts, call.send_at);
    lay_out(got, *call.recv, mine, call.recv_counts, call.recv_at);
    if (sent.size() == 1) call.send_at = {0};
    if (got.size() == 1) call.recv_at = {0};
  } else {
    call.send_counts.assign(sent.size(), call.units * call.send->items);
    call.recv_counts.assign(got.size(), call.units * call.recv->items);
    for (std::size_t i = 0; i < sent.size(); ++i)
      call.send_at.push_back(static_cast<int>(i) * call.send_counts[0]);
    for (std::size_t i = 0; i < got.size(); ++i)
      call.recv_at.push_back(static_cast<int>(i) * call.recv_counts[0]);
  }
  const auto bytes = [](const std::vector<int>& counts, const std::vector<int>& at, const Type& type) {
    return static_cast<std::size_t>(reach(counts, at)) * static_cast<std::size_t>(type.extent / type.items);
  };
  const auto guarded = [&](std::size_t size, const Type& type) {
    constexpr std::size_t longest = 128;  // of all types' reaches
    return std::make_unique<Guarded>(
        size, call.is("alltoallw") ? longest : static_cast<std::size_t>(type.reach) + 16);
  };
  if (!call.is("alltoallw")) {
    sent_bytes = static_cast<MPI_Aint>(bytes(call.send_counts, call.send_at, *call.send));
    got_bytes = static_cast<MPI_Aint>(bytes(call.recv_counts, call.recv_at, *call.recv));
  }
  call.input = guarded(static_cast<std::size_t>(sent_bytes), *call.send);
  call.output[0] = guarded(static_cast<std::size_t>(got_bytes), *call.recv);
  for (auto* buffer : {call.input.get(), call.output[0].get()})
    for (unsigned char& byte : buffer->all()) byte = static_cast<unsigned char>(mine());
  call.output[1] = std::make_unique<Guarded>(*call.output[0]);
}

/// Executes the call, by Convene (0) or natively (1); with a request it is only started.
int run(Call& call, int by, bool interposed, MPI_Request* request) {
  const bool is_root = call.rank == call.root;
  const bool send_in_place = call.in_place && (!call.is_rooted() || (is_root && call.collective[0] == 'g'));
  const bool recv_in_place = call.in_place && is_root && call.collective[0] == 's';
  const void* in = send_in_place ? MPI_IN_PLACE : call.input->at();
  void* out = recv_in_place ? MPI_IN_PLACE : call.output[by]->at();
  const int sends = call.send_counts[0], receives = call.recv_counts[0], root = call.root;
  const int *scounts = call.send_counts.data(), *sat = call.send_at.data();
  const int *rcounts = call.recv_counts.data(), *rat = call.recv_at.data();
  const MPI_Datatype *const sts = call.send_types.data(), *const rts = call.recv_types.data();
  const MPI_Datatype st = call.send->handle, rt = call.recv->handle;
  const MPI_Comm comm = call.comm;
#define ONE(ours, own, theirs, ...) \
  return by == 1 ? theirs(__VA_ARGS__) : interposed ? own(__VA_ARGS__) : ours(__VA_ARGS__)
#define DO(name, NAME, ...)                                                                   \
  if (call.is(#name)) {                                                                       \
    if (request) ONE(convene_i##name, MPI_I##name, PMPI_I##name, __VA_ARGS__, comm, request); \
    ONE(convene_##name, MPI_##NAME, PMPI_##NAME, __VA_ARGS__, comm);                          \
  }
  DO(allgather, Allgather, in, sends, st, out, receives, rt)
  DO(allgatherv, Allgatherv, in, sends, st, out, rcounts, rat, rt)
  DO(gather, Gather, in, sends, st, out, receives, rt, root)
  DO(gatherv, Gatherv, in, sends, st, out, rcounts, rat, rt, root)
  DO(scatter, Scatter, in, sends, st, out, receives, rt, root)
  DO(scatterv, Scatterv, in, scounts, sat, st, out, receives, rt, root)
  DO(bcast, Bcast, out, receives, rt, root)
  DO(alltoall, Alltoall, in, sends, st, out, receives, rt)
  DO(alltoallv, Alltoallv, in, scounts, sat, st, out, rcounts, rat, rt)
  DO(alltoallw, Alltoallw, in, scounts, sat, sts, out, rcounts, rat, rts)
#undef DO
  if (request) ONE(convene_ibarrier, MPI_Ibarrier, PMPI_Ibarrier, comm, request);
  ONE(convene_barrier, MPI_Barrier, PMPI_Barrier, comm);
#undef ONE
}

class Test {
 public:
  Test(int calls, double seconds, std::uint64_t seed, std::string only, bool interposed, bool verbose)
      : calls_(calls),
        seconds_(seconds),
        seed_(seed),
        only_(std::move(only)),
        interposed_(interposed),
        verbose_(verbose) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    std::istringstream lines(std::getenv("CONVENE_TEST_SPECS") ? std::getenv("CONVENE_TEST_SPECS") : "");
    bool shares_memory = false;
    for (std::string collective, spec; lines >> collective >> spec;) {
      specs_[collective].push_back(spec);
      shares_memory = shares_memory || shares_node_memory(spec);
    }
    for (const Comm& comm : comms_)
      if (shares_memory && !interposed_) settle(comm.handle);
  }

  int run_all() {
    const double end = MPI_Wtime() + seconds_;
    int done = 0, batch = 0;
    for (bool more = true; more; ++batch) {
      done += run_batch(batch);
      int go = seconds_ > 0 ? MPI_Wtime() < end : done < calls_;
      PMPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
      more = go != 0 && failures_ == 0;
    }
    int all = 0;
    PMPI_Allreduce(&failures_, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ == 0)
      std::printf("%d calls, seed %llu: %s\n", done, static_cast<unsigned long long>(seed_),
                  all == 0 ? "all right" : "WRONG");
    return all == 0 ? 0 : 1;
  }

 private:
  /// Lets Convene map shared memory for non-blocking calls, which cannot do it themselves.
  static void settle(MPI_Comm comm) {
    std::vector<char> bytes(200'000);
    MPI_Request request;
    convene_use(comm, "bcast=hier(binomial,shared)");
    convene_bcast(bytes.data(), 1, MPI_CHAR, 0, comm);
    convene_ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    convene_bcast(bytes.data(), 1, MPI_CHAR, 0, comm);
  }

  /// Some calls at once, or one alone.
  int run_batch(int batch) {
    Random shared(seed_ * 1000003 + static_cast<std::uint64_t>(batch));
    Random mine(shared() + static_cast<std::uint64_t>(rank_) * 7919);
    const bool outstanding = below(shared, 3) == 0;
    std::vector<Call> calls(outstanding ? static_cast<std::size_t>(1 + below(shared, 6)) : 1);
    const std::size_t blocking = static_cast<std::size_t>(below(shared, 12));  // if it is that of a call
    for (Call& call : calls) {
      draw(call, outstanding, shared, mine);
      if (!verbose_ || rank_ != 0) continue;
      const bool is_blocking = !outstanding || &call == calls.data() + blocking;
      std::printf("%d%s: %s\n", batch, is_blocking ? "" : " non-blocking", call.in_words().c_str());
      std::fflush(stdout);
    }
    for (Call& call : calls) call_or_fail(run(call, 1, false, nullptr), call, batch);
    if (!outstanding) {
      call_or_fail(run_by_convene(calls[0], nullptr), calls[0], batch);
    } else {
      finish_in_a_random_way(calls, blocking, mine, batch);
    }
    for (Call& call : calls) compare(call, batch);
    // All ranks must know of a rank's failure before the next batch.
    int worst = failures_;
    PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    failures_ = std::max(failures_, worst > failures_ ? worst : failures_);
    return static_cast<int>(calls.size());
  }

  void draw(Call& call, bool outstanding, Random& shared, Random& mine) {
    call.collective =
        only_.empty() ? collectives[below(shared, static_cast<int>(std::size(collectives)))] : only_;
    const auto& specs = specs_[call.collective];
    call.spec = specs.empty()
                    ? "native"
                    : specs[static_cast<std::size_t>(below(shared, static_cast<int>(specs.size())))];
    // Native non-blocking calls are not under test; Open MPI 4 hangs in several of them at once.
    if (outstanding && call.spec == "native" && specs.size() > 1) call.spec = specs[1];
    const Comm& comm = comms_[static_cast<std::size_t>(below(shared, static_cast<int>(comms_.size())))];
    call.comm = comm.handle;
    call.comm_name = comm.name;
    MPI_Comm_rank(call.comm, &call.rank);
    MPI_Comm_size(call.comm, &call.procs);
    fill_in(call, types_, outstanding, shared_for(call, shared), mine);
  }

  int run_by_convene(Call& call, MPI_Request* request) {
    const std::string uses = call.collective + "=" + call.spec;
    if (!interposed_ && convene_use(call.comm, uses.c_str()) != MPI_SUCCESS) {
      std::fprintf(stderr, "%s: %s\n", uses.c_str(), convene_error());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return run(call, 0, interposed_, request);
  }

  /// Halves may have different sizes: the draws for a call must not depend on those of the other half.
  Random& shared_for(const Call& call, Random& shared) {
    const std::uint64_t seed = shared();
    int half = call.comm_name == "a half" ? rank_ % 2 : call.comm_name == "MPI_COMM_SELF" ? rank_ : 0;
    of_call_ = Random(seed + static_cast<std::uint64_t>(half));
    return of_call_;
  }

  /// Starts all but one with requests, mixed with messages to itself, and completes them by one of MPI's
  /// completion calls.
  void finish_in_a_random_way(std::vector<Call>& calls, std::size_t blocking, Random& mine, int batch) {
    std::vector<MPI_Request> requests;
    int sent = 17, received = 0;
    requests.emplace_back();
    MPI_Irecv(&received, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests.back());
    for (Call& call : calls) {
      const bool is_blocking = &call == calls.data() + blocking;
      if (!is_blocking) requests.emplace_back();
      call_or_fail(run_by_convene(call, is_blocking ? nullptr : &requests.back()), call, batch);
    }
    requests.emplace_back();
    MPI_Isend(&sent, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests.back());
    complete_in_a_random_way(requests, mine);
    if (received != sent) fail("a message to itself did not arrive", calls[0], batch);
  }

  void call_or_fail(int code, const Call& call, int batch) {
    if (code != MPI_SUCCESS) fail("returned an error", call, batch);
  }

  void compare(Call& call, int batch) {
    if (call.output[0]->all() != call.output[1]->all()) fail("differs from native", call, batch);
  }

  void fail(const char* what, const Call& call, int batch) {
    ++failures_;
    std::printf("FAILED batch %d, seed %llu, rank %d: %s %s\n", batch, static_cast<unsigned long long>(seed_),
                rank_, call.in_words().c_str(), what);
    std::fflush(stdout);
  }

  const int calls_;
  const double seconds_;
  const std::uint64_t seed_;
  const std::string only_;
  const bool interposed_, verbose_;
  int rank_ = 0, failures_ = 0;
  Random of_call_;
  const std::vector<Type> types_ = make_types();
  const std::vector<Comm> comms_ = make_communicators();
  std::map<std::string, std::vector<std::string>> specs_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int calls = 200;
  double minutes = 0;
  std::uint64_t seed = 1;
  std::string only;
  bool interposed = false, verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--calls")
      calls = std::atoi(value), ++i;
    else if (option == "--minutes")
      minutes = std::atof(value), ++i;
    else if (option == "--seed")
      seed = std::strtoull(value, nullptr, 10), ++i;
    else if (option == "--collective")
      only = value, ++i;
    else if (option == "--interposed")
      interposed = true;
    else if (option == "--verbose")
      verbose = true;
    else
      MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int result = Test(calls, minutes * 60, seed, only, interposed, verbose).run_all();
  MPI_Finalize();
  return result;
}
