#pragma once
// A batch of commands as a CUDA graph, or as a loop in one.

#include <functional>
#include <memory>

#include "driver/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

class graph final : public runtime::driver_batch {
public:
    /// Null if the driver cannot capture one of the commands.
    static std::unique_ptr<graph> of(const std::shared_ptr<context>&,
                                     const std::function<void(runtime::driver_queue&)>& enqueue);
    /// The commands in a conditional node (driver_device::make_loop). Null also if the driver has none.
    static std::unique_ptr<graph> loop_of(const std::shared_ptr<context>&,
                                          const std::function<void(runtime::driver_queue&)>& enqueue,
                                          CUdeviceptr stop, CUdeviceptr turns);
    explicit graph(std::shared_ptr<context> of) : context_(std::move(of)) {}
    ~graph() override;

    CUgraphExec get() const { return executable_; }

private:
    bool instantiate(CUgraph);

    std::shared_ptr<context> context_;
    CUmodule module_ = nullptr;  ///< of a loop's condition
    CUgraphExec executable_ = nullptr;
};

}  // namespace balm::cuda
