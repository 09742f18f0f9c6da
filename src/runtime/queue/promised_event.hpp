#pragma once
// Events that the runtime makes before the driver does: of commands that wait on the host until the driver
// can have them, and those that the program sets itself.

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/backend.hpp"

namespace balm::runtime {

/// Open until it is settled, once: by the driver's event, by having happened, or by a failure.
class promised_event final : public driver_event {
public:
    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    /// The driver's event is there; null: it has happened. False where it was settled before.
    bool settle(event_handle native) noexcept;
    /// It will never happen. False where it was settled before.
    bool fail(std::exception_ptr) noexcept;

    bool is_settled() const;
    void wait_until_settled() const;
    /// The driver's event of a settled one; null where it has happened. Throws what it failed with.
    event_handle native() const;

private:
    bool become(event_handle native, std::exception_ptr failure) noexcept;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool is_settled_ = false;
    event_handle native_;
    std::exception_ptr failure_;
};

/// What a balm::user_event refers to; an unset one fails when the last handle goes.
class user_event_state {
public:
    user_event_state();
    user_event_state(const user_event_state&) = delete;
    user_event_state& operator=(const user_event_state&) = delete;
    ~user_event_state();

    const std::shared_ptr<promised_event>& promise() const { return promise_; }

private:
    std::shared_ptr<promised_event> promise_ = std::make_shared<promised_event>();
};

/// At the end of the process: those that are open fail, and so do new ones.
void fail_open_user_events() noexcept;

}  // namespace balm::runtime
