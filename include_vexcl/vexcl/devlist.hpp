#pragma once
// Contexts: the devices that a program computes on.

#include <cstddef>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "vexcl/backend/context.hpp"
#include "vexcl/cache.hpp"
#include "vexcl/detail/filters.hpp"
#include "vexcl/detail/queue_list.hpp"
#include "vexcl/util.hpp"

namespace vex {

using backend::device_list;
using backend::queue_list;

/// Whether T is a condition on devices.
template <class T>
struct is_device_filter : std::bool_constant<std::is_invocable_r_v<bool, T, const backend::device&>> {};

/// Equal weights, for set_partitioning.
inline double equal_weights(const command_queue&) { return 1; }
/// Sets the weights by which vectors created on several queues from now on are partitioned: the function is
/// called once for each device. The default weight is the device's memory bandwidth, which Balm measures
/// once.
inline void set_partitioning(std::function<double(const command_queue&)> weight) {
    detail::partitioning_scheme::current().set(std::move(weight));
}

class Context;

/// The most recently constructed context.
template <bool = true>
class StaticContext {
public:
    static void set(Context& made) { last() = &made; }
    /// Throws std::runtime_error if there is none, or if it has been destroyed.
    static const Context& get() {
        if (last() == nullptr)
            throw std::runtime_error(
                "There is no current vex::Context: none has been constructed, or the last one has been "
                "destroyed");
        return *last();
    }

private:
    friend class Context;
    static Context*& last() {
        static Context* made = nullptr;
        return made;
    }
};

/// Devices, with a queue for each.
///
///     vex::Context ctx(vex::Filter::Env && vex::Filter::DoublePrecision);
///     if (!ctx) throw std::runtime_error("no device computes in double precision");
///     std::cout << ctx << std::endl;
class Context {
public:
    /// The devices that the filter accepts; possibly none.
    template <class F>
    requires std::is_invocable_r_v<bool, const F&, const backend::device&>
    explicit Context(const F& accepts, backend::command_queue_properties properties = 0) {
        std::tie(contexts_, queues_) = backend::queue_list(F(accepts), properties);
#ifdef VEXCL_THROW_ON_EMPTY_CONTEXT
        precondition(!queues_.empty(), "No compute devices found");
#endif
        StaticContext<>::set(*this);
    }
    /// These queues; one device may have several.
    Context(std::vector<backend::context> contexts, std::vector<command_queue> queues)
        : contexts_(std::move(contexts)), queues_(std::move(queues)) {
        precondition(contexts_.size() == queues_.size(),
                     "vex::Context: the numbers of backend contexts and queues differ");
        StaticContext<>::set(*this);
    }
    explicit Context(const std::vector<std::pair<backend::context, command_queue>>& of) {
        for (const auto& [context, queue] : of) {
            contexts_.push_back(context);
            queues_.push_back(queue);
        }
        StaticContext<>::set(*this);
    }
    Context(const Context&) = default;
    Context& operator=(const Context&) = default;
    ~Context() {
        if (StaticContext<>::last() == this) StaticContext<>::last() = nullptr;
    }

    const std::vector<backend::context>& context() const { return contexts_; }
    std::vector<backend::context>& context() { return contexts_; }
    const backend::context& context(unsigned d) const { return contexts_[d]; }
    backend::context& context(unsigned d) { return contexts_[d]; }
    const std::vector<command_queue>& queue() const { return queues_; }
    std::vector<command_queue>& queue() { return queues_; }
    const command_queue& queue(unsigned d) const { return queues_[d]; }
    command_queue& queue(unsigned d) { return queues_[d]; }
    operator const std::vector<command_queue>&() const { return queues_; }  // NOLINT
    operator std::vector<command_queue>&() { return queues_; }              // NOLINT
    backend::device device(unsigned d) const { return queues_[d].device(); }

    std::size_t size() const { return queues_.size(); }
    bool empty() const { return queues_.empty(); }
    operator bool() const { return !empty(); }  // NOLINT
    /// Waits until all commands of the queues have completed.
    void finish() const {
        for (const command_queue& each : queues_) each.finish();
    }

    /// Prints the devices, one per line.
    friend std::ostream& operator<<(std::ostream& to, const Context& c) {
        return backend::operator<<(to, c.queues_);
    }

private:
    std::vector<backend::context> contexts_;
    std::vector<command_queue> queues_;
};

/// The most recently constructed context. Throws std::runtime_error if there is none, or if it has been
/// destroyed.
inline const Context& current_context() { return StaticContext<>::get(); }

}  // namespace vex
