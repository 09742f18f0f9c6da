#pragma once
// Events that the runtime creates before the driver: of deferred commands, and user events.

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/backend.hpp"

namespace balm::runtime {

/// Open until it is settled, once: by the driver's event, as completed, or by a failure.
class promised_event final : public driver_event {
public:
    bool is_complete() override;
    void wait() override;
    timestamps times() override;

    /// Settles it with the driver's event, or as completed if null. Returns false if it was already settled.
    bool settle(event_handle native) noexcept;
    /// Settles it with a failure. Returns false if it was already settled.
    bool fail(std::exception_ptr) noexcept;

    bool is_settled() const;
    void wait_until_settled() const;
    /// The driver's event, once it is settled; null if it was settled as completed. Rethrows its failure.
    event_handle native() const;

private:
    bool become(event_handle native, std::exception_ptr failure) noexcept;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool is_settled_ = false;
    event_handle native_;
    std::exception_ptr failure_;
};

/// What a balm::user_event refers to; if it was not set, it fails when the last handle is destroyed.
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

/// At process exit: fails the open user events, and those that are created later.
void fail_open_user_events() noexcept;

}  // namespace balm::runtime
