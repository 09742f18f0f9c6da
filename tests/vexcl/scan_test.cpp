// vex::inclusive_scan, vex::exclusive_scan and their forms by key against the standard library's.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

/// A product has no identity that the default initial value, 0, could be.
struct multiplies {
    VEX_DUAL_FUNCTOR(double, (double, a)(double, b), return a * b;)
};
struct larger {
    VEX_DUAL_FUNCTOR(int, (int, a)(int, b), return a > b ? a : b;)
};

TEST(B9_vexcl_scan, sums) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        for (const std::size_t n : {1u, 1000u, 100003u}) {
            const std::vector<int> host = numbers<int>(random, n);
            const vex::vector<int> x(ctx, host);
            vex::vector<int> y(ctx, n);
            std::vector<int> wanted(n);
            vex::inclusive_scan(x, y);
            std::inclusive_scan(host.begin(), host.end(), wanted.begin());
            EXPECT_EQ(on_host(y), wanted);
            vex::exclusive_scan(x, y);
            std::exclusive_scan(host.begin(), host.end(), wanted.begin(), 0);
            EXPECT_EQ(on_host(y), wanted);
            vex::exclusive_scan(x, y, 42);
            std::exclusive_scan(host.begin(), host.end(), wanted.begin(), 42);
            EXPECT_EQ(on_host(y), wanted);
        }
    });
}

TEST(B9_vexcl_scan, in_place) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<int> host = numbers<int>(random, 10007);
        vex::vector<int> x(ctx, host);
        vex::inclusive_scan(x, x);
        std::inclusive_scan(host.begin(), host.end(), host.begin());
        EXPECT_EQ(on_host(x), host);
    });
}

TEST(B9_vexcl_scan, functors_of_the_program) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<int> host = numbers<int>(random, 10007), wanted(host.size());
        for (int& each : host) each -= 200;
        const vex::vector<int> x(ctx, host);
        vex::vector<int> y(ctx, host.size());
        vex::inclusive_scan(x, y, 0, larger());
        std::inclusive_scan(host.begin(), host.end(), wanted.begin(), larger());
        EXPECT_EQ(on_host(y), wanted);
        vex::exclusive_scan(x, y, -150, larger());
        std::exclusive_scan(host.begin(), host.end(), wanted.begin(), -150, larger());
        EXPECT_EQ(on_host(y), wanted);

        std::vector<double> signs(host.size());  // products of powers of two are exact
        for (std::size_t k = 0; k < signs.size(); ++k) signs[k] = random() % 2 == 0 ? -1.0 : 1.0;
        const vex::vector<double> s(ctx, signs);
        vex::vector<double> p(ctx, signs.size());
        vex::inclusive_scan(s, p, 0.0, multiplies());
        std::inclusive_scan(signs.begin(), signs.end(), signs.begin(), multiplies());
        EXPECT_EQ(on_host(p), signs);
    });
}

TEST(B9_vexcl_scan, short_vectors) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<cl_int2> host(1000);
        for (cl_int2& each : host)
            each = {{static_cast<int>(random() % 100), static_cast<int>(random() % 100)}};
        const vex::vector<cl_int2> x(ctx, host);
        vex::vector<cl_int2> y(ctx, host.size());
        vex::inclusive_scan(x, y);
        const std::vector<cl_int2> got = on_host(y);
        int first = 0, second = 0;
        for (std::size_t k = 0; k < host.size(); ++k) {
            ASSERT_EQ(got[k].s[0], first += host[k].s[0]);
            ASSERT_EQ(got[k].s[1], second += host[k].s[1]);
        }
    });
}

/// Sums that begin again where an element's key is not the one before it.
template <class Key>
std::vector<int> sums_by_key(const std::vector<Key>& keys, const std::vector<int>& values, bool is_inclusive,
                             int init = 0) {
    std::vector<int> made(keys.size());
    int sum = init;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (k > 0 && keys[k] != keys[k - 1]) sum = init;
        if (!is_inclusive) made[k] = sum;
        sum += values[k];
        if (is_inclusive) made[k] = sum;
    }
    return made;
}

VEX_FUNCTION(bool, same_pair, (int, a1)(int, a2)(int, b1)(int, b2), return a1 == b1 && a2 == b2;);
VEX_FUNCTION(int, add, (int, a)(int, b), return a + b;);

TEST(B9_vexcl_scan, by_key) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 10007;
        std::vector<int> keys = numbers<int>(random, n);
        const std::vector<int> values = numbers<int>(random, n);
        std::sort(keys.begin(), keys.end());
        const vex::vector<int> k(ctx, keys), v(ctx, values);
        vex::vector<int> y(ctx, n);
        vex::inclusive_scan_by_key(k, v, y);
        EXPECT_EQ(on_host(y), sums_by_key(keys, values, true));
        vex::exclusive_scan_by_key(k, v, y);
        EXPECT_EQ(on_host(y), sums_by_key(keys, values, false));
        vex::exclusive_scan_by_key(k, v, y, 42);
        EXPECT_EQ(on_host(y), sums_by_key(keys, values, false, 42));
    });
}

TEST(B9_vexcl_scan, by_tuples_of_keys) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 10007;
        std::vector<int> first = numbers<int>(random, n), second = numbers<int>(random, n);
        std::sort(first.begin(), first.end());
        std::sort(second.begin(), second.end());
        const std::vector<int> values = numbers<int>(random, n);
        std::vector<std::pair<int, int>> keys(n);
        for (std::size_t k = 0; k < n; ++k) keys[k] = {first[k], second[k]};
        vex::vector<int> a(ctx, first), b(ctx, second);
        const vex::vector<int> v(ctx, values);
        vex::vector<int> y(ctx, n);
        vex::inclusive_scan_by_key(boost::fusion::vector_tie(a, b), v, y, same_pair, add);
        EXPECT_EQ(on_host(y), sums_by_key(keys, values, true));
        vex::exclusive_scan_by_key(std::tie(a, b), v, y, same_pair, add);
        EXPECT_EQ(on_host(y), sums_by_key(keys, values, false));
    });
}

}  // namespace

}  // namespace balm::test
