// Random programs of algorithms against the standard library on the host. BALM_TEST_CASES says how many,
// BALM_TEST_SEED the first case's seed; case k has seed + k, so that the seed of a failure with
// BALM_TEST_CASES=1 repeats it. BALM_TEST_SHOW prints every program.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <vector>

#include "algorithm/random_program/program.hpp"
#include "algorithm/random_program/ways.hpp"
#include "balm/balm.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using random_algorithms::forced_ways;
using random_algorithms::most_in_groups_of_cpu;
using random_algorithms::program;

/// Some devices have no elements, few or many.
context any_weights(const context& ctx, std::mt19937_64& random) {
    if (ctx.size() == 1) return ctx;
    constexpr double some[] = {0, 0.05, 1, 1, 1, 1, 4};
    std::vector<double> weights(ctx.size());
    for (double& each : weights) each = some[random() % std::size(some)];
    weights[random() % weights.size()] += 1;
    return ctx.weighted(weights);
}

template <class T>
void run_one(const context& ctx, std::uint64_t own_seed) {
    std::mt19937_64 random(own_seed);
    const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
    const forced_ways held(random, on_cpu);
    const bool shows = std::getenv("BALM_TEST_SHOW") != nullptr;
    std::optional<program<T>> drawn_one;
    try {
        drawn_one.emplace(any_weights(ctx, random), random,
                          held.is_of_groups && on_cpu ? most_in_groups_of_cpu : ~std::size_t{0});
        drawn_one->run();
    } catch (const std::exception& fault) {
        ADD_FAILURE() << fault.what();
    }
    if (shows && drawn_one) std::cout << own_seed << ": " << drawn_one->words() << std::endl;
    if (testing::Test::HasFailure() && drawn_one)
        ADD_FAILURE() << "BALM_TEST_SEED=" << own_seed
                      << " BALM_TEST_CASES=1: " << (held.is_of_groups ? "as on GPUs, " : "")
                      << drawn_one->words();
}

TEST(V15_random_algorithms, compute_what_the_standard_library_does) {
    const std::size_t cases = case_count(2);  // half a second to compile each kernel
    on_all_contexts([&](const context& ctx) {
        for (std::size_t k = 0; k < cases && !HasFailure(); ++k) {
            const std::uint64_t own_seed = seed() + k;
            switch (own_seed % 7) {
                case 0: run_one<float>(ctx, own_seed); break;
                case 1: run_one<std::int32_t>(ctx, own_seed); break;
                case 2: run_one<std::uint8_t>(ctx, own_seed); break;
                case 3: run_one<double>(ctx, own_seed); break;
                case 4: run_one<std::int64_t>(ctx, own_seed); break;
                case 5: run_one<std::int16_t>(ctx, own_seed); break;
                default: run_one<std::uint64_t>(ctx, own_seed);
            }
        }
    });
}

TEST(V15_random_algorithms, over_several_devices) {
    run_on_three_devices("test_algorithm", "V15_random_algorithms.compute*");
}

}  // namespace

}  // namespace balm::test
