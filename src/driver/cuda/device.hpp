#pragma once
// A CUDA device: implements the runtime's requests (memory, programs, queues) by driver calls. The primary
// context is retained on first use, so that querying a device costs nothing and disturbs nobody.

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "driver/cuda/context.hpp"
#include "driver/cuda/cublas.hpp"
#include "driver/cuda/program.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class device final : public runtime::driver_device {
public:
    explicit device(CUdevice);
    /// On an adopted context, which its maker keeps alive.
    device(CUdevice, CUcontext);
    device(const device&) = delete;
    device& operator=(const device&) = delete;
    ~device() override;

    const device_info& info() const override { return info_; }
    runtime::dialect language() const override { return runtime::dialect::cuda_cpp; }
    std::string compile_options() const override;
    std::string words_for(const balm::compile_options&) const override;
    std::string compiler() const override;
    std::unique_ptr<runtime::driver_queue> make_queue(const runtime::queue_options&) override;
    std::unique_ptr<runtime::driver_batch> make_loop(
        const std::function<void(runtime::driver_queue&)>& enqueue, runtime::memory stop, std::size_t offset,
        runtime::memory turns) override;
    std::unique_ptr<runtime::driver_batch> make_batch(
        const std::function<void(runtime::driver_queue&)>& enqueue) override;
    runtime::matrix_library vendor_library() const override { return cublas_library(); }
    runtime::memory allocate(std::size_t bytes) override;
    void free(runtime::memory) noexcept override;
    bool has_images_of(const runtime::image_description&) override { return true; }
    runtime::memory allocate_image(const runtime::image_description&) override;
    void free_image(runtime::memory) noexcept override;
    runtime::pinned_memory allocate_pinned(std::size_t bytes) override;
    void free_pinned(runtime::pinned_memory) noexcept override;
    /// Without concurrent access, CUDA forbids the host to access managed memory while any kernel runs.
    bool has_managed_memory() const override {
        return info_.shared_virtual_memory.allocations && info_.shared_virtual_memory.at_once;
    }
    runtime::managed_memory allocate_managed(std::size_t bytes) override;
    void free_managed(runtime::managed_memory memory) noexcept override { free(memory.native); }
    std::unique_ptr<runtime::driver_program> compile(const std::string& source,
                                                     const std::string& options) override;
    std::unique_ptr<runtime::driver_program> load(std::span<const std::byte> binary) override;
    bool chains_on(const runtime::driver_device& other) const override {
        return other.info().api == backend::cuda;  // cuStreamWaitEvent takes events of other devices
    }
    copy_path path_from(runtime::driver_device& other) override;
    void* native_context() override { return own_context()->get(); }
    void* native_device() override;
    bool is_native(void* given_context, void*) override;
    std::unique_ptr<runtime::driver_queue> adopt_queue(void* native, runtime::queue_options&) override;
    runtime::foreign_memory adopt_memory(std::uintptr_t handle) override;

    /// The primary context, retained by the first call, or the adopted one.
    const std::shared_ptr<context>& own_context();

private:
    CUdevice device_;
    int capability_ = 0;  ///< 10 major + minor
    device_info info_;
    local_limits local_limits_;
    std::mutex context_mutex_;
    std::shared_ptr<context> context_;
    std::atomic<bool> has_context_{false};  // context_ is set: read without the mutex
};

}  // namespace balm::cuda
