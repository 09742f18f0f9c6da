#include "driver/cuda/graph.hpp"

#include <utility>

#include "base/forked.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/queue.hpp"

namespace balm::cuda {

// The commands are captured from a stream of their own: a queue makes the same calls for them as otherwise,
// none of which waits or allocates.
std::unique_ptr<graph> graph::of(const std::shared_ptr<context>& where,
                                 const std::function<void(runtime::driver_queue&)>& enqueue) {
    queue captured(where, {.timing = false});
    const current_context current(*where);
    auto* const stream = static_cast<CUstream>(captured.native());
    if (driver().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) return nullptr;
    bool is_complete = true;
    try {
        enqueue(captured);
    } catch (...) {  // the capture must end
        is_complete = false;
    }
    CUgraph recorded = nullptr;
    CUgraphExec executable = nullptr;
    is_complete = driver().cuStreamEndCapture(stream, &recorded) == CUDA_SUCCESS && is_complete;
    if (is_complete && driver().cuGraphInstantiateWithFlags(&executable, recorded, 0) != CUDA_SUCCESS)
        executable = nullptr;
    if (recorded != nullptr) driver().cuGraphDestroy(recorded);
    return executable == nullptr ? nullptr : std::make_unique<graph>(where, executable);
}

graph::graph(std::shared_ptr<context> of, CUgraphExec executable)
    : context_(std::move(of)), executable_(executable) {}

graph::~graph() {
    if (runtime::is_forked()) return;
    const current_context current(*context_);
    driver().cuGraphExecDestroy(executable_);  // one in flight is freed when it has completed
}

}  // namespace balm::cuda
