// Fourier transforms by cuFFT on Balm's memory and a stream of Balm, between array statements, checked
// against Balm's transform of the same array. Prints a message if there is no CUDA device.

#include <cuda_runtime_api.h>
#include <cufft.h>

#include <balm/balm.hpp>
#include <complex>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void must(cufftResult code, const char* call) {
    if (code != CUFFT_SUCCESS)
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
    const std::size_t n = 256;
    balm::vector<float> signal(ctx, n);
    signal = balm::cast<float>((balm::element_index() * 37) % 101) / 50.f - 1.f;
    balm::vector<std::complex<float>> x = balm::compose<std::complex<float>>(signal, 0.f);
    const balm::vector<std::complex<float>> own = balm::fft(x);

    cufftHandle plan = 0;
    const balm::queue queue = ctx.device().queue();
    const balm::event done =
        balm::run_native(queue, balm::reads(), balm::writes(x), [&](balm::native_handle stream) {
            must(cufftPlan1d(&plan, static_cast<int>(n), CUFFT_C2C, 1), "cufftPlan1d");
            must(cufftSetStream(plan, stream), "cufftSetStream");
            cufftComplex* const elements = balm::native(x).handle;  // in place
            must(cufftExecC2C(plan, elements, elements, CUFFT_FORWARD), "cufftExecC2C");
        });
    const double difference = balm::max(abs(x - own)), size = balm::max(abs(own));
    std::cout << "cuFFT and Balm agree: " << (difference < 1e-5 * size ? "yes" : "no") << '\n';
    must(cufftDestroy(plan), "cufftDestroy");
    return difference < 1e-5 * size ? 0 : 1;
}
