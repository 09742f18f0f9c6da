// vex::sort and vex::sort_by_key against std::sort.

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include <vexcl/external/clogs.hpp>

#include "vexcl/contexts.hpp"

// What CLOGS itself takes, which programs ask before they call it.
static_assert(vex::clogs::is_scannable<int>::value && vex::clogs::is_scannable<cl_uint4>::value);
static_assert(!vex::clogs::is_scannable<bool>::value && !vex::clogs::is_scannable<cl_float4>::value);
static_assert(!vex::clogs::is_scannable<int(int)>::value);
static_assert(vex::clogs::is_sort_key<cl_ulong>::value && !vex::clogs::is_sort_key<float>::value);
static_assert(vex::clogs::is_sort_value<cl_float2>::value);

namespace balm::test {

namespace {

/// Even numbers first.
struct even_first {
    VEX_DUAL_FUNCTOR(bool, (int, a)(int, b), int p = a & 1; int q = b & 1; return p == q ? a < b : p < q;)
};
/// The same as a function for devices alone.
VEX_FUNCTION(bool, even_first_on_device, (int, a)(int, b), int p = a & 1; int q = b & 1;
             return p == q ? a < b : p < q;);

struct less_of_pairs {
    VEX_DUAL_FUNCTOR(bool, (int, a1)(float, a2)(int, b1)(float, b2), return a1 == b1 ? a2 < b2 : a1 < b1;)
};

TEST(B9_vexcl_sort, in_the_orders_of_the_standard_comparisons) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        for (const std::size_t n : {1u, 1000u, 40961u}) {
            std::vector<float> host = numbers<float>(random, n);
            vex::vector<float> x(ctx, host);
            vex::sort(x);
            std::sort(host.begin(), host.end());
            EXPECT_EQ(on_host(x), host);
            vex::sort(x, vex::greater<float>());
            std::sort(host.begin(), host.end(), std::greater<float>());
            EXPECT_EQ(on_host(x), host);
            vex::sort(x, vex::less_equal<float>());
            std::sort(host.begin(), host.end());
            EXPECT_EQ(on_host(x), host);
            vex::sort(x, vex::greater_equal<float>());
            std::sort(host.begin(), host.end(), std::greater<float>());
            EXPECT_EQ(on_host(x), host);
        }
    });
}

TEST(B9_vexcl_sort, by_functors_of_the_program) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<int> host = numbers<int>(random, 10007), wanted = host;
        std::sort(wanted.begin(), wanted.end(), even_first());
        vex::vector<int> x(ctx, host);
        vex::sort(x, even_first());
        EXPECT_EQ(on_host(x), wanted);
        vex::copy(host, x);
        vex::sort(x, even_first_on_device);
        EXPECT_EQ(on_host(x), wanted);
    });
}

TEST(B9_vexcl_sort, values_move_with_their_keys) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<int> keys = numbers<int>(random, 10007);
        std::vector<float> places(keys.size());
        std::iota(places.begin(), places.end(), 0.f);
        const auto expect_moved = [&](const auto& less, const auto& sort) {
            vex::vector<int> k(ctx, keys);
            vex::vector<float> v(ctx, places);
            sort(k, v);
            std::vector<int> sorted = keys;
            std::stable_sort(sorted.begin(), sorted.end(), less);
            EXPECT_EQ(on_host(k), sorted);
            std::vector<float> moved = on_host(v);
            for (std::size_t i = 0; i < keys.size(); ++i)
                ASSERT_EQ(keys[static_cast<std::size_t>(moved[i])], sorted[i]);
            std::sort(moved.begin(), moved.end());
            EXPECT_EQ(moved, places);
        };
        expect_moved(std::less<int>(), [](auto& k, auto& v) { vex::sort_by_key(k, v); });
        expect_moved(std::greater<int>(),
                     [](auto& k, auto& v) { vex::sort_by_key(k, v, vex::greater<int>()); });
        expect_moved(even_first(), [](auto& k, auto& v) { vex::sort_by_key(k, v, even_first()); });
        expect_moved(std::less<int>(), [](auto& k, auto& v) { vex::clogs::stable_sort_by_key(k, v); });
    });
}

TEST(B9_vexcl_sort, by_tuples_of_keys) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 10007;
        const std::vector<int> first = numbers<int>(random, n);
        const std::vector<float> second = numbers<float>(random, n);
        std::vector<cl_long> places(n);
        std::iota(places.begin(), places.end(), 0);
        std::vector<cl_long> wanted = places;
        std::sort(wanted.begin(), wanted.end(), [&](cl_long i, cl_long j) {
            return std::tie(first[i], second[i]) < std::tie(first[j], second[j]);
        });
        vex::vector<int> a(ctx, first);
        vex::vector<float> b(ctx, second);
        vex::vector<cl_long> v(ctx, places);
        vex::vector<short> w(ctx, n);
        w = vex::element_index() % 1000;
        vex::sort_by_key(boost::fusion::vector_tie(a, b), boost::fusion::vector_tie(v, w), less_of_pairs());
        const std::vector<int> got_first = on_host(a);
        const std::vector<float> got_second = on_host(b);
        const std::vector<cl_long> got = on_host(v);
        const std::vector<short> got_short = on_host(w);
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(got_first[i], first[wanted[i]]);
            ASSERT_EQ(got_second[i], second[wanted[i]]);
            ASSERT_EQ(first[got[i]], first[wanted[i]]);
            ASSERT_EQ(second[got[i]], second[wanted[i]]);
            ASSERT_EQ(got_short[i], got[i] % 1000);
        }

        vex::copy(first, a);
        vex::copy(second, b);
        vex::sort(std::tie(a, b), less_of_pairs());
        EXPECT_EQ(on_host(a), got_first);
        EXPECT_EQ(on_host(b), got_second);
    });
}

}  // namespace

}  // namespace balm::test
