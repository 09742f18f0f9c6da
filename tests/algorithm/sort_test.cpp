// Sorts against std::stable_sort on the host.

#include "balm/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "algorithm/sort/radix_kernels.hpp"
#include "balm/balm.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "sort_ways.hpp"
#include "support/devices.hpp"
#include "support/interpreter.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

struct molecule {
    float mass;
    std::int32_t number;
    double energy;
};
BALM_STRUCT(molecule, mass, number, energy)

namespace {

using namespace balm::dsl;
using array::forced_sort;
using array::sort_strategy;
using testing::HasSubstr;

std::vector<std::size_t> sizes_of(std::mt19937_64& random) {
    return {0, 1, 2, 3, 31, 256, 1 + below(random, 5000), 1 + below(random, 150000)};
}

template <class T>
void sorts(const context& ctx, const std::vector<T>& x, sort_order order) {
    SCOPED_TRACE(std::to_string(x.size()) + (order == ascending ? " ascending" : " descending"));
    vector<T> v(ctx, x.begin(), x.end());
    sort(v, order);
    expect_same(on_host(v), sorted_on_host(x, order));
}

template <class T>
class V15_sort_types : public testing::Test {};
using key_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double, half, bool>;
TYPED_TEST_SUITE(V15_sort_types, key_types);

TYPED_TEST(V15_sort_types, keys_of_all_kinds) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (const sort_order order : {ascending, descending}) {
            for (const std::size_t n : sizes_of(random))
                sorts(ctx, keys_of<T>(any_kind(random), random, n), order);
            for (const kind how : all_kinds)
                sorts(ctx, keys_of<T>(how, random, 1 + below(random, 9000)), order);
        }
    });
}

TYPED_TEST(V15_sort_types, values_move_with_their_keys) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{1}, 1 + below(random, 3000), 1 + below(random, 100000)}) {
            const sort_order order = any_order(random);
            const std::vector<T> x = keys_of<T>(any_kind(random), random, n);
            SCOPED_TRACE(std::to_string(n) + (order == ascending ? " ascending" : " descending"));
            std::vector<unsigned> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 0u);
            vector<T> keys(ctx, x.begin(), x.end());
            vector<unsigned> values(ctx, numbers);
            sort_by_key(keys, values, order);
            expect_same(on_host(keys), sorted_on_host(x, order));
            // Equal keys, all NaNs among them, keep their order.
            expect_same(values, permuted(numbers, order_on_host(x, order)));
        }
    });
}

TEST(V15_sort, vectors_of_every_small_size) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 70 ? 1 : 1 + below(random, 90))
            sorts(ctx, keys_of<std::uint32_t>(any_kind(random), random, n), any_order(random));
        for (const std::size_t n : {255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097})
            sorts(ctx, keys_of<float>(any_kind(random), random, n), any_order(random));
    });
}

TEST(V15_sort, millions_of_elements) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        sorts(ctx, keys_of<std::uint32_t>(kind::any_bits, random, 3000000 + below(random, 10000)), ascending);
        sorts(ctx, keys_of<double>(kind::any_bits, random, 1000000 + below(random, 10000)), descending);
    });
}

// ---- values, several keys

TEST(V15_sort, values_of_every_size) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000);
        const auto moves = [&]<class V>(const std::vector<V>& of) {
            SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(sizeof(V)) + " bytes");
            const std::vector<std::int16_t> x = keys_of<std::int16_t>(kind::any_bits, random, n);
            vector<std::int16_t> keys(ctx, x);
            vector<V> values(ctx, of);
            sort_by_key(keys, values);
            expect_same(values, permuted(of, order_on_host(x, ascending)));
        };
        moves(keys_of<std::uint8_t>(kind::any_bits, random, n));
        moves(keys_of<std::uint16_t>(kind::any_bits, random, n));
        moves(keys_of<float>(kind::any_bits, random, n));
        moves(keys_of<double>(kind::any_bits, random, n));
        std::vector<float4> wide(n);
        for (float4& each : wide) each = {static_cast<float>(random() % 1000), 2, 3, 4};
        moves(wide);
        std::vector<molecule> particles(n);
        for (std::size_t k = 0; k < n; ++k)
            particles[k] = {1, static_cast<int>(k), 0.5 * static_cast<double>(k)};
        moves(particles);
    });
}

