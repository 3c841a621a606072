// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/arrivals/arrival_autotuner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "collective/core/spec.hpp"
#include "decide/forecast_choice.hpp"
#include "runtime/comm/round_time.hpp"
#include "runtime/progress/background.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {
namespace {

constexpr std::uint64_t least_bytes = 4096;  // bytes of a block: a shorter call ends before a forecast could
                                             // help
constexpr Rank least_procs = 3;
constexpr std::size_t most_sites = 32;
constexpr std::size_t most_choices = 16;              // of a site: forecasts whose choices are kept
constexpr std::uint64_t most_bytes_ahead = 64 << 20;  // bytes of all blocks, which are in staging
/// Number of calls at other sites after which an early-started call is no longer expected: meanwhile the
/// MPI's waiting calls are more expensive.
constexpr std::uint32_t most_passed = 64;

/// The candidate algorithms that are tried for each forecast of a collective, besides the one that is chosen
/// for it. Few, since each one lengthens the trial. (BDR is never better than the list schedule before the
/// call itself.)
std::vector<std::string_view> candidates(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::bcast:
    case Collective::reduce:
      return {"list_scheduled"};
    case Collective::gather:
      return {"sls"};
    case Collective::scatter:
      return {"sln"};
    case Collective::allreduce:
      return {"slt;segments=32", "prr"};
    default:
      return {};
  }
}

std::vector<Spec> specs_of(Collective collective) {
  std::vector<Spec> specs;
  for (const std::string_view text : candidates(collective)) specs.push_back(parse_spec(collective, text));
  return specs;
}

/// The largest number of pieces into which a candidate cuts a block or vector.
std::uint32_t most_pieces(const std::vector<Spec>& specs, Rank procs) {
  std::uint32_t most = 1;
  for (const Spec& spec : specs) most = std::max(most, segments(*spec.algorithm, procs, spec.parameters));
  return most;
}

/// Bytes of one message in a round of a candidate: one rank's block, or one segment of a vector.
std::uint64_t candidate_round_bytes(const CallSignature& signature, Rank procs) {
  constexpr std::uint64_t segments = 16;  // default of the list schedules
  return signature.total_bytes / (has_one_vector(signature.collective) ? segments : procs);
}

bool is_wanted(const CallSignature& signature) {
  return !candidates(signature.collective).empty() &&
         (!is_reduction(signature.collective) || (signature.commutative && !settings().reproducible));
}

/// Report of a rank to the others, as numbers that can be summed.
struct Report {
  SiteReport report;
  std::int64_t has_background = 0;
};
using ToldNumbers = std::array<std::int64_t, sizeof(Report) / sizeof(std::int64_t)>;
static_assert(std::bit_cast<ToldNumbers>(Report{}) == ToldNumbers{},
              "what others have yet to tell adds nothing");

}  // namespace

/// Exchange of the ranks' reports, in a pending native reduction that every MPI call progresses while the
/// program continues. Each rank adds its part to zeros: so it has about log₂P partners, whereas the MPI's
/// non-blocking allgather may have all, and the first message between two ranks can take milliseconds. (Not
/// on the program's communicator: MPICH would not free that while the request exists, which ends with the
/// communicator.)
class ArrivalAutotuner::Answers {
 public:
  Answers(const Report& mine, Communicator& communicator) : all_(communicator.procs()) {
    all_[communicator.rank()] = mine;
    const std::size_t numbers = all_.size() * ToldNumbers().size();
    code_ = pmpi.Iallreduce(MPI_IN_PLACE, all_.data(), static_cast<int>(numbers), MPI_INT64_T, MPI_SUM,
                            communicator.tags().comm(), &request_);
  }
  ~Answers() { wait(); }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// By rank; empty if the MPI failed.
  std::span<const Report> await() {
    wait();
    return code_ == MPI_SUCCESS ? std::span<const Report>(all_) : std::span<const Report>();
  }

 private:
  void wait() {
    if (code_ == MPI_SUCCESS) code_ = progress::await(&request_);
  }

  std::vector<Report> all_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_;
};

/// The calls at one call site.
struct ArrivalAutotuner::Site {
  Site(const CallSignature& of, Rank procs, PhaseStats& tally_of)
      : signature(of),
        specs(specs_of(of.collective)),
        adaptation(procs, static_cast<std::uint32_t>(specs.size() + 1), most_pieces(specs, procs)),
        tally(tally_of) {}

  bool is_for(const CallSignature& other) const {
    return signature.collective == other.collective && signature.total_bytes == other.total_bytes &&
           signature.root == other.root && signature.commutative == other.commutative;
  }

