// A matrix product by cuBLAS on Balm's memory and a stream of Balm, between array statements. Prints a
// message if there is no CUDA device.

#include <cublas_v2.h>

#include <balm/balm.hpp>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void must(cublasStatus_t code, const char* call) {
    if (code != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + " failed: " + std::to_string(static_cast<int>(code)));
}

}  // namespace

int main() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::cout << "no CUDA device here: nothing to show\n";
        return 0;
    }
    const balm::context ctx(balm::filter::any && [](const balm::device_info& each) {
        return each.api == balm::backend::cuda;
    } && balm::filter::count(1));
    const int m = 30, n = 20, k = 40;
    balm::vector<float> a(ctx, m * k), b(ctx, k * n), c(ctx, m * n);
    a = balm::cast<float>(balm::element_index() % 7);
    b = balm::cast<float>(balm::element_index() % 5);

    const balm::queue queue = ctx.device().queue();
    cublasHandle_t cublas = nullptr;
    // run_native makes the device's context current, which CUDA's libraries use.
    const balm::event done =
        balm::run_native(queue, balm::reads(a, b), balm::writes(c), [&](balm::native_handle stream) {
            must(cublasCreate(&cublas), "cublasCreate");
            must(cublasSetStream(cublas, stream), "cublasSetStream");
            const float one = 1, zero = 0;
            const auto at = [](const auto& x) -> float* { return balm::native(x).handle; };
            // Row-major C = A B is column-major C^T = B^T A^T.
            must(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, at(b), n, at(a), k, &zero,
                             at(c), n),
                 "cublasSgemm");
        });
    c = c + 1;  // after cuBLAS's kernels

    float expected = 1;
    for (int i = 0; i < k; ++i)
        expected += static_cast<float>(((m - 1) * k + i) % 7) * static_cast<float>((i * n + n - 1) % 5);
    const float last = c[m * n - 1];
    std::cout << "the last element of a * b + 1: " << last << ", on the host: " << expected << '\n';
    must(cublasDestroy(cublas), "cublasDestroy");
    return last == expected ? 0 : 1;
}