TEST(V15_sort, several_values) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000);
        SCOPED_TRACE(n);
        const std::vector<int> x = keys_of<int>(kind::few_values, random, n);
        const auto a = keys_of<std::uint8_t>(kind::any_bits, random, n);
        const auto b = keys_of<double>(kind::any_bits, random, n);
        const auto c = keys_of<int>(kind::any_bits, random, n);
        vector<int> keys(ctx, x), third(ctx, c);
        vector<std::uint8_t> first(ctx, a);
        vector<double> second(ctx, b);
        sort_by_key(keys, first, second, third, descending);
        const std::vector<std::size_t> order = order_on_host(x, descending);
        expect_same(keys, permuted(x, order));
        expect_same(first, permuted(a, order));
        expect_same(second, permuted(b, order));
        expect_same(third, permuted(c, order));
        sort_by_key(keys, tie(first, third));
        expect_same(keys, sorted_on_host(x, ascending));
    });
}

TEST(V15_sort, several_keys) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000);
        SCOPED_TRACE(n);
        const auto a = keys_of<std::uint8_t>(kind::low_bits, random, n);
        const auto b = keys_of<std::int64_t>(kind::few_values, random, n);
        const auto c = keys_of<float>(kind::few_values, random, n);
        for (const sort_order way : {ascending, descending}) {
            std::vector<std::size_t> order(n);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
                const auto key = [&](std::size_t k) { return std::tuple(a[k], b[k], c[k]); };
                return way == ascending ? key(i) < key(j) : key(j) < key(i);
            });
            vector<std::uint8_t> first(ctx, a);
            vector<std::int64_t> second(ctx, b);
            vector<float> third(ctx, c);
            std::vector<unsigned> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 0u);
            vector<unsigned> values(ctx, numbers);
            sort_by_key(tie(first, second, third), values, way);
            expect_same(values, permuted(numbers, order));
            expect_same(first, permuted(a, order));
            expect_same(second, permuted(b, order));
            expect_same(third, permuted(c, order));
            vector<std::uint8_t> alone(ctx, a);
            vector<float> beside(ctx, c);
            sort(tie(beside, alone), way);
            expect_same(beside, sorted_on_host(c, way));
        }
    });
}

TEST(V15_sort, structures_by_an_expression_of_their_members) {
    auto random = seeded_random();
    const auto mass = function("mass", [](Var<molecule> p) { return Float(p.mass); });
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 5000);
        std::vector<molecule> x(n);
        std::vector<float> masses(n);
        for (std::size_t k = 0; k < n; ++k) {
            masses[k] = static_cast<float>(below(random, 100));
            x[k] = {masses[k], static_cast<int>(k), 0};
        }
        vector<molecule> particles(ctx, x);
        sort_by_key(mass(particles), particles);
        expect_same(particles, permuted(x, order_on_host(masses, ascending)));
    });
}

// ---- comparisons

const auto& by_last_digit() {
    static const auto made =
        function("by_last_digit(a, b)", [](UInt a, UInt b) { return a % 10u < b % 10u; });
    return made;
}
const auto& heavier() {
    static const auto made =
        function("heavier(a, b)", [](Var<molecule> a, Var<molecule> b) { return Bool(a.mass > b.mass); });
    return made;
}
bool has_less_digit(unsigned a, unsigned b) { return a % 10 < b % 10; }
std::vector<molecule> particles_of(std::mt19937_64& random, std::size_t n) {
    std::vector<molecule> made(n);
    for (std::size_t k = 0; k < n; ++k)
        made[k] = {static_cast<float>(below(random, 20)), static_cast<int>(k), 0.5 * static_cast<double>(k)};
    return made;
}

