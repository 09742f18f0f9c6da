// One thread with two kinds of work: programs whose first launch it waits for, and programs whose binary it
// fetches and stores.

#include "runtime/program/program_saver.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/exit_gate.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/process_exit.hpp"
#include "runtime/program/program_store.hpp"

namespace balm::runtime {

namespace {

// Pauses between the launches of a computation are shorter, pauses after it are longer.
constexpr std::chrono::milliseconds idle_time{500}, between_looks{50};

// A process that compiles more without such a pause waits for compilers anyway, and process exit must not
// take long.
constexpr std::size_t most_waiting = 32;

/// Measures how long all devices have been idle.
class idleness {
public:
    bool is_long_enough() noexcept {
        const auto now = std::chrono::steady_clock::now();
        if (is_in_use()) since_ = now;
        return now - since_ >= idle_time;
    }

private:
    bool is_in_use() noexcept {
        try {
            std::uint64_t taken = 0;
            for (const auto& each : live_devices()) taken += each->commands_taken();
            if (std::exchange(taken_, taken) != taken) return true;
            bool is_at_work = false;
            for (const auto& each : live_devices()) is_at_work = is_at_work || each->is_at_work();
            return is_at_work;
        } catch (...) {
            return true;
        }
    }

    std::uint64_t taken_ = 0;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

class saver {
public:
    /// `launched` is null for a program whose binary can be fetched immediately.
    void add(std::shared_ptr<compiled_program> program, event_handle launched) {
        entries added;
        added.push_back({std::move(program), std::move(launched)});
        {
            const std::lock_guard lock(mutex_);
            added.front().number = ++last_number_;
            if (put(added)) return;
        }
        if (!wait_for_launch(added.front())) return;
        const std::lock_guard lock(mutex_);
        put(added);
    }

    void finish_launches() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this, last = last_number_] {
            return ended_ || !(has_up_to(last, launched_) || is_up_to(last, waited_for_));
        });
    }

    void finish() {
        std::unique_lock lock(mutex_);
        ++hurried_;
        changed_.notify_all();
        changed_.wait(lock, [this, last = last_number_] {
            return ended_ ||
                   !(has_up_to(last, launched_) || has_up_to(last, at_once_) || has_up_to(last, when_idle_) ||
                     is_up_to(last, waited_for_) || is_up_to(last, saved_));
        });
        --hurried_;
    }

    void begin_end() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        finish();
    }

    void end() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = ending_ = true;
            changed_.notify_all();
        }
        if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
    }

private:
    struct entry {
        std::shared_ptr<compiled_program> program;
        event_handle launched;     // null once it has completed
        std::uint64_t number = 0;  // they are waited for up to a number: other threads may add more and more
    };
    using entries = std::list<entry>;  // spliced without allocation

    static bool is_up_to(std::uint64_t last, std::uint64_t number) { return number != 0 && number <= last; }
    static bool has_up_to(std::uint64_t last, const entries& list) {
        return std::any_of(list.begin(), list.end(),
                           [last](const entry& each) { return is_up_to(last, each.number); });
    }

    /// Passes the entry to the thread; false if the caller must wait for its launch first.
    bool put(entries& added) {
        if (ending_ && added.front().launched != nullptr) return false;
        if (ended_) return true;  // dropped
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        entries& to = added.front().launched != nullptr ? launched_ : at_once_;
        to.splice(to.end(), added);
        changed_.notify_all();
        return true;
    }

    /// Returns whether to fetch the binary: not if the launch failed, whose waiters see the error.
    static bool wait_for_launch(entry& of) noexcept {
        bool is_done = true;
        try {
            of.launched->wait();
        } catch (...) {
            is_done = false;
        }
        of.launched = nullptr;
        // The compiler has created its static objects by now. Our handler, registered after theirs, runs
        // before they are destroyed, and waits for this thread, which needs them.
        finish_at_exit(of.program->compiled_by());
        return is_done && of.program->is_kept();
    }

    void run() noexcept {
        const exit_pass at_exit;
        idleness idle;
        std::unique_lock lock(mutex_);
        for (;;) {
            if (!launched_.empty()) {
                const auto wait_for = [](entry& each) { return wait_for_launch(each); };
                work_on_first_of(launched_, waited_for_, lock, wait_for);
            } else if (!at_once_.empty()) {
                work_on_first_of(at_once_, saved_, lock, save);
            } else if (when_idle_.empty()) {
                if (ended_) return;
                changed_.wait(lock);
            } else if (is_hurried() || is_idle(idle, lock)) {
                work_on_first_of(when_idle_, saved_, lock, save);
            } else {
                changed_.wait_for(lock, between_looks,
                                  [this] { return !launched_.empty() || !at_once_.empty() || is_hurried(); });
            }
        }
    }

    /// Works without the lock. Entries to be saved afterwards are saved when all devices are idle.
    template <class Work>
    void work_on_first_of(entries& list, std::uint64_t& at_work, std::unique_lock<std::mutex>& lock,
                          Work&& work) {
        entries next;
        next.splice(next.end(), list, list.begin());
        at_work = next.front().number;
        lock.unlock();
        const bool is_to_be_saved = work(next.front());
        if (!is_to_be_saved) next.clear();  // this may be the last reference to the program
        lock.lock();
        when_idle_.splice(when_idle_.end(), next);
        at_work = 0;
        changed_.notify_all();
    }

    static bool save(entry& each) noexcept {
        each.program->save();
        // Fetching may have made the driver register objects that must outlive the next fetch.
        finish_at_exit(each.program->compiled_by());
        return false;
    }

    bool is_hurried() const { return hurried_ > 0 || ended_ || when_idle_.size() > most_waiting; }

    /// Queries devices without the lock.
    bool is_idle(idleness& idle, std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const bool is_long_enough = idle.is_long_enough();
        lock.lock();
        return is_long_enough && launched_.empty() && at_once_.empty();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    entries launched_;                          // their first launches are in flight
    entries at_once_, when_idle_;               // to be saved
    std::uint64_t waited_for_ = 0, saved_ = 0;  // the number of an entry in none of these
    std::uint64_t last_number_ = 0;
    int hurried_ = 0;  // the number of callers in finish()
    bool ending_ = false, ended_ = false;
    std::thread thread_;
};

saver& the_saver() {
    static auto* const made = new saver;  // outlives every static object
    return *made;
}

}  // namespace

void save_in_background(std::shared_ptr<compiled_program> program, event_handle first_launch) noexcept {
    try {
        const std::string by = program->compiled_by();
        the_saver().add(std::move(program), std::move(first_launch));
        finish_at_exit(by);
    } catch (...) {  // no thread or no memory: the next process compiles again
    }
}

void finish_first_launches() noexcept { the_saver().finish_launches(); }

void finish_saving() noexcept { the_saver().finish(); }

void begin_end_of_saving() noexcept { the_saver().begin_end(); }

void end_saving() noexcept { the_saver().end(); }

}  // namespace balm::runtime
