#pragma once
// The primary context of a CUDA device, held while anything uses it, or one that somebody else made, with
// what its queues share: a pool of events, and the anchors that tie the device's clock to the host's.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

class context;

/// An event of the pool; goes back to it. Reuse is safe at any time: waits that were enqueued on the event
/// keep the record they saw (cuStreamWaitEvent). The owner keeps the context alive.
class pooled_event {
public:
    pooled_event() = default;
    pooled_event(context&, bool timing);
    pooled_event(pooled_event&& other) noexcept;
    pooled_event& operator=(pooled_event&& other) noexcept;
    pooled_event(const pooled_event&) = delete;
    pooled_event& operator=(const pooled_event&) = delete;
    ~pooled_event();

    CUevent get() const { return event_; }

private:
    context* context_ = nullptr;
    CUevent event_ = nullptr;
    bool timing_ = false;
};

/// An event whose time on the host's clock is known; device times are measured from it.
struct anchor {
    pooled_event event;
    std::uint64_t time = 0;
};

/// Nanoseconds of the host's steady clock.
std::uint64_t host_time();

class context {
public:
    /// The primary one.
    context(CUdevice, std::string device_name);
    /// One that somebody else made, and keeps.
    context(CUdevice, std::string device_name, CUcontext);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    CUcontext get() const { return context_; }
    const std::string& device_name() const { return device_name_; }

    /// Has the devices copy from the other context's memory to this one's by themselves, where they can;
    /// once.
    void reach(const context& other);
    /// Whether they can.
    bool can_reach(const context& other) const;

    /// An anchor at most two seconds old: cuEventElapsedTime gives float milliseconds, whose steps beyond
    /// that are coarser than 0.25 microseconds, and the two clocks drift.
    std::shared_ptr<const anchor> recent_anchor();

private:
    friend class pooled_event;
    CUevent take_event(bool timing);
    void give_back(CUevent, bool timing) noexcept;
    void renew_anchor();

    CUdevice device_;
    std::string device_name_;
    CUcontext context_ = nullptr;
    bool is_primary_ = true;
    std::mutex events_mutex_;
    std::vector<CUevent> free_events_[2];  // without and with timing
    std::mutex reached_mutex_;
    std::vector<CUcontext> reached_;
    std::mutex anchor_mutex_;
    CUstream anchor_stream_ = nullptr;  // always idle, so that an anchor is reached when it is recorded
    std::shared_ptr<const anchor> anchor_;
};

/// Makes a context the thread's own for a scope. A thread that had none keeps it, which makes the next time
/// cheap; a thread with another gets that back. An error here shows in the driver call that follows.
class current_context {
public:
    explicit current_context(const context& wanted) noexcept {
        CUcontext found = nullptr;
        driver().cuCtxGetCurrent(&found);
        if (found == wanted.get()) return;
        driver().cuCtxSetCurrent(wanted.get());
        previous_ = found;
    }
    ~current_context() {
        if (previous_ != nullptr) driver().cuCtxSetCurrent(previous_);
    }
    current_context(const current_context&) = delete;
    current_context& operator=(const current_context&) = delete;

private:
    CUcontext previous_ = nullptr;
};

}  // namespace balm::cuda