void sorts_by_comparison(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE(n);
    std::vector<unsigned> x = keys_of<unsigned>(any_kind(random), random, n);
    vector<unsigned> v(ctx, x);
    sort(v, by_last_digit());
    std::vector<unsigned> wanted = x;
    std::stable_sort(wanted.begin(), wanted.end(), has_less_digit);
    expect_same(v, wanted);

    std::vector<std::uint16_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
    vector<unsigned> keys(ctx, x);
    vector<std::uint16_t> values(ctx, numbers);
    sort_by_key(keys, values, by_last_digit());
    expect_same(keys, wanted);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return has_less_digit(x[a], x[b]); });
    expect_same(values, permuted(numbers, order));

    std::vector<molecule> of = particles_of(random, n);
    vector<molecule> particles(ctx, of);
    vector<unsigned> first(ctx, x);
    vector<std::uint16_t> second(ctx, numbers);
    sort_by_key(particles, first, second, heavier());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return of[a].mass > of[b].mass; });
    expect_same(particles, permuted(of, order));
    expect_same(first, permuted(x, order));
    expect_same(second, permuted(numbers, order));
}

TEST(V15_sort, comparisons_of_numbers_and_structures) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (const std::size_t n : {0, 1, 2, 3, 15, 16, 17, 1000, 1001, 4097})
            sorts_by_comparison(ctx, random, n);
        for (int k = 0; k < 4; ++k) sorts_by_comparison(ctx, random, below(random, 3000));
        sorts_by_comparison(ctx, random, 50000 + below(random, 50000));
    });
}

TEST(V15_sort, comparisons_by_groups) {
    if (devices_are_together()) return;
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    with_strategy({.strategy = sort_strategy::chunk_a_group}, "groups", [&] {
        // Whole tiles of 4-byte keys, sorted and merged, and parts of them.
        for (const std::size_t n : {std::size_t{1}, std::size_t{2}, 2 + below(random, 3000),
                                    std::size_t{8704}, std::size_t{17408}, 9000 + below(random, 30000)})
            sorts_by_comparison(ctx, random, n);
    });
}

// ---- expressions

TEST(V15_sort, expressions_in_order) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 1 + below(random, 100000)}) {
            SCOPED_TRACE(n);
            const std::vector<int> x = keys_of<int>(kind::low_bits, random, n);
            std::vector<int> doubled;
            for (const int each : x) doubled.push_back(2 * each + 1);
            const vector<int> v(ctx, x);
            const auto in_order = sorted(2 * v + 1);
            expect_same(vector<int>(in_order), sorted_on_host(doubled, ascending));
            expect_same(vector<int>(-sorted(v, descending)), sorted_on_host(
                                                                 [&] {
                                                                     std::vector<int> made;
                                                                     for (const int each : x)
                                                                         made.push_back(-each);
                                                                     return made;
                                                                 }(),
                                                                 ascending));
            vector<int> own(ctx, x);
            own = sorted(own + own + 1);
            expect_same(own, sorted_on_host(doubled, ascending));
            expect_same(v, x);
            if (n == 0) continue;
            const std::vector<int> wanted = sorted_on_host(x, ascending);
            EXPECT_EQ(max(sorted(v)), wanted.back());
        }
    });
}

TEST(V15_sort, positions_in_order) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 1 + below(random, 100000)}) {
            SCOPED_TRACE(n);
            const std::vector<float> x = keys_of<float>(kind::few_values, random, n);
            const vector<float> v(ctx, x);
            const sort_order way = any_order(random);
            const std::vector<std::size_t> order = order_on_host(x, way);
            const vector<std::uint32_t> positions = argsort(v, way);
            expect_same(positions, std::vector<std::uint32_t>(order.begin(), order.end()));
            const vector<std::int64_t> wide = argsort<std::int64_t>(v, way);
            expect_same(wide, std::vector<std::int64_t>(order.begin(), order.end()));
            if (n > 0) expect_same(vector<float>(v[argsort(v, way)]), permuted(x, order));
            std::vector<float> negative;
            for (const float each : x) negative.push_back(0 - each);
            const std::vector<std::size_t> other = order_on_host(negative, ascending);
            expect_same(vector<std::uint32_t>(argsort(0 - v)),
                        std::vector<std::uint32_t>(other.begin(), other.end()));
        }
    });
}

