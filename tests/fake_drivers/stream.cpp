#include "fake_drivers/stream.hpp"

#include <chrono>
#include <set>
#include <utility>

#include "fake_drivers/faults.hpp"

namespace balm::test {

namespace {

std::set<stream*>& streams() {
    static auto* const made = new std::set<stream*>;
    return *made;
}

std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

}  // namespace

stream::stream() { streams().insert(this); }
stream::~stream() {
    flush_and_run();
    streams().erase(this);
}

command_handle stream::add(std::function<void()> work) {
    waiting_.push_back(std::make_shared<command>(command{this, ++added_, std::move(work), now()}));
    return waiting_.back();
}

void stream::flush() {
    for (const command_handle& each : waiting_)
        if (each->submitted == 0) each->submitted = now();
    flushed_ = added_;
}

void stream::flush_and_run() {
    flush();
    while (!waiting_.empty()) run_first();
}

void stream::run_first() {
    if (is_running_) refuse("a command waits for one that comes after it");
    const command_handle first = std::move(waiting_.front());
    waiting_.pop_front();
    is_running_ = true;
    first->started = now();
    std::exchange(first->work, nullptr)();  // what it holds goes, too
    first->ended = now();
    is_running_ = false;
}

void stream::wait_for(const command& wanted) {
    if (wanted.is_done()) return;
    wanted.on->flush();
    while (!wanted.is_done()) wanted.on->run_first();
}

void stream::wait_for_submitted(const command& wanted) {
    if (!wanted.is_done() && wanted.number > wanted.on->flushed_)
        refuse("a command waits for one of another queue that was not flushed");
    wait_for(wanted);
}

bool stream::poll(const command& wanted) {
    if (!wanted.is_done() && wanted.number <= wanted.on->flushed_) wait_for(wanted);
    return wanted.is_done();
}

void stream::run_all() {
    for (stream* each : streams()) each->flush_and_run();
}

}  // namespace balm::test
