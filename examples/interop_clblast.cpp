// A matrix product by CLBlast on Balm's memory and queue, between array statements: nothing is copied, and
// the host does not wait in between.

#define CL_TARGET_OPENCL_VERSION 120
#include <clblast.h>

#include <balm/balm.hpp>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>

int main() {
    const balm::context ctx(balm::filter::any && [](const balm::device_info& each) {
        return each.api == balm::backend::opencl;
    } && balm::filter::count(1));
    const std::size_t m = 30, n = 20, k = 40;
    balm::vector<float> a(ctx, m * k), b(ctx, k * n), c(ctx, m * n);
    a = balm::cast<float>(balm::element_index() % 7);
    b = balm::cast<float>(balm::element_index() % 5);

    const balm::queue queue = ctx.device().queue();
    const balm::event done =
        balm::run_native(queue, balm::reads(a, b), balm::writes(c), [&](balm::native_handle native) {
            cl_command_queue raw = native;
            const auto at = [](const auto& x) { return balm::native(x).byte_offset / sizeof(float); };
            const clblast::StatusCode code =
                clblast::Gemm(clblast::Layout::kRowMajor, clblast::Transpose::kNo, clblast::Transpose::kNo, m,
                              n, k, 1.f, balm::native(a).handle, at(a), k, balm::native(b).handle, at(b), n,
                              0.f, balm::native(c).handle, at(c), n, &raw);
            if (code != clblast::StatusCode::kSuccess)
                throw std::runtime_error("CLBlast failed with " + std::to_string(static_cast<int>(code)));
        });
    c = c + 1;  // after CLBlast's kernels

    float expected = 1;
    for (std::size_t i = 0; i < k; ++i)
        expected += static_cast<float>(((m - 1) * k + i) % 7) * static_cast<float>((i * n + n - 1) % 5);
    std::cout << "the last element of a * b + 1: " << c[m * n - 1] << ", on the host: " << expected << '\n';
    return c[m * n - 1] == expected ? 0 : 1;
}
