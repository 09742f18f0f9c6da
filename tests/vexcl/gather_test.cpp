// Elements that travel between host and devices: vex::gather, vex::scatter and shared virtual memory.

#include <algorithm>
#include <vector>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

/// As AMGCL has them.
struct boundary {
    vex::gather get;
    vex::scatter put;
};

TEST(B9_vexcl_gather, moves_chosen_elements_to_the_host_and_back) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 100003;
        const std::vector<double> host = numbers<double>(random, n);
        vex::vector<double> x(ctx, host);
        std::vector<std::size_t> places;
        for (int k = 0; k < 100; ++k) places.push_back(random() % n);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());

        std::vector<double> got(places.size());
        const boundary of_x{{ctx, n, places}, {ctx, n, places}};
        of_x.get(x, got);
        for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(got[k], host[places[k]]);

        for (double& each : got) each = -each;
        of_x.put(got, x);
        std::vector<double> wanted = host;
        for (const std::size_t at : places) wanted[at] = -wanted[at];
        EXPECT_EQ(on_host(x), wanted);
    });
}

TEST(B9_vexcl_svm, is_a_vector_that_the_host_maps) {
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    const std::size_t n = 1024;
    vex::svm_vector<int> x(ctx.queue(0), n);
    {
        const auto p = x.map(vex::backend::MAP_WRITE);
        for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<int>(i);
    }
    vex::vector<int> y(ctx, n);
    y = x * 2;
    EXPECT_EQ(static_cast<int>(y[511]), 1022);
    x = y / 2 + 1;
    const auto p = x.map(vex::backend::MAP_READ);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(p[i], static_cast<int>(i) + 1);
}

}  // namespace

}  // namespace balm::test
