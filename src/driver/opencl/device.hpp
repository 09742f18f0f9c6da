#pragma once
// An OpenCL device: implements the runtime's requests (memory, programs, queues) by driver calls. Its context
// is created on first use, so that querying a device costs nothing and disturbs nobody.

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/opencl/api.hpp"
#include "driver/opencl/clblast.hpp"
#include "driver/opencl/launch_turns.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class device final : public runtime::driver_device, public std::enable_shared_from_this<device> {
public:
    device(cl_platform_id platform, cl_device_id id);
    /// On an adopted context, of which it owns a reference.
    device(cl_platform_id platform, cl_device_id id, owned_context);

    const device_info& info() const override { return info_; }
    runtime::dialect language() const override {
        return is_nvidia() ? runtime::dialect::opencl_ptx : runtime::dialect::opencl_c;
    }
    std::string compile_options() const override;
    std::string words_for(const balm::compile_options&) const override;
    std::unique_ptr<runtime::driver_queue> make_queue(const runtime::queue_options&) override;
    runtime::matrix_library vendor_library() const override { return clblast_library(); }
    runtime::memory allocate(std::size_t bytes) override;
    void free(runtime::memory) noexcept override;
    bool has_images_of(const runtime::image_description&) override;
    runtime::memory allocate_image(const runtime::image_description&) override;
    void free_image(runtime::memory freed) noexcept override { free(freed); }
    bool maps_memory() const override { return true; }
    runtime::pinned_memory allocate_pinned(std::size_t bytes) override;
    void free_pinned(runtime::pinned_memory) noexcept override;
    bool compiles_beside_other_processes() const override { return !is_pocl(); }
    bool loops_over_items() const override { return is_pocl(); }
    runtime::managed_memory allocate_managed(std::size_t bytes) override;
    void free_managed(runtime::managed_memory) noexcept override;
    std::unique_ptr<runtime::driver_program> compile(const std::string& source,
                                                     const std::string& options) override;
    std::unique_ptr<runtime::driver_program> load(std::span<const std::byte> binary) override;
    bool chains_on(const runtime::driver_device& other) const override {
        return this == &other || shares_context_with(other);
    }
    copy_path path_from(runtime::driver_device& other) override {
        return shares_context_with(other) ? copy_path::by_driver : copy_path::through_host;
    }
    void* native_context() override { return context(); }
    void* native_device() override { return id_; }
    bool is_native(void* given_context, void* given_device) override {
        return ready_context_.load(std::memory_order_acquire) == given_context && id_ == given_device;
    }
    std::unique_ptr<runtime::driver_queue> adopt_queue(void* native, runtime::queue_options&) override;
    runtime::foreign_memory adopt_memory(std::uintptr_t handle) override;
    void release_memory(runtime::memory shared) noexcept override { free(shared); }

    cl_device_id id() const { return id_; }
    const std::string& name() const { return info_.name; }
    /// Whether the driver is PoCL, whose binaries are complete only after a launch.
    bool is_pocl() const;
    /// The text with which every program begins.
    std::string_view source_head() const;
    /// Whether launches of one program must not overlap (PoCL before 7): see launch_turns.
    bool launches_in_turn() const;
    /// The turns of CLBlast's kernels if they must not overlap, else null. CLBlast shares programs between
    /// queues.
    launch_turns* library_turns() { return launches_in_turn() ? &library_turns_ : nullptr; }
    /// Whether a command runs inside the call that enqueues it (PoCL's basic devices).
    bool runs_in_the_call() const { return runs_in_the_call_; }
    /// Held around every call that enqueues. Locks if commands run in the call: there, a command that waits
    /// for one running in another thread is run by that thread, with locks held that it takes again (PoCL
    /// 3.1, pocl_basic_notify), so no command may be enqueued before its dependencies have completed.
    std::unique_lock<std::mutex> enqueuing();
    /// Whether the driver is NVIDIA's, whose compiler takes PTX.
    bool is_nvidia() const;
    /// The device's only context; created by the first call.
    cl_context context();
    /// The driver's sampler; created by the first call.
    cl_sampler sampler_of(const sampler&);

private:
    /// Whether both are devices of one adopted context, and so share memory and events.
    bool shares_context_with(const runtime::driver_device&) const;
    cl_command_queue mapping_queue();
    /// A buffer from clCreateBuffer with the memory flags `where`, or one in large pages.
    cl_mem make_buffer(std::size_t bytes, cl_mem_flags where, cl_int& code);

    cl_platform_id platform_;
    cl_device_id id_;
    device_info info_;
    bool runs_in_the_call_ = false;
    std::mutex enqueuing_;
    std::mutex context_mutex_;
    owned_context context_;
    owned_queue mapping_queue_;  // maps pinned memory; created on first use
    std::vector<std::pair<sampler, owned_sampler>> samplers_;
    launch_turns library_turns_;
    std::atomic<cl_context> ready_context_{nullptr};  // context_, once created: read without the mutex
};

}  // namespace balm::opencl