  CallSignature signature;
  std::vector<Spec> specs;  // of the candidates except the last one, which depends on the forecast
  SiteAdaptation adaptation;
  PhaseStats& tally;
  std::unique_ptr<Answers> answers;  // after a report, until they are used
  std::int64_t round_ns = 0;
  bool is_refused = false;          // no internal communicator: equal on all ranks
  std::vector<Decision> decisions;  // with the current forecasts, by call of a season
  bool may_go_ahead = false;        // equal on all ranks
  AheadPointer ahead;
  std::uint32_t passed = 0;  // calls at other places since it has begun

  Decision& decide(std::uint32_t candidate, bool in_place, Communicator& communicator);

 private:
  const Spec& choose_by_forecast(const CallContext& context);
  std::vector<std::pair<std::vector<std::int32_t>, Spec>> choices_;  // by quantised forecast
};

/// The algorithm that is predicted to be the fastest for the next forecast, besides the other candidates. A
/// function of the forecast, the round and the context, which are equal on all ranks.
const Spec& ArrivalAutotuner::Site::choose_by_forecast(const CallContext& context) {
  std::vector<std::int32_t> pattern = decide::quantised(adaptation.arrivals());
  for (const auto& [known, spec] : choices_)
    if (known == pattern) return spec;
  decide::ForecastCall call{
      .context = context,
      .root = signature.root,
      .arrivals = pattern,
      .round_seconds = static_cast<double>(round_ns) * 1e-9,
      .round_bytes = static_cast<double>(candidate_round_bytes(signature, context.procs))};
  for (const Spec& spec : specs) call.besides.push_back(spec.algorithm->name);
  const auto ranked = decide::rank_by_forecast(call);
  if (choices_.size() >= most_choices) choices_.erase(choices_.begin());
  return choices_.emplace_back(std::move(pattern), ranked.empty() ? specs.front() : ranked.front().spec)
      .second;
}

/// The decision for the next call with a candidate.
Decision& ArrivalAutotuner::Site::decide(std::uint32_t candidate, bool in_place, Communicator& communicator) {
  if (adaptation.has_changed()) decisions.clear();
  adaptation.take();
  decisions.resize(adaptation.seasons());
  Decision& decision = decisions[adaptation.season()];
  if (decision.prepared && decision.signature.in_place == in_place) return decision;
  const CallContext context = communicator.decisions().context_of(signature);
  const Spec spec = candidate < specs.size() ? specs[candidate] : choose_by_forecast(context);
  const Call call{.collective = signature.collective,
                  .procs = communicator.procs(),
                  .rank = communicator.rank(),
                  .root = signature.root,
                  .in_place = in_place,
                  .parameters = spec.parameters,
                  .parts = spec.parts,
                  .arrivals = adaptation.arrivals(),
                  .nodes = depends_on_nodes(*spec.algorithm) ? context.node_of_rank : std::vector<Rank>{},
                  .domains = depends_on_domains(spec) ? context.domains : std::vector<Domains>{},
                  .commutative = signature.commutative};
  decision = Decision{};
  decision.signature = signature;
  decision.signature.in_place = in_place;
  decision.spec = spec;
  decision.chosen = spec_text(spec);
  decision.reason = Reason::forecast;
  decision.prepared = process_schedules().get(*spec.algorithm, call);
  return decision;
}

ArrivalAutotuner::ArrivalAutotuner() = default;
ArrivalAutotuner::~ArrivalAutotuner() = default;

bool ArrivalAutotuner::watches(const Decision& decision, const CallSignature& signature,
                               const Communicator& communicator) {
  return !decision.prepared && decision.reason == Reason::by_default && is_wanted(signature) &&
         communicator.procs() >= least_procs &&
         candidate_round_bytes(signature, communicator.procs()) >= least_bytes;
}

ArrivalAutotuner::Site* ArrivalAutotuner::find(const CallSignature& signature, Communicator& communicator) {
  for (const auto& site : sites_)
    if (site->is_for(signature)) return site.get();
  if (sites_.size() >= most_sites) return nullptr;
  PhaseStats& tally = communicator.stats().profile()->find_or_add_phases(signature.collective, "forecast");
  return sites_.emplace_back(std::make_unique<Site>(signature, communicator.procs(), tally)).get();
}

