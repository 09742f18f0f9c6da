#include "driver/cuda/graph.hpp"

#include <utility>

#include "base/forked.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/queue.hpp"

namespace balm::cuda {

namespace {

/// Counts a turn and decides about the next one. The driver has the function that it calls.
constexpr const char* condition_of_loop = R"(
.version 7.0
.target sm_52
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry next_turn(.param .u64 handle, .param .u64 stop, .param .u64 turns)
{
    .reg .pred %goes, %has_turns;
    .reg .b16 %stops;
    .reg .b32 %value;
    .reg .b64 %handle, %stop, %turns, %turn, %most;

    ld.param.u64 %handle, [handle];
    ld.param.u64 %stop, [stop];
    ld.param.u64 %turns, [turns];
    cvta.to.global.u64 %stop, %stop;
    cvta.to.global.u64 %turns, %turns;
    ld.global.u8 %stops, [%stop];
    ld.global.u64 %turn, [%turns];
    ld.global.u64 %most, [%turns+8];
    add.s64 %turn, %turn, 1;
    st.global.u64 [%turns], %turn;
    setp.eq.u16 %goes, %stops, 0;
    setp.lt.s64 %has_turns, %turn, %most;
    and.pred %goes, %goes, %has_turns;
    selp.u32 %value, 1, 0, %goes;
    {
        .param .b64 to;
        .param .b32 next;
        st.param.b64 [to], %handle;
        st.param.b32 [next], %value;
        call.uni cudaGraphSetConditional, (to, next);
    }
    ret;
}
)";

/// A graph that is not executable, destroyed with its scope.
class graph_template {
public:
    graph_template() = default;
    graph_template(const graph_template&) = delete;
    graph_template& operator=(const graph_template&) = delete;
    ~graph_template() {
        if (graph_ != nullptr) driver().cuGraphDestroy(graph_);
    }
    CUgraph get() const { return graph_; }
    CUgraph* address() { return &graph_; }

private:
    CUgraph graph_ = nullptr;
};

/// Whether the commands were captured, once a capture has begun, which must end in any case.
bool are_captured(CUstream stream, CUgraph* into, const auto& enqueue) {
    bool is_complete = true;
    try {
        is_complete = enqueue();
    } catch (...) {
        is_complete = false;
    }
    return driver().cuStreamEndCapture(stream, into) == CUDA_SUCCESS && is_complete;
}

}  // namespace

// The commands are captured from a stream of their own: a queue makes the same calls for them as otherwise,
// none of which waits or allocates.
std::unique_ptr<graph> graph::of(const std::shared_ptr<context>& where,
                                 const std::function<void(runtime::driver_queue&)>& enqueue) {
    queue captured(where, {.timing = false});
    const current_context current(*where);
    auto* const stream = static_cast<CUstream>(captured.native());
    if (driver().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) return nullptr;
    graph_template recorded;
    const bool is_complete = are_captured(stream, recorded.address(), [&] {
        enqueue(captured);
        return true;
    });
    auto made = std::make_unique<graph>(where);
    return is_complete && made->instantiate(recorded.get()) ? std::move(made) : nullptr;
}

std::unique_ptr<graph> graph::loop_of(const std::shared_ptr<context>& where,
                                      const std::function<void(runtime::driver_queue&)>& enqueue,
                                      CUdeviceptr stop, CUdeviceptr turns) {
    if (!load_driver().has_loops) return nullptr;
    queue captured(where, {.timing = false});
    const current_context current(*where);
    auto made = std::make_unique<graph>(where);
    CUfunction condition = nullptr;
    graph_template whole;
    CUgraphConditionalHandle handle = 0;
    if (driver().cuModuleLoadDataEx(&made->module_, condition_of_loop, 0, nullptr, nullptr) != CUDA_SUCCESS ||
        driver().cuModuleGetFunction(&condition, made->module_, "next_turn") != CUDA_SUCCESS ||
        driver().cuGraphCreate(whole.address(), 0) != CUDA_SUCCESS ||
        driver().cuGraphConditionalHandleCreate(&handle, whole.get(), where->get(), 1,
                                                CU_GRAPH_COND_ASSIGN_DEFAULT) != CUDA_SUCCESS)
        return nullptr;
    CUgraphNodeParams loop{};
    loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    loop.conditional = {handle, CU_GRAPH_COND_TYPE_WHILE, 1, nullptr, where->get()};
    CUgraphNode node = nullptr;
    if (driver().cuGraphAddNode(&node, whole.get(), nullptr, nullptr, 0, &loop) != CUDA_SUCCESS)
        return nullptr;
    auto* const stream = static_cast<CUstream>(captured.native());
    if (driver().cuStreamBeginCaptureToGraph(stream, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                             CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS)
        return nullptr;
    CUgraph body = nullptr;  // of the node
    const bool is_complete = are_captured(stream, &body, [&] {
        enqueue(captured);
        void* arguments[] = {&handle, &stop, &turns};
        return driver().cuLaunchKernel(condition, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr) ==
               CUDA_SUCCESS;
    });
    return is_complete && made->instantiate(whole.get()) ? std::move(made) : nullptr;
}

bool graph::instantiate(CUgraph from) {
    if (driver().cuGraphInstantiateWithFlags(&executable_, from, 0) != CUDA_SUCCESS) executable_ = nullptr;
    return executable_ != nullptr;
}

graph::~graph() {
    if (runtime::is_forked()) return;
    const current_context current(*context_);
    if (executable_ != nullptr) driver().cuGraphExecDestroy(executable_);  // one in flight is freed when done
    if (module_ != nullptr) driver().cuModuleUnload(module_);
}

}  // namespace balm::cuda
