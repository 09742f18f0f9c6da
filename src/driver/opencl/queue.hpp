#pragma once
// An in-order cl_command_queue: enqueues the runtime's commands without blocking.

#include <memory>

#include "driver/opencl/api.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class device;

class queue final : public runtime::driver_queue {
public:
    queue(std::shared_ptr<device>, const runtime::queue_options&);
    /// An adopted queue, of which it owns a reference.
    queue(std::shared_ptr<device>, owned_queue);

    void write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
               const runtime::dependencies&) override;
    void read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
              const runtime::dependencies&) override;
    void copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
              std::size_t bytes, const runtime::dependencies&) override;
    void copy_from(runtime::driver_device&, runtime::memory to, std::size_t to_offset, runtime::memory from,
                   std::size_t from_offset, std::size_t bytes, const runtime::dependencies& needs) override {
        copy(to, to_offset, from, from_offset, bytes, needs);  // in the same context
    }
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
    void* map(runtime::memory, std::size_t offset, std::size_t bytes, runtime::map_use,
              const runtime::dependencies&) override;
    void unmap(runtime::memory, void* mapped, const runtime::dependencies&) override;
    void launch(runtime::driver_kernel&, const runtime::grid&, std::span<const runtime::argument>,
                const runtime::dependencies&) override;
    void multiply(const runtime::matrix_product&, const runtime::dependencies&) override;
    runtime::event_handle record(std::span<const runtime::event_handle> wait_for) override;
    void flush() override;
    void finish() override;
    void* native() const override { return queue_.get(); }

private:
    /// Builds the wait list, calls `enqueue(count, events, made)`, and wraps the event if one is wanted.
    template <class Enqueue>
    cl_int submit(const runtime::dependencies&, Enqueue&& enqueue);
    template <class Enqueue>
    void submit_image(const char* call, const char* what, std::size_t element_bytes,
                      const runtime::region_extent&, const runtime::dependencies&, Enqueue&& enqueue);
    void write_image(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                     const runtime::region_layout& from_layout, const runtime::region_extent&,
                     const runtime::dependencies&);
    void read_image(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                    const runtime::region_layout& from_layout, const runtime::region_extent&,
                    const runtime::dependencies&);
    void copy_image(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                    const runtime::region_layout& from_layout, const runtime::region_extent&,
                    const runtime::dependencies&);
    void fill_by_copies(runtime::memory, std::size_t offset, std::size_t bytes,
                        std::span<const std::byte> pattern, const runtime::dependencies&);
    template <class Pieces, class Box, class Row>
    void submit_pieces(const Pieces&, const char* what, const runtime::dependencies&, Box&& box, Row&& row);

    std::shared_ptr<device> device_;
    cl_context context_;
    owned_queue queue_;
};

}  // namespace balm::opencl
