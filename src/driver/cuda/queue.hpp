#pragma once
// A CUDA stream that does not wait for the default stream: enqueues the runtime's commands.

#include <memory>

#include "driver/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class cublas_handle;

/// The two sides of a copy of a region: the layouts, and the driver's description without the sizes.
struct region_sides {
    const runtime::region_layout& to;
    const runtime::region_layout& from;
    CUDA_MEMCPY3D ends;
};

class queue final : public runtime::driver_queue {
public:
    queue(std::shared_ptr<context>, const runtime::queue_options&);
    /// An adopted stream, which its maker keeps alive.
    queue(std::shared_ptr<context>, const runtime::queue_options&, CUstream);
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;
    ~queue() override;

    void write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
               const runtime::dependencies&) override;
    void read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
              const runtime::dependencies&) override;
    void copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
              std::size_t bytes, const runtime::dependencies&) override;
    void copy_from(runtime::driver_device& owner, runtime::memory to, std::size_t to_offset,
                   runtime::memory from, std::size_t from_offset, std::size_t bytes,
                   const runtime::dependencies&) override;
    void fill(runtime::memory to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
              const runtime::dependencies&) override;
    void write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                      const runtime::region_layout& from_layout, const runtime::region_extent&,
                      const runtime::dependencies&) override;
    void read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent&,
                     const runtime::dependencies&) override;
    void copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent&,
                     const runtime::dependencies&) override;
    void launch(runtime::driver_kernel&, const runtime::grid&, std::span<const runtime::argument>,
                const runtime::dependencies&) override;
    void multiply(const runtime::matrix_product&, const runtime::dependencies&) override;
    void submit_batch(runtime::driver_batch&, const runtime::dependencies&) override;
    runtime::event_handle record(std::span<const runtime::event_handle> wait_for) override;
    void flush() override {}  // a stream starts its work without a flush
    void finish() override;
    void* native() const override { return stream_; }
    void give_native(const std::function<void(void* queue)>& give) override;

private:
    /// Waits for the command's dependencies, calls `enqueue()`, and records events around it if one is
    /// wanted.
    template <class Enqueue>
    void submit(const runtime::dependencies&, Enqueue&& enqueue);
    void record(CUevent);
    template <class Copy>
    void submit_region(const char* what, const region_sides&, const runtime::region_extent&,
                       const runtime::dependencies&, Copy&& copy_row);
    void wait_for(std::span<const runtime::event_handle>);
    void fill_words(CUdeviceptr to, std::size_t bytes, std::span<const std::byte> pattern);

    std::shared_ptr<context> context_;
    bool timing_;
    CUstream stream_ = nullptr;
    bool is_adopted_ = false;
    std::unique_ptr<cublas_handle> cublas_;  // created by the first product
};

}  // namespace balm::cuda