TEST(V15_sort, all_nans_are_equal) {
    in_all_sort_strategies([](const context& ctx) {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const vector<double> x(ctx, {-nan, 1, nan, 0, -nan, nan});
        EXPECT_EQ(values_of<std::uint32_t>(argsort(x)), (std::vector<std::uint32_t>{3, 1, 0, 2, 4, 5}));
        EXPECT_EQ(values_of<std::uint32_t>(argsort(x, descending)),
                  (std::vector<std::uint32_t>{1, 3, 0, 2, 4, 5}));
        // A second key orders them.
        vector<float> first(ctx, {std::nanf("1"), 2, -std::nanf("2"), std::nanf("3")});
        vector<int> second(ctx, {7, 0, 5, 6}), positions(ctx, {0, 1, 2, 3});
        sort_by_key(tie(first, second), positions);
        expect_same(positions, {1, 2, 3, 0});
    });
}

TEST(V15_sort, elements_of_a_view) {
    on_all_contexts([](const context& ctx) {
        vector<int> v(ctx, {9, 3, 8, 2, 7, 1});
        expect_same(vector<int>(sorted(view(v, {3, 2})(all, 1))), {1, 2, 3});
        view(v, {3, 2})(all, 0) = sorted(view(v, {3, 2})(all, 0));
        expect_same(v, {7, 3, 8, 2, 9, 1});
    });
}

template <class T>
void sorts_rows(const context& ctx, std::mt19937_64& random, std::size_t rows, std::size_t columns) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const sort_order way = any_order(random);
    const std::vector<T> x = keys_of<T>(any_kind(random), random, rows * columns);
    std::vector<T> wanted = x;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(r * columns);
        std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(columns), by<T>(way));
    }
    vector<T> v(ctx, x);
    const vector<T> other = sorted(view(v, {rows, columns}), along(1), way);
    expect_same(other, wanted);
    v = sorted(view(v, {rows, columns}), along(1), way);
    expect_same(v, wanted);
}
TEST(V15_sort, rows_of_a_view) {
    auto random = seeded_random();
    in_all_sort_strategies([&](const context& ctx) {
        sorts_rows<unsigned>(ctx, random, 1 + below(random, 1000), 1 + below(random, 300));
        sorts_rows<std::int64_t>(ctx, random, 1 + below(random, 5), 1 + below(random, 10000));
        sorts_rows<unsigned>(ctx, random, 1 + below(random, 300), 1);
        sorts_rows<unsigned>(ctx, random, 1, 1 + below(random, 3000));
        sorts_rows<unsigned>(ctx, random, 3, 0);
        vector<int> v(ctx, {4, 1, 3, 2, 9, 0});
        expect_same(vector<int>(sorted(view(v, {3, 2}).transpose(), along(1))), {3, 4, 9, 0, 1, 2});
        expect_same(vector<int>(sorted(view(v, {3, 2}), along(0), descending)), {9, 2, 4, 1, 3, 0});
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(sorted(view(v, {3, 2}), along(2)));
                    }),
                    HasSubstr("a sort cannot run along dimension 2 of 3 x 2"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(sorted(view(v, {3, 2}), along(0, 1)));
                    }),
                    HasSubstr("a sort cannot run along 2 dimensions; name exactly one"));
    });
}
TEST(V15_sort, positions_along_a_dimension) {
    in_all_sort_strategies([](const context& ctx) {
        const vector<int> v(ctx, {4, 1, 3, 3, 9, 0});
        const auto M = view(v, {2, 3});
        expect_same(vector<std::uint32_t>(argsort(M, along(1))), {1, 2, 0, 2, 0, 1});
        expect_same(vector<std::int64_t>(argsort<std::int64_t>(M, along(0))), {1, 0, 1, 0, 1, 0});
        expect_same(
            vector<int>(
                v[vector<std::uint32_t>(argsort(M, along(1), descending)) + 3 * (element_index(0, 6) / 3)]),
            {4, 3, 1, 9, 3, 0});
        const auto [best, positions] = top_k(M, 2, along(1));
        expect_same(vector<int>(best), {4, 3, 9, 3});
        expect_same(vector<std::int64_t>(positions), {0, 2, 1, 0});
        EXPECT_EQ(top_k(M, 0, along(1)).values.extents().count(), 0u);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(top_k(M, 3, along(0))); }),
                    HasSubstr("cannot take the first 3 elements of an array of 2"));
        const vector<int> long_row(ctx, 300, 1);
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(argsort<std::uint8_t>(view(long_row, {1, 300}), along(1)));
                    }),
                    HasSubstr("the positions of 300 elements do not fit in integers of 8 bits"));
    });
}

