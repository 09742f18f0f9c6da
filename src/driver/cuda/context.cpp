#include "driver/cuda/context.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/forked.hpp"
#include "driver/cuda/check.hpp"

namespace balm::cuda {

namespace {

constexpr std::uint64_t anchor_lifetime = 2'000'000'000;  // nanoseconds

}  // namespace

std::uint64_t host_time() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

pooled_event::pooled_event(context& from, bool timing)
    : context_(&from), event_(from.take_event(timing)), timing_(timing) {}

pooled_event::pooled_event(pooled_event&& other) noexcept
    : context_(other.context_), event_(std::exchange(other.event_, nullptr)), timing_(other.timing_) {}

pooled_event& pooled_event::operator=(pooled_event&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(event_, other.event_);
    std::swap(timing_, other.timing_);
    return *this;
}

pooled_event::~pooled_event() {
    if (event_ != nullptr && !runtime::is_forked()) context_->give_back(event_, timing_);
}

context::context(CUdevice device, std::string device_name)
    : device_(device), device_name_(std::move(device_name)) {
    check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain",
          "the primary context", device_name_);
}

context::context(CUdevice device, std::string device_name, CUcontext adopted)
    : device_(device), device_name_(std::move(device_name)), context_(adopted), is_primary_(false) {}

context::~context() {
    if (runtime::is_forked()) return;
    anchor_.reset();
    {
        const current_context current(*this);
        if (anchor_stream_ != nullptr) driver().cuStreamDestroy(anchor_stream_);
        for (const auto& events : free_events_)
            for (CUevent event : events) driver().cuEventDestroy(event);
    }
    if (!is_primary_) return;
    CUcontext current = nullptr;
    driver().cuCtxGetCurrent(&current);
    if (current == context_) driver().cuCtxSetCurrent(nullptr);  // the release may destroy it
    driver().cuDevicePrimaryCtxRelease(device_);
}

CUevent context::take_event(bool timing) {
    {
        const std::lock_guard lock(events_mutex_);
        if (auto& free = free_events_[timing]; !free.empty()) {
            CUevent event = free.back();
            free.pop_back();
            return event;
        }
    }
    const current_context current(*this);
    CUevent event = nullptr;
    check(driver().cuEventCreate(&event, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
          "cuEventCreate", "an event", device_name_);
    return event;
}

void context::give_back(CUevent event, bool timing) noexcept {
    try {
        const std::lock_guard lock(events_mutex_);
        free_events_[timing].push_back(event);
    } catch (...) {
        const current_context current(*this);
        driver().cuEventDestroy(event);
    }
}

bool context::can_reach(const context& other) const {
    int can = 0;
    return driver().cuDeviceCanAccessPeer(&can, device_, other.device_) == CUDA_SUCCESS && can != 0;
}

void context::reach(const context& other) {
    const std::lock_guard lock(reached_mutex_);
    if (std::find(reached_.begin(), reached_.end(), other.get()) != reached_.end()) return;
    reached_.push_back(other.get());
    if (!can_reach(other)) return;
    // The program may have enabled it before. On failure, the driver copies through the host.
    const current_context current(*this);
    driver().cuCtxEnablePeerAccess(other.get(), 0);
}

std::shared_ptr<const anchor> context::recent_anchor() {
    const std::lock_guard lock(anchor_mutex_);
    if (anchor_ == nullptr || host_time() - anchor_->time > anchor_lifetime) renew_anchor();
    return anchor_;
}

void context::renew_anchor() {
    const current_context current(*this);
    if (anchor_stream_ == nullptr)
        check(driver().cuStreamCreate(&anchor_stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
              "the stream of the clock's anchors", device_name_);
    auto made = std::make_shared<anchor>();
    made->event = pooled_event(*this, true);
    const std::uint64_t before = host_time();
    check(driver().cuEventRecord(made->event.get(), anchor_stream_), "cuEventRecord", "a clock's anchor",
          device_name_);
    check(driver().cuEventSynchronize(made->event.get()), "cuEventSynchronize", "a clock's anchor",
          device_name_);
    const std::uint64_t after = host_time();
    made->time = before + (after - before) / 2;
    // As far as the device's clock agrees with the host's, follow the device's: no step between anchors.
    float elapsed = 0;
    if (anchor_ != nullptr &&
        driver().cuEventElapsedTime(&elapsed, anchor_->event.get(), made->event.get()) == CUDA_SUCCESS)
        made->time =
            std::clamp(anchor_->time + static_cast<std::uint64_t>(double{elapsed} * 1e6), before, after);
    anchor_ = std::move(made);
}

}  // namespace balm::cuda
