// Balm beside the CUDA runtime: Balm uses memory of cudaMalloc and a cudaStream_t, and runtime calls are
// enqueued between Balm's commands. Nothing is copied, and neither waits for the other. Prints a message if
// there is no CUDA device.

#include <cuda_runtime_api.h>

#include <balm/balm.hpp>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace balm::dsl;

namespace {

void must(cudaError_t code, const char* call) {
    if (code != cudaSuccess)
        throw std::runtime_error(std::string(call) + " failed: " + cudaGetErrorString(code));
}

void require(float got, float wanted, const char* what) {
    std::cout << what << ": " << got << '\n';
    if (got != wanted) throw std::runtime_error("it should be " + std::to_string(wanted));
}

/// The device that the CUDA runtime has chosen: both use its primary context.
balm::device current_device() {
    int ordinal = 0;
    char address[32] = {};
    must(cudaFree(nullptr), "cudaFree");  // starts the runtime
    must(cudaGetDevice(&ordinal), "cudaGetDevice");
    must(cudaDeviceGetPCIBusId(address, sizeof address, ordinal), "cudaDeviceGetPCIBusId");
    std::string wanted(address);
    for (char& letter : wanted)
        if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
    const balm::context ctx(balm::filter::any && [wanted](const balm::device_info& each) {
        return each.api == balm::backend::cuda && each.pci_address == wanted;
    });
    return ctx.device();
}

void balm_in_a_cuda_program(const balm::device& device, std::size_t n) {
    float* x = nullptr;
    cudaStream_t stream = nullptr;
    must(cudaMalloc(reinterpret_cast<void**>(&x), n * sizeof(float)), "cudaMalloc");
    must(cudaStreamCreate(&stream), "cudaStreamCreate");
    std::vector<float> host(n, 3);
    must(cudaMemcpyAsync(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream),
         "cudaMemcpyAsync");
    {
        balm::queue in_order = balm::adopt_queue(device, stream);
        auto elements = balm::adopt_memory<float>(device, x, n);
        const auto add_index = balm::kernel<1>("add_index(x)", [](InOut<float> values) {
            values[global_id(0)] += cast<float>(global_id(0) % 10);
        });
        const balm::event added = in_order.execute(add_index(elements), {n});  // after the copy
        must(cudaMemcpyAsync(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");  // and before this one
        must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        require(host[n - 1], 3 + static_cast<float>((n - 1) % 10), "x[n - 1] as CUDA reads it");

        balm::vector<float> v = balm::as_vector(elements);  // the same memory
        v = 2 * v + 1;
        require(v[4], 15, "x[4] as Balm reads it");
        device.finish();  // CUDA counts no references: adopted memory must outlive its use
    }
    must(cudaStreamDestroy(stream), "cudaStreamDestroy");
    must(cudaFree(x), "cudaFree");
}

void cuda_in_a_balm_program(const balm::device& device, std::size_t n) {
    const balm::context ctx({device});
    balm::vector<float> x(ctx, n), y(ctx, n);
    x = balm::cast<float>(balm::element_index());
    balm::queue queue = device.make_queue();  // not the one that wrote x: Balm waits where necessary
    const balm::event copied =
        balm::run_native(queue, balm::reads(x), balm::writes(y), [&](balm::native_handle stream) {
            must(cudaMemcpyAsync(balm::native(y).handle, balm::native(x).handle, n * sizeof(float),
                                 cudaMemcpyDeviceToDevice, stream),
                 "cudaMemcpyAsync");
        });
    x = x + y;
    require(x[100], 200, "x[100] of x + the copy that CUDA made");
}

}  // namespace

int main() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::cout << "no CUDA device here: nothing to show\n";
        return 0;
    }
    constexpr std::size_t n = 1000;
    const balm::device device = current_device();
    balm_in_a_cuda_program(device, n);
    cuda_in_a_balm_program(device, n);
}
