#pragma once
// A batch of commands as a CUDA graph.

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
    graph(std::shared_ptr<context>, CUgraphExec);
    ~graph() override;

    CUgraphExec get() const { return executable_; }

private:
    std::shared_ptr<context> context_;
    CUgraphExec executable_;
};

}  // namespace balm::cuda
