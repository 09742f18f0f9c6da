#include "runtime/queue/promised_event.hpp"

#include <unordered_set>
#include <utility>

#include "balm/error.hpp"
#include "balm/user_event.hpp"
#include "base/forked.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/poller.hpp"

namespace balm {

namespace runtime {

// ---- promised events ----

bool promised_event::is_complete() {
    event_handle native;
    {
        const std::lock_guard lock(mutex_);
        if (!is_settled_) return false;
        native = native_;
    }
    return native == nullptr || native->is_complete();
}

void promised_event::wait() {
    wait_until_settled();
    if (const event_handle made = native()) made->wait();
}

timestamps promised_event::times() {
    wait_until_settled();
    if (const event_handle made = native()) return made->times();
    throw usage_error("This event is a user_event, set by the program: it has no command and no timestamps.");
}

bool promised_event::become(event_handle native, std::exception_ptr failure) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (is_settled_) return false;
        is_settled_ = true;
        native_ = std::move(native);
        failure_ = std::move(failure);
        changed_.notify_all();
    }
    wake_pollers();
    return true;
}

bool promised_event::settle(event_handle native) noexcept { return become(std::move(native), nullptr); }

bool promised_event::fail(std::exception_ptr failure) noexcept { return become(nullptr, std::move(failure)); }

bool promised_event::is_settled() const {
    const std::lock_guard lock(mutex_);
    return is_settled_;
}

void promised_event::wait_until_settled() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_settled_; });
}

event_handle promised_event::native() const {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return native_;
}

// ---- user events ----

namespace {

struct open_events {
    std::mutex mutex;
    std::unordered_set<user_event_state*> all;
    bool at_end = false;
};

open_events& the_open_events() {
    static auto* const made = new open_events;  // static objects may hold user events
    return *made;
}

std::exception_ptr failure_of(const char* words) noexcept {
    try {
        throw usage_error(words);
    } catch (...) {  // or std::bad_alloc
        return std::current_exception();
    }
}

std::exception_ptr end_of_process() noexcept {
    return failure_of(
        "The process is exiting, but a user event was not set: call complete() or fail() before exit.");
}

}  // namespace

user_event_state::user_event_state() {
    refuse_if_forked();
    open_events& open = the_open_events();
    const std::lock_guard lock(open.mutex);
    if (open.at_end)
        promise_->fail(end_of_process());
    else
        open.all.insert(this);
}

user_event_state::~user_event_state() {
    if (is_forked()) return;
    {
        open_events& open = the_open_events();
        const std::lock_guard lock(open.mutex);
        open.all.erase(this);
    }
    if (promise_->is_settled()) return;
    promise_->fail(
        failure_of("A user event was destroyed before it was set, so the commands that wait for it cannot "
                   "run: keep a copy of it until complete() or fail() is called."));
}

void fail_open_user_events() noexcept {
    open_events& open = the_open_events();
    const std::lock_guard lock(open.mutex);
    open.at_end = true;
    for (const user_event_state* const each : open.all) each->promise()->fail(end_of_process());
}

}  // namespace runtime

user_event::user_event() : state_(std::make_shared<runtime::user_event_state>()) {}

bool user_event::complete() const { return state_->promise()->settle(nullptr); }

bool user_event::fail(std::exception_ptr why) const {
    if (why == nullptr)
        throw usage_error(
            "fail() of a user event was called with a null std::exception_ptr; pass an exception.");
    return state_->promise()->fail(std::move(why));
}

user_event::operator event() const {
    const std::shared_ptr<runtime::promised_event>& promise = state_->promise();
    return event(
        std::make_shared<runtime::event_state>(runtime::event_state{promise, nullptr, {}, 0, 0, promise}));
}

}  // namespace balm
