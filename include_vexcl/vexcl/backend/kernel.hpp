#pragma once
// Custom kernels, written in OpenCL C. On CUDA devices, Balm compiles the same source.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <balm/text_kernel.hpp>

#include "vexcl/backend/context.hpp"
#include "vexcl/backend/device_vector.hpp"
#include "vexcl/backend/program_header.hpp"
#include "vexcl/types.hpp"

namespace vex {
namespace backend {

/// The source of kernels, compiled when one of them is first launched.
class program {
public:
    explicit program(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }

private:
    std::string text_;
};
/// A program from source and compile options, of which only those that define macros have an effect.
inline program build_sources(const command_queue&, const std::string& text, const std::string& options = {}) {
    return program(detail::program_preamble(options) + text);
}

/// Sizes in three dimensions.
struct ndrange {
    std::size_t x, y, z;
    ndrange(std::size_t in_x = 1, std::size_t in_y = 1, std::size_t in_z = 1)  // NOLINT
        : x(in_x), y(in_y), z(in_z) {}
};

/// A kernel and the arguments pushed for its next launch.
///
///     vex::backend::kernel scale(ctx.queue(0), VEX_STRINGIZE_SOURCE(
///         kernel void scale(ulong n, global double* x) {
///             for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) x[i] *= 2;
///         }), "scale");
///     scale(ctx.queue(0), x.size(), x(0));
class kernel {
    using located_name = balm::detail::located_name;  // where the kernel is made, for messages and profiles

public:
    kernel() = default;
    kernel(const command_queue& queue, const std::string& text, const located_name& name,
           std::size_t local_bytes_per_item = 0, const std::string& options = {})
        : kernel(queue, build_sources(queue, text, options), name, local_bytes_per_item) {}
    kernel(const command_queue& queue, const std::string& text, const located_name& name,
           const std::function<std::size_t(std::size_t)>& local_bytes_of_group,
           const std::string& options = {})
        : kernel(queue, build_sources(queue, text, options), name, local_bytes_of_group) {}
    kernel(const command_queue& queue, const program& in, const located_name& name,
           std::size_t local_bytes_per_item = 0)
        : kernel(queue, in, name, [=](std::size_t items) { return items * local_bytes_per_item; }) {}
    /// Chooses the launch configuration by config(queue, local_bytes_of_group).
    kernel(const command_queue& queue, const program& in, const located_name& name,
           const std::function<std::size_t(std::size_t)>& local_bytes_of_group)
        : kernel_(balm::source_kernel<3>(name, in.text())) {
        config(queue, local_bytes_of_group);
    }

    /// Appends an argument: a number, a short vector, or memory of the device.
    template <class A>
    void push_arg(const A& argument) {
        if constexpr (requires { argument.balm_elements(); }) {
            precondition(argument.balm_elements().has_value(),
                         "vex::backend::kernel: a memory argument has no elements");
            arguments_.push(*argument.balm_elements());
        } else {
            arguments_.push(detail::to_balm(argument));
        }
    }
    /// Appends local memory: a number of bytes per work-item, or a function of the work-group's size.
    void set_smem(std::size_t bytes_per_item) { push_local(bytes_per_item * workgroup_size()); }
    template <std::invocable<std::size_t> F>
    void set_smem(F&& bytes_of_group) {
        push_local(bytes_of_group(workgroup_size()));
    }

    /// Launches the kernel with the pushed arguments, and removes them.
    void operator()(const command_queue& queue) {
        precondition(kernel_.has_value(),
                     "vex::backend::kernel: a default-constructed kernel cannot be launched");
        const balm::extent<3> groups(groups_.x * size_.x, groups_.y * size_.y, groups_.z * size_.z);
        const balm::kernel_arguments arguments = std::exchange(arguments_, {});
        balm::queue(queue.balm_queue())
            .execute((*kernel_)(arguments), groups, balm::extent<3>(size_.x, size_.y, size_.z));
    }
    template <class First, class... Rest>
    void operator()(const command_queue& queue, const First& first, const Rest&... rest) {
        push_arg(first);
        (push_arg(rest), ...);
        (*this)(queue);
    }
    /// Removes the pushed arguments.
    void reset() { arguments_.clear(); }

    /// Chooses the launch configuration for the device: num_workgroups() work-groups of one work-item on
    /// CPUs; elsewhere of 256 work-items or the device's maximum, halved until a group's local memory fits.
    kernel& config(const command_queue& queue,
                   const std::function<std::size_t(std::size_t)>& local_bytes_of_group = {}) {
        if (is_cpu(queue)) return config(num_workgroups(queue), 1);
        const balm::device_info& info = queue.balm_device().info();
        std::size_t size = std::min<std::size_t>(256, info.max_work_group_size);
        if (local_bytes_of_group)
            while (size > 1 && local_bytes_of_group(size) > info.local_memory) size /= 2;
        return config(num_workgroups(queue), size);
    }
    /// If `local_bytes` is not 0, it appends that much local memory to the arguments.
    kernel& config(ndrange groups, ndrange size, std::size_t local_bytes = 0) {
        groups_ = groups;
        size_ = size;
        if (local_bytes != 0) push_local(local_bytes);
        return *this;
    }
    kernel& config(std::size_t groups, std::size_t size, std::size_t local_bytes = 0) {
        return config(ndrange(groups), ndrange(size), local_bytes);
    }

    /// A number of work-groups that keeps the device busy.
    static std::size_t num_workgroups(const command_queue& queue) {
        return 8 * std::max<std::size_t>(1, queue.balm_device().info().compute_units);
    }
    /// The number of work-items in a work-group.
    std::size_t workgroup_size() const { return size_.x * size_.y * size_.z; }
    std::size_t max_threads_per_block(const command_queue& queue) const {
        return queue.balm_device().info().max_work_group_size;
    }
    std::size_t max_shared_memory_per_block(const command_queue& queue) const {
        return queue.balm_device().info().local_memory;
    }
    std::size_t preferred_work_group_size_multiple(const command_queue& queue) const {
        return std::max<std::size_t>(1, queue.balm_device().info().sub_group_size);
    }

private:
    void push_local(std::size_t bytes) { arguments_.push(balm::local_bytes(bytes)); }

    std::optional<balm::text_kernel<3>> kernel_;
    balm::kernel_arguments arguments_;
    ndrange groups_, size_;
};

}  // namespace backend
}  // namespace vex
