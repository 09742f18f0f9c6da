// Step 6, profiling: where the time goes, on the host and on the device.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    balm::context ctx;
    const std::size_t n = 1 << 22;
    balm::vector<float> x(ctx, n), y(ctx, n, 0.f);
    x = balm::cast<float>(balm::element_index() % 1000);

    balm::profiler prof(ctx.device(0));
    double sum = 0;
    const auto step = [&] {
        {
            auto section = prof.section("update");  // lasts to the end of its scope
            y = 0.5f * (x + y);
        }
        auto section = prof.section("sum");
        sum = balm::sum(balm::cast<double>(y));
    };
    {
        auto section = prof.section("first step");  // compiles the kernels, or loads them from the cache
        step();
    }
    {
        auto section = prof.section("ten steps");
        for (int i = 0; i < 10; ++i) step();
    }
    std::cout << "sum " << sum << '\n';
    std::cerr << prof.summary();  // waits for the device
}
