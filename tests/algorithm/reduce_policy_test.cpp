// What the policies promise: the same bits from run to run, and the documented order, computed anew on the
// host.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

/// The order of docs/reductions.md. `enter(lane, i)` combines a lane's value with element i.
template <class T>
struct documented_order {
    std::size_t n;
    T identity;
    std::function<T(T, std::size_t)> enter;
    std::function<T(T, T)> join;

    T halved(std::vector<T> values) const {
        for (std::size_t w = std::bit_ceil(values.size()) / 2; w > 0; w /= 2)
            for (std::size_t k = 0; k < w && k + w < values.size(); ++k)
                values[k] = join(values[k], values[k + w]);
        return values[0];
    }
    T lane(std::size_t k, std::size_t begin, std::size_t end) const {
        T total = identity;
        for (std::size_t block = begin; block < end; block += 32 * 1024) {
            T of_block = identity;
            for (std::size_t run = block; run < std::min(block + 32 * 1024, end); run += 1024) {
                T of_run = identity;
                for (std::size_t i = run + k; i < std::min(run + 1024, end); i += 32)
                    of_run = enter(of_run, i);
                of_block = join(of_block, of_run);
            }
            total = join(total, of_block);
        }
        return total;
    }
    T result() const {
        const std::size_t piece = 1024 * ((n - 1) / (1024 * 4096) + 1);
        std::vector<T> pieces;
        for (std::size_t begin = 0; begin < n; begin += piece) {
            std::vector<T> lanes;
            for (std::size_t k = 0; k < 32; ++k) lanes.push_back(lane(k, begin, std::min(begin + piece, n)));
            pieces.push_back(halved(lanes));
        }
        std::vector<T> lanes(std::bit_ceil(std::min<std::size_t>(pieces.size(), 256)), identity);
        for (std::size_t k = 0; k < pieces.size(); ++k)
            lanes[k % lanes.size()] = join(lanes[k % lanes.size()], pieces[k]);
        return halved(lanes);
    }
};

template <class T>
class B7_portable_reductions : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(B7_portable_reductions, floating_types);

TYPED_TEST(B7_portable_reductions, have_the_documented_order) {
    using T = TypeParam;
    auto random = seeded_random();
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33}, std::size_t{1023},
          std::size_t{1024}, std::size_t{1025}, std::size_t{98309}, 2 * 4096 * 1024 + random() % 5000}) {
        const auto x = random_values<T>(random, n, T(-1), T(2)), y = random_values<T>(random, n, T(-1), T(1));
        const auto add = [](T a, T b) { return a + b; };
        const T total =
            documented_order<T>{n, 0, [&](T sum, std::size_t i) { return sum + x[i]; }, add}.result();
        // A product that is added is fused.
        const T dot =
            documented_order<T>{n, 0, [&](T sum, std::size_t i) { return std::fma(x[i], y[i], sum); }, add}
                .result();
        const auto multiply = [](T a, T b) { return a * b; };
        const T product_of_all =
            documented_order<T>{n, 1, [&](T made, std::size_t i) { return made * (1 + x[i] / 4096); },
                                multiply}
                .result();
        on_all_contexts([&](const context& ctx) {
            const vector<T> X(ctx, std::span<const T>(x)), Y(ctx, std::span<const T>(y));
            for (const bool as_on_gpus : {false, true}) {
                const shapes_of_gpus chosen(as_on_gpus);
                EXPECT_EQ(sum(X, policy::portable), total) << n << as_on_gpus;
                EXPECT_EQ(sum(X * Y, policy::portable), dot) << n << as_on_gpus;
                EXPECT_EQ(product(1 + X / 4096, policy::portable), product_of_all) << n << as_on_gpus;
                vector<T> one(ctx, 1);
                sum_into(one, X, policy::portable);
                EXPECT_EQ(one[0], total) << n << as_on_gpus;
            }
        });
    }
}

TEST(B7_portable_reductions_of_many, have_the_documented_order) {
    // More than 32 runs a piece; positions need no memory.
    const std::size_t n = std::size_t{4096} * 33 * 1024 - 5;
    const auto value = [](std::size_t i) { return static_cast<float>(i % 1021); };
    const float total = documented_order<float>{
        n, 0, [&](float sum, std::size_t i) { return sum + value(i); },
        [](float a, float b) {
            return a + b;
        }}.result();
    for (const bool as_on_gpus : {false, true}) {
        const shapes_of_gpus chosen(as_on_gpus);
        EXPECT_EQ(sum(cast<float>(element_index(0, n) % 1021), policy::portable), total) << as_on_gpus;
    }
}

TEST(B7_portable_reductions_of_functions, have_the_documented_order) {
    auto random = seeded_random();
    const std::size_t n = 77777;
    const auto x = random_values<float>(random, n, -1.f, 1.f);
    const auto f = balm::function("twice_and_one", [](dsl::Float v) { return v * 2.f + 1.f; });
    const auto add = [](float a, float b) { return a + b; };
    const float expected =
        documented_order<float>{n, 0,
                                [&](float sum, std::size_t i) { return sum + std::fma(x[i], 2.f, 1.f); }, add}
            .result();
    const auto plus = balm::function("plus", [](dsl::Float a, dsl::Float b) { return a + b; });
    const float folded =
        documented_order<float>{n, 0, [&](float sum, std::size_t i) { return sum + x[i]; }, add}.result();
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, std::span<const float>(x));
        for (const bool as_on_gpus : {false, true}) {
            const shapes_of_gpus chosen(as_on_gpus);
            EXPECT_EQ(sum(f(X), policy::portable), expected) << as_on_gpus;
            EXPECT_EQ(fold(X, 0.f, plus, policy::portable), folded) << as_on_gpus;
        }
    });
}

TEST(B7_reductions, give_the_same_bits_in_every_run) {
    auto random = seeded_random();
    const std::size_t n = 1000003;
    const auto x = random_values<float>(random, n, -1.f, 1.f);
    in_all_ways([&](const context& ctx, policy how) {
        const vector<float> X(ctx, std::span<const float>(x));
        const float first = sum(sin(X), how), product_first = product(1 + X / 1000, how);
        for (int run = 0; run < 10; ++run) {
            EXPECT_EQ(sum(sin(X), how), first);
            EXPECT_EQ(product(1 + X / 1000, how), product_first);
        }
    });
}

}  // namespace
}  // namespace balm::test
