// One thread with a list of programs to keep: fetches the binary of each and stores it.

#include "runtime/program_saver.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/process_exit.hpp"
#include "runtime/program_store.hpp"

namespace balm::runtime {

namespace {

class saver {
public:
    void add(std::shared_ptr<compiled_program> program) {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        waiting_.push_back(std::move(program));
        changed_.notify_all();
    }

    void finish() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return (waiting_.empty() && !busy_) || ended_; });
    }

    void end() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
            changed_.notify_all();
        }
        if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
    }

private:
    void run() noexcept {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return !waiting_.empty() || ended_; });
            if (waiting_.empty()) return;
            std::shared_ptr<compiled_program> next = std::move(waiting_.front());
            waiting_.pop_front();
            busy_ = true;
            lock.unlock();
            next->save();
            // Fetching may have made the driver register what must outlive the next fetch.
            finish_at_exit(next->compiled_on());
            next = nullptr;
            lock.lock();
            busy_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<compiled_program>> waiting_;
    bool busy_ = false;
    bool ended_ = false;
    std::thread thread_;
};

saver& the_saver() {
    static auto* const made = new saver;  // outlives every static object
    return *made;
}

}  // namespace

void save_in_background(std::shared_ptr<compiled_program> program) noexcept {
    try {
        const device_state* const of = program->compiled_on();
        the_saver().add(std::move(program));
        finish_at_exit(of);
    } catch (...) {  // no thread or no memory: the next process compiles again
    }
}

void finish_saving() noexcept { the_saver().finish(); }

void end_saving() noexcept { the_saver().end(); }

}  // namespace balm::runtime
