// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/results/return_channel.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace convene::runtime::results {
namespace {

constexpr int connect_patience_ms = 5'000;
constexpr int answer_patience_ms = 30'000;  // the launching machine writes files meanwhile
constexpr std::size_t longest_line = 512;
constexpr std::size_t largest_answer = 1u << 26;

std::string_view text_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The system's reason for the last failure.
std::string last_error() { return errno == 0 ? "the connection ended" : std::strerror(errno); }

/// True once the socket is ready; false with an error number after this time.
bool is_ready(int socket, short events, int patience_ms) {
  pollfd polled{.fd = socket, .events = events, .revents = 0};
  int ready = 0;
  do ready = poll(&polled, 1, patience_ms);
  while (ready < 0 && errno == EINTR);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

}  // namespace

std::string run_id() {
  const std::string_view value = text_of("CONVENE_RETURN_TO");
  const std::size_t end = value.find('@');
  const std::string_view id = end == std::string_view::npos ? "" : value.substr(0, end);
  const bool is_plain = id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_plain ? std::string(id) : "";  // it becomes part of a file's name
}

ReturnChannel::ReturnChannel() { open(); }

void ReturnChannel::open() {
  std::string_view places = text_of("CONVENE_RETURN_TO");
  places.remove_prefix(std::min(places.find('@') + 1, places.size()));
  const std::string token(text_of("CONVENE_RETURN_TOKEN"));
  if (token.empty()) return fail("the launcher has not passed CONVENE_RETURN_TOKEN to rank 0");
  failure_ = "CONVENE_RETURN_TO names no address";
  while (!places.empty() && socket_ < 0) {
    const std::string place(places.substr(0, places.find(',')));
    places.remove_prefix(std::min(place.size() + 1, places.size()));
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos) continue;
    connect_to(place.substr(0, colon), place.substr(colon + 1));
  }
  if (socket_ < 0) return;
  failure_.clear();
  send("convene-return 1 " + token + "\n");
  if (failure_.empty() && receive_line() != "welcome" && failure_.empty())
    fail("the launching machine refused the connection");
}

ReturnChannel::~ReturnChannel() {
  if (socket_ >= 0) close(socket_);
}

void ReturnChannel::fail(std::string why) {
  failure_ = std::move(why);
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

void ReturnChannel::connect_to(const std::string& host, const std::string& port) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return;
  socket_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool is_connected = socket_ >= 0 && connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
  if (socket_ >= 0 && !is_connected && errno == EINPROGRESS &&
      is_ready(socket_, POLLOUT, connect_patience_ms)) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    is_connected = error == 0;
    errno = error;
  }
  const int keeps_alive = 1;  // other ranks may finalize much later
  if (is_connected) setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &keeps_alive, sizeof keeps_alive);
  const std::string why = is_connected ? "" : host + ":" + port + ": " + last_error();
  freeaddrinfo(found);
  if (!is_connected) fail(why);
}

void ReturnChannel::send(std::string_view bytes) {
  while (failure_.empty() && !bytes.empty()) {
    if (!is_ready(socket_, POLLOUT, answer_patience_ms)) return fail(last_error());
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return fail(last_error());
    bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
}

void ReturnChannel::receive(char* bytes, std::size_t size) {
  while (failure_.empty() && size > 0) {
    if (!is_ready(socket_, POLLIN, answer_patience_ms)) return fail(last_error());
    errno = 0;
    const ssize_t received = recv(socket_, bytes, size, 0);
    if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) return fail(last_error());
    if (received < 0) continue;
    bytes += received;
    size -= static_cast<std::size_t>(received);
  }
}

std::string ReturnChannel::receive_line() {
  std::string line;
  for (char next = 0; line.size() < longest_line; line += next) {
    receive(&next, 1);
    if (!failure_.empty() || next == '\n') return line;
  }
  fail("the launching machine's answer is too long");
  return "";
}

void ReturnChannel::put(const std::string& name, std::string_view bytes) {
  send("put " + name + " " + std::to_string(bytes.size()) + "\n");
  send(bytes);
}

void ReturnChannel::end(const std::string& name) { send("end " + name + "\n"); }

std::optional<std::string> ReturnChannel::get(const std::string& name) {
  send("get " + name + "\n");
  const std::string line = receive_line();
  if (!failure_.empty()) return std::nullopt;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size);
  if (error != std::errc() || end != line.data() + line.size() || size > largest_answer) {
    fail("the launching machine answered '" + line + "'");
    return std::nullopt;
  }
  std::string content(size, '\0');
  receive(content.data(), size);
  return failure_.empty() ? std::optional(std::move(content)) : std::nullopt;
}

bool ReturnChannel::finish() {
  send("done\n");
  const std::string line = receive_line();
  if (failure_.empty() && line != "done") fail(line);
  return failure_.empty();
}

}  // namespace convene::runtime::results
