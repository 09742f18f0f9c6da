#pragma once
// Devices, contexts and command queues with VexCL's interface: handles of Balm's objects.

#include "vexcl/detail/opencl.hpp"

#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <balm/context.hpp>
#include <balm/device.hpp>
#include <balm/filter.hpp>
#include <balm/interop.hpp>
#include <balm/queue.hpp>

#include "vexcl/backend/device_property.hpp"
#include "vexcl/detail/native_handles.hpp"
#include "vexcl/util.hpp"

// Programs test these macros to choose the language of their custom kernels.
#if !defined(VEXCL_BACKEND_OPENCL) && !defined(VEXCL_BACKEND_CUDA)
#define VEXCL_BACKEND_OPENCL
#endif

namespace vex {
namespace detail {

/// What a device, context or queue holds. Throws std::runtime_error if it was default-constructed.
template <class T>
const T& held(const std::optional<T>& of) {
    precondition(of.has_value(),
                 "a default-constructed device, context or queue must be assigned before it is used");
    return *of;
}

inline std::vector<balm::device> devices_that(const balm::device_filter& accepts) {
    try {
        return balm::context(accepts).devices();
    } catch (const balm::no_device_error&) {
        return {};
    }
}
/// The machine's devices, each as the backends offer it, the preferred one first.
inline std::vector<std::vector<balm::device>> cards() {
    std::vector<std::vector<balm::device>> all;
#ifdef VEXCL_BACKEND_CUDA
    for (const balm::device& each : devices_that(balm::filter::backend(balm::backend::cuda)))
        all.push_back({each});
#else
    for (const balm::device& each : devices_that(balm::filter::any)) all.push_back({each});
    for (const balm::device& other : devices_that(balm::filter::backend(balm::backend::opencl)))
        for (std::vector<balm::device>& card : all)
            if (balm::is_same_card(card.front().info(), other.info())) card.push_back(other);
#endif
    return all;
}

}  // namespace detail

namespace backend {

using balm::error;

typedef cl_command_queue_properties command_queue_properties;
typedef cl_device_id device_id;
typedef cl_context context_id;

/// A device. It is initialised when one of its queues is first used.
class device {
public:
    /// No device; it must be assigned before it is used.
    device() = default;
    device(balm::device of) : of_(std::move(of)) {}  // NOLINT(google-explicit-constructor)

    std::string name() const { return balm_device().name(); }
    /// All properties.
    const balm::device_info& info() const { return balm_device().info(); }
    /// A property by its OpenCL name; device_property.hpp lists those that are supported.
    ///
    ///     vex::Context ctx([](const vex::backend::device& d) {
    ///         return d.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>() > 8e9;
    ///     });
    template <cl_device_info Name>
    auto getInfo() const {
        return detail::device_property<Name>::of(info());
    }
    const balm::device& balm_device() const { return detail::held(of_); }
    /// The native handle. Initialises the device.
    device_id raw() const { return balm::native(balm_device()).device; }
    device_id operator()() const { return raw(); }
    VEX_CONVERTS_TO_HOLDERS_OF(device_id)

    friend bool operator==(const device& a, const device& b) { return a.of_ == b.of_; }
    /// Prints the name, and in parentheses the platform.
    friend std::ostream& operator<<(std::ostream& to, const device& d) {
        return to << d.info().name << " (" << d.info().platform << ")";
    }

private:
    std::optional<balm::device> of_;
};

/// The context of one device.
class context {
public:
    /// No context; it must be assigned before it is used.
    context() = default;
    explicit context(balm::device of) : of_(std::move(of)) {}

    const balm::device& balm_device() const { return detail::held(of_); }
    /// The native handle. Initialises the device.
    context_id raw() const { return balm::native(balm_device()).context; }
    context_id operator()() const { return raw(); }
    VEX_CONVERTS_TO_HOLDERS_OF(context_id)

    friend bool operator==(const context& a, const context& b) { return a.of_ == b.of_; }

private:
    std::optional<balm::device> of_;
};

/// An in-order queue of a device.
class command_queue {
public:
    /// No queue; it must be assigned before it is used.
    command_queue() = default;
    /// The default queue of the device.
    explicit command_queue(const balm::device& of) : command_queue(of, of.queue()) {}
    command_queue(balm::device of, balm::queue queue) : device_(std::move(of)), queue_(std::move(queue)) {}
    /// Another queue of the device.
    command_queue(const backend::context&, const backend::device& of, command_queue_properties = 0)
        : command_queue(of.balm_device(), of.balm_device().make_queue()) {}
    /// An in-order queue of another library, which retains its handle; vectors on it use the context of the
    /// queue. Throws balm::usage_error for an out-of-order queue.
    ///
    ///     boost::compute::command_queue queue = boost::compute::system::default_queue();
    ///     vex::vector<int> x({queue}, n);
    template <detail::handle_class<cl_command_queue> Q>
    command_queue(const Q& of) : command_queue(of.get()) {}  // NOLINT(google-explicit-constructor)
    explicit command_queue(cl_command_queue handle) : command_queue(balm::adopt_opencl_of(handle), handle) {}