// ---- the strategies of GPUs

TEST(V15_sort, strategies_of_gpus_on_cpus) {
    if (devices_are_together()) return;
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    const auto sort_all = [&] {
        for (const std::size_t n : {2 + below(random, 500), 2 + below(random, 20000)}) {
            sorts(ctx, keys_of<std::uint8_t>(any_kind(random), random, n), any_order(random));
            sorts(ctx, keys_of<float>(any_kind(random), random, n), ascending);
            const std::vector<std::uint16_t> x = keys_of<std::uint16_t>(any_kind(random), random, n);
            const std::vector<double> y = keys_of<double>(kind::any_bits, random, n);
            vector<std::uint16_t> keys(ctx, x);
            vector<double> values(ctx, y);
            sort_by_key(keys, values);
            expect_same(keys, sorted_on_host(x, ascending));
            expect_same(values, permuted(y, order_on_host(x, ascending)));
        }
    };
    with_strategy({.strategy = sort_strategy::chunk_a_group}, "a group", [&] {
        sort_all();
        sorts_rows<unsigned>(ctx, random, 1 + below(random, 30), 1 + below(random, 300));
        sorts_rows<unsigned>(ctx, random, 1 + below(random, 5), 3000);
    });
    with_strategy({.strategy = sort_strategy::chunk_a_group, .most_of_one = 0}, "chunks of groups", sort_all);
    with_strategy({.strategy = sort_strategy::tiles_look_back, .most_of_one = 0}, "tiles look back",
                  sort_all);
    with_strategy({.strategy = sort_strategy::tiles_look_back, .most_of_one = 0, .has_wide_words = true},
                  "words of 64 bits", sort_all);
}

// ---- with sub-groups, which devices may lack: in the interpreter, and compiled for CUDA

/// A kernel of a sort by u64 values, in the parameters that it names.
ir::function kernel_of(const array::radix_plan& plan, std::initializer_list<const char*> numbers,
                       std::initializer_list<const char*> vectors) {
    const vector<int> any(context{filter::cpu}, 1);
    trace::recording r("sort", 1, {});
    array::parameter_list given(r);
    for (const char* each : numbers) given.number(each, 0);
    for (const std::string each : vectors) {
        const scalar type = each == "keys" || each == "spare_keys" ? plan.order.bits_type()
                            : each == "words" && !plan.is_wide     ? scalar::u32
                                                                   : scalar::u64;
        given.memory(*std::find(vectors.begin(), vectors.end(), each), type, trace::access::mixed,
                     *any.storage());
    }
    const ir::function made = *array::trace_radix_sort(r, given, plan);
    also_compile_with_nvrtc(made);
    return made;
}

