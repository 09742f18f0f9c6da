#pragma once
// An in-order queue of a fake driver. Commands do nothing before somebody waits for them, so that memory
// which a command uses too late, and waits that are missing between queues, show every time.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace balm::test {

class stream;

/// A command, also once it is done.
struct command {
    stream* on = nullptr;
    std::uint64_t number = 0;
    std::function<void()> work{};
    std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0;  ///< nanoseconds; 0: not yet
    bool is_done() const { return ended != 0; }
};
using command_handle = std::shared_ptr<command>;

class stream {
public:
    stream();
    ~stream();
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    command_handle add(std::function<void()> work);
    /// Submits all commands so far: no other may run.
    void flush();
    void flush_and_run();

    /// Runs its stream until it is done. Called by whoever waits on the host.
    static void wait_for(const command&);
    /// The same for a command of another stream, which ends the process if nobody has submitted it.
    static void wait_for_submitted(const command&);
    /// Whether it is done; if not, its stream goes on by what is submitted.
    static bool poll(const command&);
    static void run_all();

private:
    void run_first();

    std::deque<command_handle> waiting_;
    std::uint64_t added_ = 0, flushed_ = 0;
    bool is_running_ = false;
};

}  // namespace balm::test
