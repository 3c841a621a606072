// SPDX-License-Identifier: BSD-3-Clause
// Random reductions, each executed by Convene and natively: their results must be equal byte for byte.
//
//   random_reductions [--calls N] [--seed S] [--minutes M] [--collective NAME] [--interposed] [--ordered]
//                     [--native-nonblocking] [--verbose]
//
// Operators (predefined ones, and user-defined ones that commute or not), datatypes (predefined, and derived
// ones with gaps), counts, roots, in-place, communicators, blocking calls and several non-blocking ones at
// once are drawn from the seed. The algorithms are listed in CONVENE_TEST_SPECS, a line "COLLECTIVE SPEC"
// each; then "commutative" if the operator must commute. With --native-nonblocking all non-blocking calls are
// native, as under the standard ABI without the drop-in library: they are made, but not with what MPIs fail
// at. With --interposed the program calls MPI_… instead of convene_…, so it needs the drop-in library, with
// the algorithms of CONVENE_USE; operators then all commute, except with --ordered.
#include <convene/convene.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "reduction_kinds.hpp"

namespace {

constexpr const char* reductions[] = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
                                      "scan",   "exscan"};

struct Spec {
  std::string text;
  bool commutative_only = false;
  bool shares_memory() const { return shares_node_memory(text); }
};

struct Drawn {
  ReductionCall call;
  std::string spec, comm_name;

  std::string in_words() const {
    std::ostringstream text;
    text << call.collective << '=' << spec << ", " << call.kind->in_words() << ", on " << comm_name << " of "
         << call.procs << ", root " << call.root << ", " << call.count << " items"
         << (call.in_place ? ", in place" : "");
    return text.str();
  }
};