    /// Waits until all commands so far have completed. Throws balm::device_error if one failed.
    void finish() const { balm::queue(balm_queue()).finish(); }
    /// Submits all commands so far to the device; does not wait.
    void flush() const { balm::queue(balm_queue()).flush(); }

    backend::device device() const { return backend::device(balm_device()); }
    backend::context context() const { return backend::context(balm_device()); }
    /// The same by OpenCL name: CL_QUEUE_DEVICE or CL_QUEUE_CONTEXT.
    template <cl_command_queue_info Name>
    auto getInfo() const {
        static_assert(Name == CL_QUEUE_DEVICE || Name == CL_QUEUE_CONTEXT,
                      "command_queue::getInfo supports CL_QUEUE_DEVICE and CL_QUEUE_CONTEXT");
        if constexpr (Name == CL_QUEUE_DEVICE)
            return device();
        else
            return context();
    }
    const balm::device& balm_device() const { return detail::held(device_); }
    const balm::queue& balm_queue() const { return detail::held(queue_); }
    /// The native handle. Initialises the device.
    cl_command_queue raw() const { return balm::native(balm_queue()); }
    cl_command_queue operator()() const { return raw(); }
    VEX_CONVERTS_TO_HOLDERS_OF(cl_command_queue)

    friend bool operator==(const command_queue&, const command_queue&) = default;
    friend std::ostream& operator<<(std::ostream& to, const command_queue& q) { return to << q.device(); }

private:
    command_queue(const balm::device& of, cl_command_queue handle)
        : command_queue(of, balm::adopt_queue(of, handle)) {}

    std::optional<balm::device> device_;
    std::optional<balm::queue> queue_;
};

/// Prints the devices of the queues, one per line.
inline std::ostream& operator<<(std::ostream& to, const std::vector<command_queue>& list) {
    std::size_t number = 0;
    for (const command_queue& q : list) to << ++number << ". " << q << '\n';
    return to;
}

inline device get_device(const command_queue& q) { return q.device(); }
inline context get_context(const command_queue& q) { return q.context(); }
inline device_id get_device_id(const command_queue& q) { return balm::native(q.balm_device()).device; }
inline context_id get_context_id(const command_queue& q) { return q.context().raw(); }
/// Another queue of the same device.
inline command_queue duplicate_queue(const command_queue& q) {
    return {q.balm_device(), q.balm_device().make_queue()};
}
inline bool is_cpu(const command_queue& q) { return q.balm_device().info().type == balm::device_type::cpu; }
/// Does nothing: Balm makes a device's context current where the driver requires it.
inline void select_context(const command_queue&) {}

/// Orders of contexts and queues, for std::map.
struct compare_contexts {
    bool operator()(const context& a, const context& b) const {
        return a.balm_device().state() < b.balm_device().state();
    }
};
struct compare_queues {
    bool operator()(const command_queue& a, const command_queue& b) const {
        return a.balm_queue().state() < b.balm_queue().state();
    }
};

/// The devices that a filter accepts, GPUs first. With VEXCL_BACKEND_CUDA, only CUDA devices are considered;
/// else a card that the filter rejects as CUDA's is judged as OpenCL's, as if for the first time, since
/// filters may count.
template <class Filter>
std::vector<device> device_list(Filter&& accepts) {
    std::vector<device> accepted;
    std::function<bool(const device&)> judge = accepts;
    for (const std::vector<balm::device>& card : detail::cards()) {
        const auto before = judge;
        for (const balm::device& each : card) {
            auto judge_again = before;
            const bool is_accepted = judge_again(each);
            if (is_accepted) accepted.emplace_back(each);
            if (is_accepted || &each == &card.front()) judge = std::move(judge_again);
            if (is_accepted) break;
        }
    }
    return accepted;
}
/// A context and a queue for each device that a filter accepts.
template <class Filter>
std::pair<std::vector<context>, std::vector<command_queue>> queue_list(Filter&& accepts,
                                                                       command_queue_properties = 0) {
    std::pair<std::vector<context>, std::vector<command_queue>> made;
    for (const device& each : device_list(accepts)) {
        made.first.emplace_back(each.balm_device());
        made.second.emplace_back(each.balm_device());
    }
    return made;
}

// VexCL has a namespace for each backend; here they are the same.
namespace opencl {
using namespace backend;  // NOLINT(google-build-using-namespace)
}
namespace cuda {
using namespace backend;  // NOLINT(google-build-using-namespace)
}

}  // namespace backend

using backend::command_queue;
using backend::command_queue_properties;
using backend::device;
using backend::is_cpu;

}  // namespace vex