/// Keys and values as the interpreter's memory.
template <class K>
struct interpreted_sort {
    using bits = std::conditional_t<sizeof(K) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(K) == 4, std::uint32_t, std::uint64_t>>;
    std::vector<bits> keys, spare_keys;
    std::vector<std::uint64_t> values, spare_values;
    std::vector<std::uint64_t> state, wide_words;
    std::vector<std::uint32_t> words;
    std::int64_t n = 0, pass = 0;

    explicit interpreted_sort(const std::vector<K>& x)
        : spare_keys(x.size()),
          values(x.size()),
          spare_values(x.size()),
          state(array::radix_state::histograms + 256 * sizeof(K)),
          n(static_cast<std::int64_t>(x.size())) {
        for (const K each : x) keys.push_back(std::bit_cast<bits>(each));
        std::iota(values.begin(), values.end(), std::uint64_t{0});
    }
    void run(const ir::function& kernel, std::size_t groups, std::size_t group) {
        std::vector<interpreter_argument> arguments;
        for (const ir::parameter& each : kernel.parameters)
            arguments.push_back(each.name == "n"              ? value_of(n)
                                : each.name == "pass"         ? value_of(pass)
                                : each.name == "keys"         ? memory_of(keys)
                                : each.name == "spare_keys"   ? memory_of(spare_keys)
                                : each.name == "values"       ? memory_of(values)
                                : each.name == "spare_values" ? memory_of(spare_values)
                                : each.name == "state"        ? memory_of(state)
                                : wide_words.empty()          ? memory_of(words)
                                                              : memory_of(wide_words));
        const auto items = static_cast<std::int64_t>(group);
        interpret(kernel, {{items * static_cast<std::int64_t>(groups), 1, 1}, {items, 1, 1}}, arguments);
    }
    void expect_order_of(const std::vector<K>& x, sort_order way) {
        const std::vector<std::size_t> order = order_on_host(x, way);
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (keys[k] == std::bit_cast<bits>(x[order[k]]) && values[k] == order[k]) continue;
            ADD_FAILURE() << "element " << k << " of " << x.size() << " has the value " << values[k]
                          << ", not " << order[k];
            return;
        }
    }
};

template <class K>
void sweeps_with_sub_groups(std::mt19937_64& random, std::size_t group, int each, bool is_wide,
                            std::size_t counting_group = 256) {
    const sort_order way = any_order(random);
    array::radix_plan plan;
    plan.order = {scalar_of<K>, way == descending};
    plan.value_bytes = 8;
    plan.group = counting_group;
    plan.each = 8;
    plan.has_sub_groups = true;
    plan.is_wide = is_wide;
    const auto with = [&](array::radix_stage stage) {
        array::radix_plan made = plan;
        made.stage = stage;
        return made;
    };
    using enum array::radix_stage;
    const ir::function histogram = kernel_of(with(histograms), {"n"}, {"state", "keys"});
    const ir::function add_up = kernel_of(with(scan_histograms), {"n"}, {"state"});
    const ir::function back =
        kernel_of(with(settle), {"n"}, {"state", "keys", "spare_keys", "values", "spare_values"});
    plan.group = group;
    plan.each = each;
    const ir::function move = kernel_of(with(sweep), {"n", "pass"},
                                        {"state", "words", "keys", "spare_keys", "values", "spare_values"});
    const std::size_t tile = group * static_cast<std::size_t>(each);
    for (const kind how : {kind::few_values, kind::special, kind::any_bits})
        for (const std::size_t n : {1 + below(random, tile), 2 * tile, 2 * tile + below(random, 2 * tile)}) {
            SCOPED_TRACE(n);
            const std::vector<K> x = keys_of<K>(how, random, n);
            interpreted_sort<K> memory(x);
            const std::size_t tiles = (n + tile - 1) / tile;
            if (is_wide)
                memory.wide_words.resize(tiles * 256);
            else
                memory.words.resize(tiles * 256);
            memory.run(histogram, 2, counting_group);
            memory.run(add_up, 1, counting_group);
            for (memory.pass = 0; memory.pass < plan.passes(); ++memory.pass) memory.run(move, tiles, group);
            memory.run(back, 2, counting_group);
            memory.expect_order_of(x, way);
        }
}

