// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/results/result_files.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/functions.hpp"
#include "runtime/results/return_channel.hpp"

namespace convene::runtime::results {
namespace {

constexpr std::size_t chunk_bytes = 1u << 20;
constexpr int eager_polls = 200;
enum Tag : int { tag_begin, tag_name, tag_chunk, tag_received, tag_end };

struct Kept {
  std::string name;
  Content content;
};

/// A message: the number of bytes that follow, and these. Messages may be shorter than this buffer.
struct Message {
  std::int64_t size = 0;
  char bytes[chunk_bytes];
};

struct State {
  Directories directories;
  bool is_remote = false;
  int rank = 0;
  std::vector<int> senders;  // at rank 0: other ranks whose files travel
  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<Message> message;
  std::vector<Kept> kept;

  static State& instance() {
    static State* only = new State;  // never freed: MPI_Finalize may be called after static destructors
    return *only;
  }
};

/// True if the directory is the run's, and not one of the same name on this node.
bool is_of_run(const std::string& directory, const std::string& id) {
  return directory.empty() || access((directory + "/.convene-" + id).c_str(), F_OK) == 0;
}

/// A file that is complete or not there.
class LocalFile {
 public:
  explicit LocalFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
    file_ = std::fopen(part_.c_str(), "wb");
    if (!file_) error_ = errno;
  }
  ~LocalFile() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(part_.c_str());
  }
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  void put(std::string_view bytes) {
    if (file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() && error_ == 0)
      error_ = errno;
  }
  /// Why the file is not there, in the system's words; else nothing.
  std::string finish() {
    if (file_ && std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0 && std::rename(part_.c_str(), path_.c_str()) != 0) error_ = errno;
    if (error_ == 0) return "";
    std::remove(part_.c_str());
    return std::strerror(error_);
  }

 private:
  std::string path_, part_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

/// Where rank 0 puts files: the directories of the run, or the launching machine. Nothing throws; the first
/// failure is kept.
class Destination {
 public:
  Destination(bool is_remote, const Directories& directories) : directories_(directories) {
    guarded([&] {
      if (is_remote) channel_.emplace();
    });
  }

  void put(const std::string& name, std::string_view bytes) {
    guarded([&] {
      if (channel_) return channel_->put(name, bytes);
      if (!file_) file_ = std::make_unique<LocalFile>(directory_of(name) + "/" + name);
      file_->put(bytes);
    });
  }

  void end(const std::string& name) {
    guarded([&] {
      if (channel_) return channel_->end(name);
      if (!file_) return;
      if (const std::string why = file_->finish(); !why.empty()) note("cannot write " + name + ": " + why);
      file_.reset();
    });
  }

  /// Drops the part of a file whose rest does not arrive.
  void abandon() { file_.reset(); }

  /// Why something is missing, as a clause; else nothing.
  std::string finish() {
    guarded([&] {
      if (channel_ && !channel_->finish())
        note("cannot return them to the launching machine: " + channel_->failure());
    });
    return failure_;
  }

 private:
  template <class Body>
  void guarded(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      failure_ = "out of memory";  // short enough to need none
    }
  }
  void note(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
  }
  const std::string& directory_of(const std::string& name) const {
    const bool is_recording = name.starts_with("recording-") || directories_.profiles.empty();
    return is_recording ? directories_.recordings : directories_.profiles;
  }

  const Directories& directories_;
  std::optional<ReturnChannel> channel_;
  std::unique_ptr<LocalFile> file_;
  std::string failure_;
};

/// Leaves the core to another rank, after many polls for longer.
void pause(int polls) {
  constexpr unsigned pause_us = 200;
  polls < eager_polls ? static_cast<void>(sched_yield()) : static_cast<void>(usleep(pause_us));
}

bool await(MPI_Request request) {
  for (int polls = 0;; polls = std::min(polls + 1, eager_polls)) {
    int done = 0;
    const int code = pmpi.Test(&request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || done) return code == MPI_SUCCESS;
    pause(polls);
  }
}

