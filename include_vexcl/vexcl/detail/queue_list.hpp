#pragma once
// The queues of a vector, shared with all expressions that contain it, and the Balm context of their devices.

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <balm/context.hpp>
#include <balm/queue.hpp>

#include "vexcl/backend/context.hpp"

namespace vex {
namespace detail {

using weight_function = std::function<double(const command_queue&)>;

/// The weights by which vectors are partitioned: those that the function of set_partitioning() has given,
/// which is asked once for each device, and without one none, since Balm measures the devices' bandwidths.
class partitioning_scheme {
public:
    static partitioning_scheme& current() {
        static partitioning_scheme one;
        return one;
    }
    void set(weight_function weight) {
        const std::lock_guard lock(mutex_);
        weight_ = std::move(weight);
        known_.clear();
    }
    /// One weight for each of several queues. Their function may make vectors of its own on each.
    std::vector<double> weights_of(const std::vector<command_queue>& queues) {
        std::vector<double> made;
        if (queues.size() < 2 || !has_function()) return made;
        made.reserve(queues.size());
        for (const command_queue& each : queues) made.push_back(weight_of(each));
        return made;
    }

private:
    bool has_function() {
        const std::lock_guard lock(mutex_);
        return static_cast<bool>(weight_);
    }
    double weight_of(const command_queue& queue) {
        const void* const device = queue.balm_device().state().get();
        weight_function ask;
        {
            const std::lock_guard lock(mutex_);
            if (const auto known = known_.find(device); known != known_.end()) return known->second;
            ask = weight_;
        }
        const double weight = ask(queue);
        const std::lock_guard lock(mutex_);
        return known_.emplace(device, weight).first->second;
    }

    std::mutex mutex_;
    weight_function weight_;
    std::map<const void*, double> known_;
};

/// Queues, and the context of vectors on them, in which each queue holds one part. Cheap to copy. Null for
/// expressions without vectors.
class queue_list {
public:
    queue_list() = default;
    explicit queue_list(const std::vector<command_queue>& queues) : state_(std::make_shared<state>()) {
        state_->queues = queues;
        if (queues.empty()) return;
        std::vector<balm::device> devices;
        for (const command_queue& each : queues) devices.push_back(each.balm_device());
        state_->context.emplace(std::move(devices));
        if (auto weights = partitioning_scheme::current().weights_of(queues); !weights.empty())
            state_->context = state_->context->weighted(std::move(weights));
        for (const command_queue& each : queues)
            state_->has_others = state_->has_others || !(each.balm_queue() == each.balm_device().queue());
    }

    explicit operator bool() const { return static_cast<bool>(state_); }
    const std::vector<command_queue>& queues() const {
        static const std::vector<command_queue> none;
        return state_ ? state_->queues : none;
    }
    std::size_t size() const { return queues().size(); }
    /// Null for an empty list.
    const balm::context* context() const { return state_ && state_->context ? &*state_->context : nullptr; }
    /// Whether some queue is not the default queue of its device.
    bool has_other_queues() const { return state_ && state_->has_others; }

private:
    struct state {
        std::vector<command_queue> queues;
        std::optional<balm::context> context;
        bool has_others = false;
    };
    std::shared_ptr<state> state_;
};

/// During its lifetime, work of this thread is submitted to these queues, for each device to the first of its
/// queues. A queue_list without other queues than the devices' default queues has no effect.
class on_queues {
public:
    explicit on_queues(const queue_list& list) {
        if (list.has_other_queues()) [[unlikely]]
            open(list.queues());
    }
    explicit on_queues(const std::vector<command_queue>& queues) { open(queues); }
    on_queues(const on_queues&) = delete;
    on_queues& operator=(const on_queues&) = delete;
    ~on_queues() {
        while (!scopes_.empty()) scopes_.pop_back();  // scopes nest
    }

private:
    void open(const std::vector<command_queue>& queues) {
        for (std::size_t k = queues.size(); k-- > 0;) scopes_.emplace_back(queues[k].balm_queue());
    }
    std::list<balm::queue_scope> scopes_;
};

}  // namespace detail
}  // namespace vex