TEST(V15_sort, sweeps_with_sub_groups) {
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    auto random = seeded_random();
    sweeps_with_sub_groups<float>(random, 384, 15, false);
    sweeps_with_sub_groups<std::int64_t>(random, 384, 15, false);
    sweeps_with_sub_groups<std::uint16_t>(random, 384, 4, true);
    // Devices whose groups have fewer work-items than there are digits.
    sweeps_with_sub_groups<double>(random, 96, 6, false, 96);
    sweeps_with_sub_groups<std::uint32_t>(random, 32, 8, false, 32);
}

TEST(V15_sort, rows_of_groups_with_sub_groups) {
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    auto random = seeded_random();
    array::radix_plan plan;
    plan.order = {scalar::f32, false};
    plan.value_bytes = 8;
    plan.has_sub_groups = true;
    for (const std::size_t group : {std::size_t{64}, std::size_t{256}}) {
        plan.group = group;
        plan.each = static_cast<int>(group / 16);
        const ir::function whole = kernel_of(plan, {"n"}, {"keys", "values"});
        const std::size_t most = group * group / 16;
        for (const std::size_t n : {std::size_t{1}, 1 + below(random, most), most}) {
            SCOPED_TRACE(n);
            const std::vector<float> x = keys_of<float>(any_kind(random), random, n);
            interpreted_sort<float> memory(x);
            memory.run(whole, 1, group);
            memory.expect_order_of(x, ascending);
        }
    }
}

// ---- errors, and what is not compiled again

TEST(V15_sort, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        vector<int> keys(ctx, {3, 1, 2}), other(ctx, {1, 2});
        EXPECT_THAT(message_of<usage_error>([&] { sort_by_key(keys, other); }),
                    HasSubstr("cannot sort vectors of 3 and 2 elements together"));
        EXPECT_THAT(message_of<usage_error>([&] { sort_by_key(keys, keys); }),
                    HasSubstr("the same vector twice"));
        EXPECT_THAT(message_of<usage_error>([&] { sort(tie(keys, keys)); }),
                    HasSubstr("the same vector twice"));
        const vector<std::uint8_t> many(ctx, 300);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(argsort<std::uint8_t>(many)); }),
                    HasSubstr("the positions of 300 elements do not fit in integers of 8 bits"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(sorted(element_index())); }),
                    HasSubstr("the size of an expression is unknown"));
        expect_same(keys, {3, 1, 2});
    });
}

TEST(V15_sort, of_no_elements_and_no_device) {
    on_all_contexts([](const context& ctx) {
        vector<float> none(ctx, 0), nowhere;
        sort(none);
        sort(nowhere);
        sort_by_key(none, nowhere);
        EXPECT_EQ(vector<float>(sorted(none)).size(), 0u);
        EXPECT_EQ(vector<std::uint32_t>(argsort(none)).size(), 0u);
    });
}

TEST(V15_sort, new_sizes_compile_nothing) {
    in_all_sort_strategies([](const context& ctx) {
        const auto sort_all = [&](std::size_t n) {
            vector<int> v(ctx, n);
            v = -cast<int>(element_index());
            sort(v);
            EXPECT_EQ(v[0], -static_cast<int>(n - 1));
        };
        sort_all(3000);
        sort_all(150000);
        EXPECT_EQ(compilations_of([&] {
                      sort_all(4000);
                      sort_all(170001);
                  }),
                  0);
    });
}

TEST(V15_sort, over_three_devices) {
    run_on_three_devices(
        "test_algorithm",
        "V15_sort.several_*:V15_sort.positions*:V15_sort.expressions*:V15_sort.rows_of_a_view:"
        "V15_sort.comparisons_of*");
}

}  // namespace

}  // namespace balm::test