class Test {
 public:
  Test(int calls, double seconds, std::uint64_t seed, std::string only, bool interposed, bool ordered,
       bool native_nonblocking, bool verbose)
      : calls_(calls),
        seconds_(seconds),
        seed_(seed),
        only_(std::move(only)),
        interposed_(interposed),
        ordered_(ordered),
        native_nonblocking_(native_nonblocking),
        verbose_(verbose) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    std::istringstream lines(std::getenv("CONVENE_TEST_SPECS") ? std::getenv("CONVENE_TEST_SPECS") : "");
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string collective;
      Spec spec;
      words >> collective >> spec.text;
      std::string need;
      spec.commutative_only = static_cast<bool>(words >> need);
      specs_[collective].push_back(spec);
      shares_memory_ = shares_memory_ || spec.shares_memory();
    }
    for (const Comm& comm : comms_) settle(comm.handle);
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
  /// Makes a communicator's non-blocking calls those of Convene: they are native until a blocking call has
  /// determined the nodes and created the internal communicator. Native ones are not under test: Open MPI
  /// 4.1's MPI_Ireduce frees an address that it did not allocate, if a type's lower bound is negative.
  void settle(MPI_Comm comm) {
    int one = 1, sum = 0;
    if (!interposed_) use(comm, "allreduce=hier");
    (interposed_ ? MPI_Allreduce : convene_allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (interposed_ || !shares_memory_) return;
    // And lets it map shared memory for them: this much for each rank.
    std::vector<int> in(50'000), out(in.size());
    MPI_Request request;
    use(comm, "allreduce=hier(ring,shared,shared)");
    convene_iallreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    convene_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  }

  static void use(MPI_Comm comm, const std::string& uses) {
    if (convene_use(comm, uses.c_str()) == MPI_SUCCESS) return;
    std::fprintf(stderr, "%s: %s\n", uses.c_str(), convene_error());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  /// Some calls at once, or one alone.
  int run_batch(int batch) {
    Random shared(seed_ * 1000003 + static_cast<std::uint64_t>(batch));
    Random mine(shared() + static_cast<std::uint64_t>(rank_) * 7919);
    const bool outstanding = below(shared, 3) == 0;
    std::vector<Drawn> calls(outstanding ? static_cast<std::size_t>(1 + below(shared, 6)) : 1);
    const std::size_t blocking = static_cast<std::size_t>(below(shared, 12));  // if it is that of a call
    for (Drawn& each : calls) {
      draw(each, outstanding, shared, mine);
      if (!verbose_ || rank_ != 0) continue;
      const bool is_blocking = !outstanding || &each == calls.data() + blocking;
      std::printf("%d%s: %s\n", batch, is_blocking ? "" : " non-blocking", each.in_words().c_str());
      std::fflush(stdout);
    }
    for (Drawn& each : calls) expect_success(each.call.run_reference(), each, batch);
    std::vector<MPI_Request> requests;
    for (Drawn& each : calls) {
      MPI_Request request = MPI_REQUEST_NULL;
      const bool is_blocking = !outstanding || &each == calls.data() + blocking;
      expect_success(run_by_convene(each, is_blocking ? nullptr : &request), each, batch);
      if (!is_blocking) requests.push_back(request);
    }
    if (outstanding) complete_in_a_random_way(requests, mine);
    for (Drawn& each : calls)
      if (!each.call.is_right()) fail("differs from native", each, batch);
    PMPI_Allreduce(MPI_IN_PLACE, &failures_, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return static_cast<int>(calls.size());
  }

  template <class List>
  static const auto& one_of(const List& list, Random& random) {
    return list[static_cast<std::size_t>(below(random, static_cast<int>(std::size(list))))];
  }

  void draw(Drawn& drawn, bool outstanding, Random& shared, Random& mine) {
    ReductionCall& call = drawn.call;
    call.collective = only_.empty() ? one_of(reductions, shared) : only_;
    const auto& specs = specs_[call.collective];
    const Spec native{"native"};
    const Spec* spec = specs.empty() ? &native : &one_of(specs, shared);
    // Native non-blocking calls are not under test. (Those that need more shared memory than is mapped are
    // native.)
    if (outstanding && spec->text == "native")
      for (const Spec& each : specs)
        if (each.text != "native") spec = &each;
    drawn.spec = spec->text;
    const bool is_native = spec->text == "native" || (outstanding && native_nonblocking_);
    const Comm& comm = one_of(comms_, shared);
    call.comm = comm.handle;
    drawn.comm_name = comm.name;
    MPI_Comm_rank(call.comm, &call.rank);
    MPI_Comm_size(call.comm, &call.procs);
    // Halves may have different sizes: the draws for a call must not depend on those of the other half.
    const std::uint64_t seed = shared();
    Random same(seed + static_cast<std::uint64_t>(comm.name == "a half"          ? rank_ % 2
                                                  : comm.name == "MPI_COMM_SELF" ? rank_
                                                                                 : 0));
    // Native algorithms have bugs with datatypes that have gaps.
    do {
      call.kind = below(same, 2) == 0 ? &one_of(user_, same) : &one_of(predefined_, same);
    } while ((!call.kind->op.commutes && (spec->commutative_only || (interposed_ && !ordered_))) ||
             (is_native && !interposed_ && call.kind->op.function));
    call.root = below(same, call.procs);
    call.in_place = below(same, 4) == 0 && !(call.scatters() && is_native && !interposed_);
    call.count = random_count(same);
    if (outstanding && spec->shares_memory()) call.count %= 200;
    for (int i = 0; i < call.procs; ++i)
      call.counts.push_back(below(same, 3) == 0 ? 0 : below(same, call.count + 2));
    call.fill(mine);
  }

  static int random_count(Random& random) {
    switch (below(random, 8)) {
      case 0:
        return 0;
      case 1:
        return below(random, 20000);
      case 2:
        return below(random, 1000);
      default:
        return below(random, 20);
    }
  }

  int run_by_convene(Drawn& drawn, MPI_Request* request) {
    if (!interposed_) use(drawn.call.comm, drawn.call.collective + "=" + drawn.spec);
    if (request && drawn.call.kind->op.function) return start_and_free(drawn.call, request);
    return drawn.call.run(0, interposed_, request);
  }

  /// A program may free a datatype and an operator once a call with them has started.
  int start_and_free(ReductionCall& call, MPI_Request* request) {
    const Kind* const before = call.kind;
    Kind fresh = *before;
    MPI_Type_dup(before->type.handle, &fresh.type.handle);
    if (interposed_) MPI_Op_create(fresh.op.function, fresh.op.commutes ? 1 : 0, &fresh.op.handle);
    call.kind = &fresh;
    const int code = call.run(0, interposed_, request);
    call.kind = before;
    MPI_Type_free(&fresh.type.handle);
    if (interposed_) MPI_Op_free(&fresh.op.handle);
    return code;
  }

  void expect_success(int code, const Drawn& drawn, int batch) {
    if (code != MPI_SUCCESS) fail("returned an error", drawn, batch);
  }

  void fail(const char* what, const Drawn& drawn, int batch) {
    ++failures_;
    std::printf("FAILED batch %d, seed %llu, rank %d: %s %s\n", batch, static_cast<unsigned long long>(seed_),
                rank_, drawn.in_words().c_str(), what);
    std::fflush(stdout);
  }

  const int calls_;
  const double seconds_;
  const std::uint64_t seed_;
  const std::string only_;
  const bool interposed_, ordered_, native_nonblocking_, verbose_;
  bool shares_memory_ = false;
  int rank_ = 0, failures_ = 0;
  const std::vector<Kind> predefined_ = predefined_kinds(), user_ = user_kinds();
  const std::vector<Comm> comms_ = make_communicators();
  std::map<std::string, std::vector<Spec>> specs_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int calls = 200;
  double minutes = 0;
  std::uint64_t seed = 1;
  std::string only;
  bool interposed = false, ordered = false, native_nonblocking = false, verbose = false;
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
    else if (option == "--ordered")
      ordered = true;
    else if (option == "--native-nonblocking")
      native_nonblocking = true;
    else if (option == "--verbose")
      verbose = true;
    else
      MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int result =
      Test(calls, minutes * 60, seed, only, interposed, ordered, native_nonblocking, verbose).run_all();
  MPI_Finalize();
  return result;
}
