// A reduction within a warp through volatile local memory, and a parallel transform with pointers and as a
// module: of random numbers, in groups and grids of several sizes, against the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// op over each warp's values: what one lane stores, another loads in the next step.
template <class T, class Op>
auto warp_reduction(const char* name, const Op& op) {
    return balm::kernel<1>(name, [=](In<T> input, Out<T> results, Local<T> shared) {
        const auto of_warp = as_volatile(shared) + sub_group_id() * lanes_of_sub_group;
        const Int lane = lane_id();
        of_warp[lane] = input[global_id(0)];
        for (int distance = lanes_of_sub_group / 2; distance > 0; distance /= 2) {
            sub_group_barrier();
            IF (lane < distance) {
                const Var<T> mine = of_warp[lane], other = of_warp[lane + distance];
                of_warp[lane] = op(mine, other);
            }
        }
        sub_group_barrier();
        results[global_id(0)] = of_warp[0];
    });
}

/// Every lane has the result of its warp, for groups of one warp and of several.
template <class T, class Op, class HostOp>
void reduces_each_warp(const Op& op, const HostOp& host_op) {
    constexpr std::size_t lanes = lanes_of_sub_group;
    auto random = seeded_random();
    const auto kernel = warp_reduction<T>("warp_reduction(input, results, shared)", op);
    on_all_devices([&](const device& on) {
        for (const std::size_t group : {lanes, 2 * lanes, 8 * lanes}) {
            if (group > on.info().max_work_group_size) continue;
            const std::size_t n = group * (1 + random() % 5);
            host_array<T> values{shape(n)};
            for (T& each : values) each = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
            auto results = on.out_buffer<T>(n);
            on.execute(kernel(in(on, values), results, balm::local<T>(group)), {n}, {group});
            expect_each(results.read(), [&](std::size_t i) {
                const T* const first = values.data() + i / lanes * lanes;
                return std::accumulate(first + 1, first + lanes, *first, host_op);
            });
        }
    });
}

}  // namespace

TEST(A7_warp_reduction, sums_and_maxima_in_volatile_local_memory) {
    reduces_each_warp<std::int32_t>([](Int a, Int b) { return a + b; }, [](int a, int b) { return a + b; });
    reduces_each_warp<float>([](Float a, Float b) { return max(a, b); },
                             [](float a, float b) { return std::max(a, b); });
}

TEST(A7_parallel_transform, work_items_advance_by_pointers) {
    const auto kernel =
        balm::kernel<1>("transform(n, a, b, result)", [](Long n, In<int> a, In<int> b, Mixed<int> result) {
            const Index first = global_id(0), step = global_size(0);
            Ptr<const int> left = a.data() + first, right = b.data() + first;
            Ptr<int> to = result.data() + first, end = result.data() + n;
            WHILE (to < end) {
                *to = 3 * Int(*left) - Int(*right);
                left += step;
                right += step;
                to += step;
            }
        });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t items : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1024}}) {
            const std::size_t n = 1 + random() % 500;
            host_array<int> a{shape(n)}, b{shape(n)};
            for (int& each : a) each = static_cast<int>(random() % 1000);
            for (int& each : b) each = static_cast<int>(random() % 1000);
            auto result = mixed(on, host_array<int>(shape(n)));
            on.execute(kernel(static_cast<std::int64_t>(n), in(on, a), in(on, b), result), {items});
            expect_each(result.read(), [&](std::size_t i) { return 3 * a[i] - b[i]; });
        }
    });
}

TEST(A7_parallel_transform, is_a_module_with_its_host_code) {
    const balm::module<host_array<int>(int, int, std::span<const int>, std::span<const int>)> combine(
        [](module_builder& m) {
            auto factors = m.constant<int>("factors", 2);
            auto f = m.function("f(x, y)", [=](Int x, Int y) { return factors[0] * x + factors[1] * y; });
            auto transform = m.kernel<1>("transform(a, b, result)", [=](In<int> a, In<int> b, Out<int> to) {
                const Index i = global_id(0);
                to[i] = f(a[i], b[i]);
            });
            return m.entry([=](program& p, int of_a, int of_b, std::span<const int> a,
                               std::span<const int> b) {
                auto left = p.device().in_buffer<int>(a.size()), right = p.device().in_buffer<int>(b.size());
                auto result = p.device().out_buffer<int>(a.size());
                left.write(a);
                right.write(b);
                p.set(factors, {of_a, of_b});
                p.execute(transform(left, right, result), {a.size()});
                return result.read();
            });
        });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto of_device = combine.on(on);
        for (const auto& [of_a, of_b] : {std::pair(1, 1), std::pair(2, -5)}) {
            std::vector<int> a(1 + random() % 300), b(a.size());
            for (int& each : a) each = static_cast<int>(random() % 1000);
            for (int& each : b) each = static_cast<int>(random() % 1000);
            expect_each(of_device(of_a, of_b, a, b),
                        [&, x = of_a, y = of_b](std::size_t i) { return x * a[i] + y * b[i]; });
        }
    });
}

}  // namespace balm::test
