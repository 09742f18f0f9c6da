// `using namespace std` beside balm::dsl steals nothing.

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <valarray>

#include "kernel/run.hpp"

namespace {

using namespace std;
using namespace balm::dsl;

TEST(C13_using_namespace_std, keeps_min_max_and_comparisons_of_device_values) {
    const auto kernel =
        balm::kernel<1>("std_names", [](In<float> a, In<float> b, Out<float> out, Out<uint8_t> flags) {
            Index i = global_id(0);
            Float x = a[i], y = b[i];
            Float low = min(x, y), high = max(x, y), third = max(a[i], b[i]), weak = min(x, 0.5f);
            out[i] = high - low + third * weak + sqrt(abs(x)) + fmax(x, y) + pow(abs(y), 2.f);
            flags[i] = cast<int>(x == y) + 2 * cast<int>(x != y) + 4 * cast<int>(x < y && y >= x);
        });
    auto random = balm::test::seeded_random();
    const auto a = balm::test::random_values<float>(random, 50, -2.f, 2.f);
    const auto b = balm::test::random_values<float>(random, 50, -2.f, 2.f);
    balm::test::on_all_devices([&](const balm::device& on) {
        auto out = on.out_buffer<float>(50);
        auto flags = on.out_buffer<uint8_t>(50);
        on.execute(kernel(balm::test::in(on, a), balm::test::in(on, b), out, flags), {50});
        const auto got = out.read();
        for (size_t i = 0; i < 50; ++i) {
            const float x = a[i], y = b[i];
            EXPECT_NEAR(got[i],
                        max(x, y) - min(x, y) + max(x, y) * min(x, 0.5f) + sqrt(abs(x)) + fmax(x, y) + y * y,
                        1e-4);
        }
        balm::test::expect_each(flags.read(), [&](size_t i) {
            return a[i] < b[i] ? 6 : a[i] == b[i] ? 1 : 2;
        });
    });
}

TEST(C13_using_namespace_std, keeps_them_of_vectors_too) {
    balm::test::on_all_contexts([&](const balm::context& ctx) {
        balm::vector<double> x(ctx, {1, 5, 3}), y(ctx, {4, 2, 3}), z(ctx, 3);
        z = max(x, y) - min(x, y) + abs(x) + max(x, 2.0);
        EXPECT_THAT(z.to_host(), testing::ElementsAre(3 + 1 + 2, 3 + 5 + 5, 0 + 3 + 3));
        EXPECT_EQ(max(x), 5);
        EXPECT_EQ(min(x + y), 5);
        balm::vector<bool> same = x == y;
        EXPECT_THAT(same.to_host(), testing::ElementsAre(false, false, true));
    });
}

}  // namespace
