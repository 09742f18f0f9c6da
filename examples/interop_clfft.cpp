// Fourier transforms by clFFT on Balm's memory and queue, between array statements, checked against Balm's
// transform of the same array.

#define CL_TARGET_OPENCL_VERSION 120
#include <clFFT.h>

#include <balm/balm.hpp>
#include <complex>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void must(clfftStatus code, const char* call) {
    if (code != CLFFT_SUCCESS)
        throw std::runtime_error(std::string(call) + " failed: " + std::to_string(code));
}

}  // namespace

int main() {
    const balm::context ctx(balm::filter::any && [](const balm::device_info& each) {
        return each.api == balm::backend::opencl;
    } && balm::filter::count(1));
    const std::size_t n = 256;
    balm::vector<float> signal(ctx, n);
    signal = balm::cast<float>((balm::element_index() * 37) % 101) / 50.f - 1.f;
    balm::vector<std::complex<float>> x = balm::compose<std::complex<float>>(signal, 0.f);
    const balm::vector<std::complex<float>> own = balm::fft(x);

    clfftSetupData setup{};
    must(clfftInitSetupData(&setup), "clfftInitSetupData");
    must(clfftSetup(&setup), "clfftSetup");
    const balm::queue queue = ctx.device().queue();
    clfftPlanHandle plan = 0;
    must(clfftCreateDefaultPlan(&plan, balm::native(ctx.device()).context, CLFFT_1D, &n),
         "clfftCreateDefaultPlan");
    must(clfftSetPlanPrecision(plan, CLFFT_SINGLE), "clfftSetPlanPrecision");
    cl_command_queue raw = balm::native(queue);
    must(clfftBakePlan(plan, 1, &raw, nullptr, nullptr), "clfftBakePlan");

    const balm::event done =
        balm::run_native(queue, balm::reads(), balm::writes(x), [&](balm::native_handle native) {
            cl_command_queue on = native;
            cl_mem elements = balm::native(x).handle;  // in place
            must(clfftEnqueueTransform(plan, CLFFT_FORWARD, 1, &on, 0, nullptr, nullptr, &elements, nullptr,
                                       nullptr),
                 "clfftEnqueueTransform");
        });
    const double difference = balm::max(abs(x - own)), size = balm::max(abs(own));
    std::cout << "clFFT and Balm agree: " << (difference < 1e-5 * size ? "yes" : "no") << '\n';

    must(clfftDestroyPlan(&plan), "clfftDestroyPlan");
    must(clfftTeardown(), "clfftTeardown");
    return difference < 1e-5 * size ? 0 : 1;
}
