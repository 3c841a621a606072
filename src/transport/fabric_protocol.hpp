// SPDX-License-Identifier: BSD-3-Clause
// Fabric protocol: what the messages of a fabric are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace convene::transport {

struct FabricProtocol {
  enum class Kind : std::uint8_t {
    tagged,    ///< tagged messages (transport/fabric.hpp)
    notified,  ///< puts with notification (transport/notified_fabric.hpp)
    hybrid     ///< tagged messages up to a size, puts above (transport/hybrid_fabric.hpp)
  };
  static constexpr std::size_t default_most_tagged = 64 * 1024;

  Kind kind = Kind::tagged;
  std::size_t most_tagged = default_most_tagged;  ///< of hybrid: bytes of the longest tagged message

  bool has_puts() const { return kind != Kind::tagged; }
};

}  // namespace convene::transport
