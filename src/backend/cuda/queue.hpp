#pragma once
// A CUDA stream that does not wait for the default stream: takes the runtime's commands, enqueues them.

#include <memory>

#include "backend/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class queue final : public runtime::driver_queue {
public:
    queue(std::shared_ptr<context>, const runtime::queue_options&);
    queue(const queue&) = delete;
    queue& operator=(const queue&) = delete;
    ~queue() override;

    void write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
               const runtime::dependencies&) override;
    void read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
              const runtime::dependencies&) override;
    void copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
              std::size_t bytes, const runtime::dependencies&) override;
    void fill(runtime::memory to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
              const runtime::dependencies&) override;
    void launch(runtime::driver_kernel&, const runtime::grid&, std::span<const runtime::argument>,
                const runtime::dependencies&) override;
    runtime::event_handle record() override;
    void flush() override {}  // a stream starts its work without being asked
    void finish() override;
    void* native() const override { return stream_; }

private:
    /// Waits for what the command needs, calls `enqueue()`, records events around it where one is wanted.
    template <class Enqueue>
    void submit(const runtime::dependencies&, Enqueue&& enqueue);
    void record(CUevent);
    void fill_words(CUdeviceptr to, std::size_t bytes, std::span<const std::byte> pattern);

    std::shared_ptr<context> context_;
    bool timing_;
    CUstream stream_ = nullptr;
};

}  // namespace balm::cuda