bool send_message(State& state, int to, Tag tag) {
  const int bytes = static_cast<int>(sizeof state.message->size) + static_cast<int>(state.message->size);
  MPI_Request request = MPI_REQUEST_NULL;
  return pmpi.Isend(state.message.get(), bytes, MPI_BYTE, to, tag, state.comm, &request) == MPI_SUCCESS &&
         await(request);
}

/// Receives the next message; false on failure.
bool receive(State& state, int source, Tag tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  return pmpi.Irecv(state.message.get(), sizeof(Message), MPI_BYTE, source, tag, state.comm, &request) ==
             MPI_SUCCESS &&
         await(request);
}

/// Sends messages to rank 0; larger content has several.
class Sender {
 public:
  explicit Sender(State& state) : state_(state), message_(*state.message) {}

  bool is_right() const { return is_right_; }

  void send(Tag tag, std::string_view bytes) {
    message_.size = static_cast<std::int64_t>(std::min(bytes.size(), chunk_bytes));
    std::copy_n(bytes.data(), message_.size, message_.bytes);
    flush(tag);
  }

  /// Collects content into chunks.
  void put(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t fits = std::min(bytes.size(), chunk_bytes - held_);
      std::copy_n(bytes.data(), fits, message_.bytes + held_);
      held_ += fits;
      bytes.remove_prefix(fits);
      if (held_ == chunk_bytes) put_held();
    }
  }

  /// The end of a file.
  void end() {
    if (held_ > 0) put_held();
    send(tag_chunk, "");
  }

 private:
  void put_held() {
    message_.size = static_cast<std::int64_t>(std::exchange(held_, 0));
    flush(tag_chunk);
  }
  void flush(Tag tag) {
    if (is_right_) is_right_ = send_message(state_, 0, tag);  // else rank 0 has ended
  }

  State& state_;
  Message& message_;
  std::size_t held_ = 0;
  bool is_right_ = true;
};

/// A rank's files. Every file has its end, and the rank has its end, whatever fails: rank 0 waits for them.
bool send_all(State& state) {
  Sender sender(state);
  sender.send(tag_begin, "");
  for (Kept& each : state.kept) {
    sender.send(tag_name, each.name);
    try {
      each.content([&](std::string_view bytes) { sender.put(bytes); });
    } catch (...) {
      // The reader of the file reports that it is incomplete.
    }
    sender.end();
  }
  sender.send(tag_name, "");
  if (!sender.is_right() || !receive(state, 0, tag_received)) return false;
  sender.send(tag_end, "");
  return sender.is_right();
}

/// The end of a rank's files: both have received what the other has sent.
bool part_from(State& state, int source) {
  state.message->size = 0;
  return send_message(state, source, tag_received) && receive(state, source, tag_end);
}

/// All files of one rank; false if the rank fails meanwhile.
bool receive_all(State& state, int source, Destination& destination) {
  Message& message = *state.message;
  const auto size = [&] { return static_cast<std::size_t>(message.size); };
  while (receive(state, source, tag_name)) {
    if (size() == 0) return part_from(state, source);
    const std::string name(message.bytes, size());
    do {
      if (!receive(state, source, tag_chunk)) return false;
      destination.put(name, {message.bytes, size()});
    } while (size() > 0);
    destination.end(name);
  }
  return false;
}

/// The first messages of all senders, in the order in which they arrive. (Under MPICH 5 over TCP, messages
/// are lost if several ranks connect while a receive from any source waits.)
class Arrivals {
 public:
  explicit Arrivals(const State& state) : begins_(state.senders.size()) {
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      Begin& begin = begins_[i];
      begin.source = state.senders[i];
      if (pmpi.Irecv(&begin.size, sizeof begin.size, MPI_BYTE, begin.source, tag_begin, state.comm,
                     &begin.request) != MPI_SUCCESS)
        begin.request = MPI_REQUEST_NULL;
    }
  }

  /// Waits for one; -1 if its rank failed.
  int next() {
    for (int polls = 0;; polls = std::min(polls + 1, eager_polls)) {
      for (Begin& begin : begins_) {
        if (begin.is_done) continue;
        int done = 0;
        const bool failed = begin.request == MPI_REQUEST_NULL ||
                            pmpi.Test(&begin.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        begin.is_done = failed || done;
        if (begin.is_done) return failed ? -1 : begin.source;
      }
      pause(polls);
    }
  }

 private:
  struct Begin {
    int source = 0;
    std::int64_t size = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_done = false;
  };
  std::vector<Begin> begins_;
};

