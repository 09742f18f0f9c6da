#pragma once
// The primary context of a CUDA device, retained while in use, or an adopted one, with the state that its
// queues share: a pool of events, and the anchors that relate the device's clock to the host's.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

class context;

/// An event of the pool, to which it returns. Reuse is safe at any time: waits already enqueued on the event
/// keep the record that they saw (cuStreamWaitEvent). The owner keeps the context alive.
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
    /// The primary context.
    context(CUdevice, std::string device_name);
    /// An adopted context, which its maker keeps alive.
    context(CUdevice, std::string device_name, CUcontext);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    CUcontext get() const { return context_; }
    const std::string& device_name() const { return device_name_; }

    /// Enables direct copies from the other context's memory to this one's if the devices are capable of
    /// them; once.
    void reach(const context& other);
    /// Whether the devices are capable of direct copies.
    bool can_reach(const context& other) const;

    /// An anchor at most two seconds old: cuEventElapsedTime returns float milliseconds, whose steps beyond
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
    CUstream anchor_stream_ = nullptr;  // always idle, so that an anchor completes when it is recorded
    std::shared_ptr<const anchor> anchor_;
};

/// Makes a context current for the thread within a scope. A thread that had none keeps it, which makes the
/// next scope cheap; a thread with another one gets that back. An error here appears in the next driver call.
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