Decision& ArrivalAutotuner::choose(Decision& regular, const CallSignature& signature,
                                   Communicator& communicator, std::uint64_t now) {
  arrival_ = now;
  was_ahead_ = false;
  current_ = find(signature, communicator);
  if (!current_ || current_->is_refused) return regular;
  const auto candidate = current_->adaptation.candidate();
  if (!candidate) return regular;
  was_ahead_ = early_start() != nullptr;
  ++current_->tally.runs;
  // An early-started call is in staging: whether this call is in place makes no difference.
  return current_->decide(*candidate, !was_ahead_ && signature.in_place, communicator);
}

EarlyStart* ArrivalAutotuner::early_start() {
  EarlyStart* const ahead = current_ ? current_->ahead.get() : nullptr;
  return ahead && ahead->is_started() ? ahead : nullptr;
}

void ArrivalAutotuner::note(Communicator& communicator, std::uint64_t now) {
  Site* site = current_;
  if (has_ahead_) pass_by(site);
  if (const EarlyStart* const run = was_ahead_ && site ? site->ahead.get() : nullptr) {
    site->tally.messages += run->messages();
    site->tally.early_messages += run->early_messages();
  }
  current_ = nullptr;
  if (site && !site->is_refused) {
    const double per_tick = seconds_per_tick();
    std::optional<double> computed;
    if (last_exit_ != 0) computed = static_cast<double>(arrival_ - last_exit_) * per_tick;
    const double before = site->adaptation.error_seconds();
    const std::uint64_t forecasts = site->adaptation.forecasts();
    site->adaptation.note(computed, static_cast<double>(now - arrival_) * per_tick);
    if (site->adaptation.forecasts() != forecasts) {
      ++site->tally.phases;
      ++site->tally.forecasts;
      site->tally.phase_seconds += computed.value_or(0);
      site->tally.error_seconds += site->adaptation.error_seconds() - before;
    }
    if (site->adaptation.needs_answers()) agree(*site, communicator);
    if (site->adaptation.is_due()) ask(*site, communicator);
    begin_ahead(*site, communicator);
  }
  last_exit_ = ticks();
}

/// Collective, right after a call.
void ArrivalAutotuner::ask(Site& site, Communicator& communicator) {
  site.is_refused = communicator.tags().comm_if_possible() == MPI_COMM_NULL;
  if (site.is_refused) return;
  communicator.tags().await_agreements();
  site.answers =
      std::make_unique<Answers>(Report{site.adaptation.report(), background::is_available()}, communicator);
  if (site.adaptation.needs_answers()) agree(site, communicator);
}

/// Collective, directly after a call; waits for missing answers.
void ArrivalAutotuner::agree(Site& site, Communicator& communicator) {
  const std::unique_ptr<Answers> answers = std::move(site.answers);
  const std::span<const Report> all = answers->await();
  site.is_refused = all.empty();
  if (site.is_refused) return;
  std::vector<SiteReport> reports;
  site.may_go_ahead =
      site.signature.collective == Collective::allgather && site.signature.total_bytes <= most_bytes_ahead;
  for (const Report& each : all) {
    reports.push_back(each.report);
    site.may_go_ahead = site.may_go_ahead && each.has_background != 0;
  }
  site.adaptation.agree(reports, site.round_ns);
  if (!site.adaptation.wants_round()) return;
  communicator.decisions().find_nodes(true, true);
  site.round_ns = measure_round(communicator.info(), communicator.tags(),
                                candidate_round_bytes(site.signature, communicator.procs()));
}

/// Starts the next call at a site early, if a forecast is used for it.
void ArrivalAutotuner::begin_ahead(Site& site, Communicator& communicator) {
  const auto candidate = site.adaptation.candidate();
  if (!candidate || !site.may_go_ahead || site.is_refused) return;
  if (!site.ahead) {
    const std::uint32_t number = communicator.tags().next_persistent();
    site.may_go_ahead = number != 0;
    if (number == 0) return;
    site.ahead.reset(new EarlyStart(communicator, number, site.signature.total_bytes / communicator.procs()));
  }
  site.ahead->start(site.decide(*candidate, false, communicator).prepared);
  site.passed = 0;
  has_ahead_ = true;
}

/// After a call at one site, or at an unwatched one: cancels early-started calls at other sites in time.
/// Equal on all ranks, like their calls.
void ArrivalAutotuner::pass_by(const Site* called) {
  has_ahead_ = false;
  for (const auto& site : sites_) {
    if (!site->ahead || !site->ahead->is_started()) continue;
    if (site.get() != called && ++site->passed == most_passed) site->ahead->cancel();
    has_ahead_ = has_ahead_ || site->ahead->is_started();
  }
}

}  // namespace convene::runtime