void gather(State& state) {
  Destination destination(state.is_remote, state.directories);
  for (Kept& each : state.kept) {
    each.content([&](std::string_view bytes) { destination.put(each.name, bytes); });
    destination.end(each.name);
  }
  int failed = 0;
  Arrivals arrivals(state);
  for (std::size_t left = state.senders.size(); left > 0; --left) {
    const int source = arrivals.next();
    if (source >= 0 && receive_all(state, source, destination)) continue;
    ++failed;
    destination.abandon();
  }
  std::string why = destination.finish();
  if (why.empty() && failed > 0) why = std::to_string(failed) + " ranks failed before they sent theirs";
  if (!why.empty()) std::fprintf(stderr, "convene: results of other nodes are missing: %s\n", why.c_str());
}

/// At rank 0: the ranks whose files travel, without itself. Collective.
std::vector<int> find_senders(const State& state) {
  int procs = 1;
  const int is_remote = state.is_remote;
  pmpi.Comm_size(state.comm, &procs);
  std::vector<int> all(state.rank == 0 ? static_cast<std::size_t>(procs) : 0), senders;
  if (pmpi.Gather(&is_remote, 1, MPI_INT, all.data(), 1, MPI_INT, 0, state.comm) != MPI_SUCCESS) return {};
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank]) senders.push_back(static_cast<int>(rank));
  return senders;
}

}  // namespace

bool prepare(Directories directories) {
  const std::string id = run_id();
  if (id.empty() || stack::is_simulated || (directories.profiles.empty() && directories.recordings.empty()))
    return false;
  State& state = State::instance();
  state.directories = std::move(directories);
  state.is_remote =
      !is_of_run(state.directories.profiles, id) || !is_of_run(state.directories.recordings, id);
  std::unique_ptr<Message> message(new (std::nothrow) Message);  // its pages are touched if it is used
  pmpi.Comm_rank(MPI_COMM_WORLD, &state.rank);
  enum { remote, remote_first, out_of_memory, number };
  int counts[number] = {state.is_remote && state.rank > 0, state.is_remote && state.rank == 0, !message};
  if (pmpi.Allreduce(MPI_IN_PLACE, counts, number, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS ||
      counts[out_of_memory] > 0 || counts[remote] + counts[remote_first] == 0 ||
      pmpi.Comm_split(MPI_COMM_WORLD, 0, state.rank, &state.comm) != MPI_SUCCESS)
    return false;
  pmpi.Comm_set_errhandler(state.comm, MPI_ERRORS_RETURN);
  std::vector<int> senders = find_senders(state);
  state.senders = std::move(senders);
  state.message = std::move(message);
  return true;
}

bool is_remote() { return State::instance().message && State::instance().is_remote; }

std::string write(const std::string& directory, const std::string& name, Content content) {
  if (is_remote()) {
    State::instance().kept.push_back({name, std::move(content)});
    return "";
  }
  LocalFile file(directory + "/" + name);
  content([&](std::string_view bytes) { file.put(bytes); });
  return file.finish();
}

void collect() {
  State& state = State::instance();
  if (state.rank == 0)
    gather(state);
  else if (state.is_remote && !send_all(state))
    std::fprintf(stderr, "convene: the results of rank %d did not reach rank 0\n", state.rank);
  state.kept.clear();
}

std::string fetch(const std::string& name) {
  if (!is_remote()) return "";
  ReturnChannel channel;
  const std::optional<std::string> content = channel.get(name);
  if (!content)
    std::fprintf(stderr, "convene: cannot read %s of the launching machine: %s\n", name.c_str(),
                 channel.failure().c_str());
  return content.value_or("");
}

}  // namespace convene::runtime::results
