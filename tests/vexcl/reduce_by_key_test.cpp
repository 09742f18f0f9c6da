// vex::reduce_by_key against sums of runs on the host.

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

template <class Key>
std::vector<std::pair<Key, int>> runs(const std::vector<Key>& keys, const std::vector<int>& values) {
    std::vector<std::pair<Key, int>> made;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (k == 0 || keys[k] != keys[k - 1]) made.push_back({keys[k], 0});
        made.back().second += values[k];
    }
    return made;
}

VEX_FUNCTION(bool, same_int_and_long, (cl_int, a1)(cl_long, a2)(cl_int, b1)(cl_long, b2),
             return a1 == b1 && a2 == b2;);
struct larger_number {
    VEX_DUAL_FUNCTOR(double, (double, a)(double, b), return a > b ? a : b;)
};

TEST(B9_vexcl_reduce_by_key, sums) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        for (const std::size_t n : {1u, 40961u}) {
            std::vector<int> keys = numbers<int>(random, n);
            const std::vector<int> values = numbers<int>(random, n);
            std::sort(keys.begin(), keys.end());
            const auto wanted = runs(keys, values);
            const vex::vector<int> k(ctx, keys), v(ctx, values);
            vex::vector<int> distinct, sums;
            const int count = vex::reduce_by_key(k, v, distinct, sums);
            ASSERT_EQ(static_cast<std::size_t>(count), wanted.size());
            ASSERT_EQ(distinct.size(), wanted.size());
            ASSERT_EQ(sums.size(), wanted.size());
            const std::vector<int> got_keys = on_host(distinct), got_sums = on_host(sums);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                EXPECT_EQ(got_keys[i], wanted[i].first);
                EXPECT_EQ(got_sums[i], wanted[i].second);
            }
        }
    });
}

TEST(B9_vexcl_reduce_by_key, tuples_of_keys) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 10007;
        std::vector<std::pair<cl_int, cl_long>> keys(n);
        for (auto& each : keys)
            each = {static_cast<cl_int>(random() % 10), static_cast<cl_long>(random() % 10)};
        std::sort(keys.begin(), keys.end());
        std::vector<cl_int> first(n);
        std::vector<cl_long> second(n);
        for (std::size_t i = 0; i < n; ++i) std::tie(first[i], second[i]) = keys[i];
        const std::vector<int> values = numbers<int>(random, n);
        const auto wanted = runs(keys, values);

        vex::vector<cl_int> a(ctx, first), a_out;
        vex::vector<cl_long> b(ctx, second), b_out;
        const vex::vector<int> v(ctx, values);
        vex::vector<int> sums;
        VEX_FUNCTION(int, add, (int, a)(int, b), return a + b;);
        const int count =
            vex::reduce_by_key(boost::fusion::vector_tie(a, b), v, boost::fusion::vector_tie(a_out, b_out),
                               sums, same_int_and_long, add);
        ASSERT_EQ(static_cast<std::size_t>(count), wanted.size());
        const auto got_a = on_host(a_out);
        const auto got_b = on_host(b_out);
        const auto got = on_host(sums);
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            EXPECT_EQ(std::make_pair(got_a[i], got_b[i]), wanted[i].first);
            EXPECT_EQ(got[i], wanted[i].second);
        }
    });
}

TEST(B9_vexcl_reduce_by_key, a_function_that_is_no_sum) {
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<int> keys{1, 1, 2, 3, 3, 3};
        const std::vector<double> values{-5, -4, -3, -2, -1, -7};
        const vex::vector<int> k(ctx, keys);
        const vex::vector<double> v(ctx, values);
        vex::vector<int> distinct;
        vex::vector<double> most;
        VEX_FUNCTION(bool, same, (int, a)(int, b), return a == b;);
        EXPECT_EQ(vex::reduce_by_key(k, v, distinct, most, same, larger_number().device), 3);
        EXPECT_EQ(on_host(distinct), (std::vector<int>{1, 2, 3}));
        EXPECT_EQ(on_host(most), (std::vector<double>{-4, -3, -1}));
    });
}

}  // namespace

}  // namespace balm::test
