// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/fabric_channel.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/sizes.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/process/process.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stats/profile.hpp"
#include "transport/fabric.hpp"
#include "transport/hybrid_fabric.hpp"

namespace convene::runtime {
namespace {

/// What a rank tells the others.
struct Introduction {
  std::uint64_t provider = 0, node = 0;  // hashes
  std::uint32_t channel = 0, bytes = 0;
  std::array<std::byte, FabricEndpoint::most_address> address{};
};

/// The endpoint of this process, with the peers that it knows. Its lock is not held across calls of the MPI.
struct ProcessEndpoint {
  std::mutex mutex;
  std::unique_ptr<FabricEndpoint> endpoint;
  std::string why_not;  // set if it could not be opened
  std::map<std::vector<std::byte>, FabricEndpoint::Peer> peers;
  std::uint32_t next_channel = 0;

  static ProcessEndpoint& instance() {
    static ProcessEndpoint* only = new ProcessEndpoint;  // never freed: a provider may have threads
    return *only;
  }

  FabricEndpoint* open() {
    const std::lock_guard lock(mutex);
    if (!endpoint && why_not.empty()) {
      endpoint = FabricEndpoint::open(settings().fabric_provider, settings().fabric_library, why_not,
                                      settings().fabric_protocol.has_puts());
      if (endpoint) process::at_end(process::EndStage::close, close);
    }
    return endpoint.get();
  }

  /// Throws std::bad_alloc.
  bool add(const Introduction& of, FabricEndpoint::Peer* peer) {
    const std::lock_guard lock(mutex);
    const std::vector<std::byte> address(of.address.begin(), of.address.begin() + of.bytes);
    const auto [at, is_new] = peers.try_emplace(address);
    if (is_new && endpoint->add_peer(address, &at->second) != 0) return peers.erase(at), false;
    *peer = at->second;
    return true;
  }

  /// Ends the endpoint. Operations that an error has left behind get a second to complete.
  static void close() {
    ProcessEndpoint& process = instance();
    const std::lock_guard lock(process.mutex);
    constexpr std::uint64_t patience_ns = 1'000'000'000;
    const std::uint64_t end = monotonic_ns() + patience_ns;
    while (process.endpoint->pending() > 0 && monotonic_ns() < end && process.endpoint->progress() == 0)
      sched_yield();
    process.endpoint.reset();
  }
};

/// Equal for processes that share a kernel.
std::uint64_t node_hash() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string>{}(std::string(name.data()));
}

std::string protocol() {
  const FabricProtocol& chosen = settings().fabric_protocol;
  if (!chosen.has_puts()) return "";
  const bool is_hybrid = chosen.kind == FabricProtocol::Kind::hybrid;
  return ", puts with notification" + (is_hybrid ? " above " + format_size(chosen.most_tagged) : "");
}

Introduction introduce(FabricEndpoint* endpoint) {
  Introduction mine;
  if (!endpoint) return mine;
  const std::string limit = std::to_string(settings().fabric_protocol.most_tagged);
  mine.provider = std::hash<std::string>{}(endpoint->provider() + protocol() + limit);
  mine.node = node_hash();
  const std::span<const std::byte> address = endpoint->address();
  mine.bytes = static_cast<std::uint32_t>(address.size());
  std::copy(address.begin(), address.end(), mine.address.begin());
  ProcessEndpoint& process = ProcessEndpoint::instance();
  const std::lock_guard lock(process.mutex);
  mine.channel = process.next_channel;
  if (process.next_channel >> Fabric::channel_bits == 0) ++process.next_channel;
  return mine;
}

/// Why these ranks cannot use the fabric together; null if they can. Equal on all ranks.
const char* refusal(const std::vector<Introduction>& all, bool is_local) {
  for (const Introduction& each : all) {
    if (each.provider != all.front().provider) return "ranks have different providers or protocols";
    if (is_local && each.node != all.front().node) return "this provider does not reach other nodes";
    if (each.channel >> Fabric::channel_bits != 0) return "too many communicators have used it";
  }
  return all.size() >> Fabric::rank_bits != 0 ? "the communicator has too many ranks" : nullptr;
}

std::unique_ptr<Transport> declined(const std::string& why) {
  ProfileRegistry::instance().declare("messages are those of the MPI, not of a fabric: " + why);
  return nullptr;
}

/// The transport of this rank; null without memory, or if the provider refuses an address or
/// registered memory.
std::unique_ptr<Transport> connect(FabricEndpoint& endpoint, const std::vector<Introduction>& all, int rank,
                                   MPI_Comm internal) try {
  std::vector<Fabric::Place> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    places[i].channel = all[i].channel;
    if (!ProcessEndpoint::instance().add(all[i], &places[i].peer)) return nullptr;
  }
  return make_fabric(settings().fabric_protocol, endpoint, places, rank, internal);
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

std::unique_ptr<Transport> open_fabric(MPI_Comm internal, const CommInfo& info) {
  FabricEndpoint* endpoint = nullptr;
  std::vector<Introduction> all;
  std::string why = "another rank cannot use one";
  try {
    endpoint = ProcessEndpoint::instance().open();
    all.resize(info.procs);
    if (!endpoint) why = ProcessEndpoint::instance().why_not;
  } catch (const std::bad_alloc&) {
    endpoint = nullptr;  // the others wait for the answer
  }
  if (!on_all_ranks(endpoint != nullptr, internal)) return declined(why);
  Introduction mine = introduce(endpoint);
  const int code = pmpi.Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, internal);
  if (!on_all_ranks(code == MPI_SUCCESS, internal)) return declined("addresses cannot be exchanged");
  if (const char* const refused = refusal(all, endpoint->is_local())) return declined(refused);
  std::unique_ptr<Transport> made = connect(*endpoint, all, static_cast<int>(info.rank), internal);
  if (!on_all_ranks(made != nullptr, internal))
    return declined("a rank has no memory for the addresses, or no registration left");
  const FabricLibrary& library = endpoint->library();
  ProfileRegistry::instance().declare("messages travel over libfabric " + library.version_text() + " (" +
                                      endpoint->provider() + protocol() + ", " + library.path + ")");
  return made;
}

}  // namespace convene::runtime
