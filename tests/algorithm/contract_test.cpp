// Contractions against nested loops on the host.

#include "balm/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <vector>

#include "algorithm/contract/product_shapes.hpp"
#include "balm/vector.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

std::size_t pick(std::mt19937_64& random, std::size_t below) { return random() % below; }

struct products_as {
    explicit products_as(const array::forced_product& how) { array::force_products(how); }
    products_as(const products_as&) = delete;
    products_as& operator=(const products_as&) = delete;
    ~products_as() { array::force_products({}); }
};

/// Runs the body on every context; on CPU devices also with the kernels of GPUs, in small tiles.
template <class Body>
void in_all_ways(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        if (ctx.device(0).info().type != device_type::cpu) return;
        SCOPED_TRACE("as on GPUs");
        const products_as chosen({true, array::small_tile, 0});
        body(ctx);
    });
}

/// The sums of products by nested loops over all letters, as einsum defines them.
template <class R, class A, class B>
std::vector<R> looped(const std::string& of_a, const shape& box_a, const A& a, const std::string& of_b,
                      const shape& box_b, const B& b, const std::string& output) {
    std::map<char, std::size_t> extents, at;
    for (std::size_t d = 0; d < of_a.size(); ++d) extents[of_a[d]] = box_a[static_cast<int>(d)];
    for (std::size_t d = 0; d < of_b.size(); ++d) extents[of_b[d]] = box_b[static_cast<int>(d)];
    std::size_t total = 1, results = 1;
    for (const auto& [letter, extent] : extents) total *= extent;
    for (const char c : output) results *= extents[c];
    std::vector<R> made(results);
    const auto place = [&](const std::string& letters) {
        std::size_t flat = 0;
        for (const char c : letters) flat = flat * extents[c] + at[c];
        return flat;
    };
    for (std::size_t k = 0; k < total; ++k) {
        std::size_t rest = k;
        for (const auto& [letter, extent] : extents) {
            at[letter] = rest % extent;
            rest /= extent;
        }
        made[place(output)] += static_cast<R>(a[place(of_a)]) * static_cast<R>(b[place(of_b)]);
    }
    return made;
}

/// Whole numbers whose sums of products are exact in every type.
template <class T>
std::vector<T> small_numbers(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = static_cast<T>(static_cast<int>(pick(random, 9)) - 4);
    return made;
}

template <class R, class E>
std::vector<R> values_of(const E& e) {
    const host_array<R> got = vector<R>(e).to_host();
    return std::vector<R>(got.begin(), got.end());
}

template <class T>
class V18_matmul : public testing::Test {};
using element_types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(V18_matmul, element_types);

TYPED_TEST(V18_matmul, of_any_extents_and_transposes) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_ways([&](const context& ctx) {
        for (int turn = 0; turn < 6; ++turn) {
            const std::size_t m = 2 + pick(random, 60), n = 8 + pick(random, 60), k = 1 + pick(random, 70);
            SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
            const auto a = small_numbers<T>(random, m * k), b = small_numbers<T>(random, k * n);
            const vector<T> x(ctx, a), y(ctx, b);
            const bool turn_a = pick(random, 2) != 0, turn_b = pick(random, 2) != 0;
            const auto A = turn_a ? view<const T>(x, {k, m}).transpose() : view<const T>(x, {m, k});
            const auto B = turn_b ? view<const T>(y, {n, k}).transpose() : view<const T>(y, {k, n});
            vector<T> c(ctx, m * n);
            c = matmul(A, B);
            const auto expected =
                looped<T>(turn_a ? "ki" : "ik", turn_a ? shape(k, m) : shape(m, k), a, turn_b ? "jk" : "kj",
                          turn_b ? shape(n, k) : shape(k, n), b, "ij");
            const auto got = c.to_host();
            EXPECT_EQ(std::vector<T>(got.begin(), got.end()), expected);
        }
    });
}

}  // namespace
}  // namespace balm::test
