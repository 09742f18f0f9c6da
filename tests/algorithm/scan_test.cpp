// Scans against those of the standard library on the host.

#include "balm/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "algorithm/scan_ways.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

std::vector<std::size_t> random_sizes(std::mt19937_64& random, std::size_t count) {
    std::vector<std::size_t> made;
    for (std::size_t k = 0; k < count; ++k) made.push_back(1 + below(random, 200000));
    return made;
}

template <class T>
class V15_scan_types : public testing::Test {};
TYPED_TEST_SUITE(V15_scan_types, number_types);

TYPED_TEST(V15_scan_types, are_added_up) {
    using T = TypeParam;
    using R = decltype(sum(vector<T>()));
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const bool is_inclusive = below(random, 2) == 0;  // each is a kernel to compile
        std::vector<std::size_t> sizes = random_sizes(random, 3);
        sizes.insert(sizes.end(), {0, 1, 2, 4096, 65536, 65537});
        for (const std::size_t n : sizes) {
            SCOPED_TRACE(n);
            const std::vector<T> x = small_numbers<T>(random, n);
            const vector<T> on_device(ctx, x);
            if (is_inclusive)
                expect_equal(vector<R>(inclusive_scan(on_device)), inclusive(x, plus<R>(), R(0)));
            else
                expect_equal(vector<R>(exclusive_scan(on_device, T(3))), exclusive(x, plus<R>(), R(3)));
        }
    });
}

TEST(V15_scan, vectors_of_every_small_size) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (std::size_t n = 0; n <= 600; n += n < 70 ? 1 : 7) {
            SCOPED_TRACE(n);
            const std::vector<unsigned> x = small_numbers<unsigned>(random, n);
            const vector<unsigned> on_device(ctx, x);
            expect_equal(vector<unsigned>(inclusive_scan(on_device)), inclusive(x, plus<unsigned>(), 0u));
            expect_equal(vector<unsigned>(exclusive_scan(on_device)), exclusive(x, plus<unsigned>(), 0u));
        }
    });
}

/// More tiles than one of them looks back at directly.
TEST(V15_scan, millions_of_elements) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 9000000 + below(random, 10000);  // large tiles
        const std::vector<unsigned> x = small_numbers<unsigned>(random, n);
        const vector<unsigned> on_device(ctx, x);
        expect_equal(vector<unsigned>(inclusive_scan(on_device, 7u)), inclusive(x, plus<unsigned>(), 7u));
        const std::vector<std::int64_t> wide = small_numbers<std::int64_t>(random, n);
        expect_equal(vector<std::int64_t>(exclusive_scan(vector<std::int64_t>(ctx, wide))),
                     exclusive(wide, plus<std::int64_t>(), std::int64_t{0}));
    });
}

TEST(V15_scan, every_reduction) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 100000);
        SCOPED_TRACE(n);
        const std::vector<int> x = small_numbers<int>(random, n);
        const vector<int> v(ctx, x);
        const auto least = [](int a, int b) { return std::min(a, b); };
        const auto most = [](int a, int b) { return std::max(a, b); };
        constexpr int low = std::numeric_limits<int>::lowest(), high = std::numeric_limits<int>::max();
        expect_equal(vector<int>(inclusive_scan(min_of(v))), inclusive(x, least, high));
        expect_equal(vector<int>(exclusive_scan(max_of(v))), exclusive(x, most, low));
        std::vector<int> odd(n);
        std::transform(x.begin(), x.end(), odd.begin(), [](int each) { return each | 1; });
        const auto times = [](int a, int b) {
            return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
        };
        expect_equal(vector<int>(inclusive_scan(product_of(v | 1))), inclusive(odd, times, 1));

        std::vector<std::int64_t> positive(n);
        std::transform(x.begin(), x.end(), positive.begin(), [](int each) { return each > 3; });
        expect_equal(vector<std::int64_t>(inclusive_scan(count_of(v > 3), 5)),
                     inclusive(positive, plus<std::int64_t>(), std::int64_t{5}));
        expect_equal(vector<std::int64_t>(exclusive_scan(v > 3)),
                     exclusive(positive, plus<std::int64_t>(), std::int64_t{0}));
        const host_array<bool> any_yet = vector<bool>(inclusive_scan(any_of(v > 3))).to_host(),
                               all_yet = vector<bool>(exclusive_scan(all_of(v < 4))).to_host();
        bool any_wanted = false, all_wanted = true, is_right = true;
        for (std::size_t k = 0; k < n; ++k) {
            is_right = is_right && all_yet.begin()[k] == all_wanted;
            all_wanted = all_wanted && x[k] < 4;
            any_wanted = any_wanted || x[k] > 3;
            is_right = is_right && any_yet.begin()[k] == any_wanted;
        }
        EXPECT_TRUE(is_right);
    });
}

TEST(V15_scan, extremes_pass_over_nan) {
    on_all_contexts([](const context& ctx) {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const vector<float> x(ctx, {nan, 2, nan, 1, 3});
        const host_array<float> least = vector<float>(inclusive_scan(min_of(x))).to_host();
        EXPECT_TRUE(std::isnan(least.begin()[0]));
        EXPECT_EQ(std::vector<float>(least.begin() + 1, least.end()), (std::vector<float>{2, 2, 1, 1}));
        EXPECT_TRUE(std::isnan(vector<float>(exclusive_scan(max_of(x)))[0]));
    });
}

// ---- operations that do not commute

const auto& last_that_is_set() {
    static const auto made =
        function("last_that_is_set(a, b)", [](Int a, Int b) { return select(b != 0, b, a); });
    return made;
}

TEST(V15_scan, functions_that_do_not_commute) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000);
        SCOPED_TRACE(n);
        std::vector<std::uint64_t> maps(n);
        for (std::uint64_t& each : maps) each = random();
        const vector<std::uint64_t> f(ctx, maps);
        expect_equal(vector<std::uint64_t>(inclusive_scan(fold_of(f, unchanged, composition()))),
                     inclusive(maps, composed_maps, unchanged));
        const std::uint64_t init = random();
        expect_equal(vector<std::uint64_t>(exclusive_scan(fold_of(f, unchanged, composition()), init)),
                     exclusive(maps, composed_maps, init));

        std::vector<int> marks(n);
        for (int& each : marks) each = below(random, 10) == 0 ? static_cast<int>(below(random, 100)) : 0;
        expect_equal(vector<int>(inclusive_scan(fold_of(vector<int>(ctx, marks), 0, last_that_is_set()))),
                     inclusive(
                         marks, [](int a, int b) { return b != 0 ? b : a; }, 0));
    });
}

const auto& first_of() {
    static const auto made = function("first_of(a, b)", [](Long a, Long) { return a; });
    return made;
}

TEST(V15_scan, functions_without_an_identity) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000);
        SCOPED_TRACE(n);
        std::vector<std::uint64_t> maps(n);
        for (std::uint64_t& each : maps) each = random();
        const vector<std::uint64_t> f(ctx, maps);
        std::vector<std::uint64_t> wanted(n);
        std::inclusive_scan(maps.begin(), maps.end(), wanted.begin(), composed_maps);
        expect_equal(vector<std::uint64_t>(inclusive_scan(fold_of(f, composition()))), wanted);
        const std::uint64_t init = random();
        expect_equal(vector<std::uint64_t>(exclusive_scan(fold_of(f, composition()), init)),
                     exclusive(maps, composed_maps, init));

        std::vector<std::int64_t> x(n), keys(n), starts(n);
        for (std::size_t k = 0; k < n; ++k) {
            x[k] = static_cast<std::int64_t>(random());
            keys[k] = k == 0 ? 0 : keys[k - 1] + static_cast<std::int64_t>(below(random, 50) == 0);
            starts[k] = k > 0 && keys[k] == keys[k - 1] ? starts[k - 1] : x[k];
        }
        const vector<std::int64_t> values(ctx, x), of(ctx, keys);
        expect_equal(vector<std::int64_t>(inclusive_scan(fold_of(values, first_of()))),
                     std::vector<std::int64_t>(n, x[0]));
        expect_equal(vector<std::int64_t>(inclusive_scan_by_key(of, fold_of(values, first_of()))), starts);
        expect_equal(vector<std::int64_t>(exclusive_scan(fold_of(values, first_of()), std::int64_t{7})),
                     std::vector<std::int64_t>(n, 7));
        EXPECT_EQ(vector<std::int64_t>(exclusive_scan(fold_of(values, first_of())))[0], 0);

        const auto same =
            function("same(a, c, b, d)", [](Long a, Long c, Long b, Long d) { return a == b && c == d; });
        const std::tuple pairs(cast<std::int64_t>(of / 2), cast<std::int64_t>(of % 2));
        expect_equal(vector<std::int64_t>(inclusive_scan_by_key(pairs, same, fold_of(values, first_of()))),
                     starts);
        for (std::size_t k = 0; k < n; ++k)
            starts[k] = k == 0 || keys[k] != keys[k - 1] ? 3 : starts[k - 1] + 1;
        expect_equal(vector<std::int64_t>(
                         exclusive_scan_by_key(pairs, same, count_of(values == values), std::int64_t{3})),
                     starts);
    });
}

// ---- rounding

template <class T>
void expect_sums_near(const std::vector<T>& x, const vector<T>& got) {
    const host_array<T> host = got.to_host();
    long double exact = 0, magnitudes = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        exact += x[k];
        magnitudes += std::fabs(x[k]);
        const long double bound =
            static_cast<long double>(k + 1) * std::numeric_limits<T>::epsilon() / 2 * magnitudes;
        const T own = host.begin()[k];
        if (std::fabs(own - exact) <= bound) continue;
        ADD_FAILURE() << "element " << k << " is " << own << ", not " << exact << " by more than " << bound;
        return;
    }
}

TEST(V15_scan, sums_of_floats_are_within_their_bounds_and_the_same_in_every_run) {
    auto random = seeded_random();
    std::uniform_real_distribution<float> number(-1, 1);
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 300000);
        SCOPED_TRACE(n);
        std::vector<float> x(n);
        for (float& each : x) each = number(random);
        const std::vector<double> wide(x.begin(), x.end());
        const vector<float> v(ctx, x);
        const vector<double> w(ctx, wide);
        const vector<float> sums = inclusive_scan(v);
        expect_sums_near(x, sums);
        expect_sums_near(wide, vector<double>(inclusive_scan(w)));
        expect_sums_near(x, vector<float>(inclusive_scan(sum_compensated_of(v))));
        for (int k = 0; k < 5; ++k)
            EXPECT_EQ(std::memcmp(vector<float>(inclusive_scan(v)).to_host().data(), sums.to_host().data(),
                                  n * sizeof(float)),
                      0);
    });
}

// ---- what is scanned, and where it goes

TEST(V15_scan, expressions_and_scans_in_expressions) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 100000);
        SCOPED_TRACE(n);
        const std::vector<int> x = small_numbers<int>(random, n), y = small_numbers<int>(random, n);
        const vector<int> a(ctx, x), b(ctx, y);
        std::vector<int> both(n);
        for (std::size_t k = 0; k < n; ++k) both[k] = x[k] * y[k] + static_cast<int>(k % 3);
        std::vector<int> wanted = inclusive(both, plus<int>(), 0);
        const auto scanned = inclusive_scan(a * b + cast<int>(element_index() % 3));
        expect_equal(vector<int>(scanned), wanted);
        std::vector<int> combined(n);
        for (std::size_t k = 0; k < n; ++k) combined[k] = 2 * wanted[k] - y[k] * wanted[k];
        expect_equal(vector<int>(2 * scanned - b * scanned), combined);
        expect_equal(vector<int>(inclusive_scan(exclusive_scan(a))),
                     inclusive(exclusive(x, plus<int>(), 0), plus<int>(), 0));
        const std::vector<int> before = exclusive(x, plus<int>(), 0);
        EXPECT_EQ(sum(exclusive_scan(a)), std::accumulate(before.begin(), before.end(), 0, plus<int>()));
    });
}

TEST(V15_scan, in_place) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000);
        SCOPED_TRACE(n);
        const std::vector<int> x = small_numbers<int>(random, n);
        std::vector<int> wanted = inclusive(x, plus<int>(), 0);
        vector<int> v(ctx, x);
        v = inclusive_scan(v);
        expect_equal(v, wanted);
        wanted = exclusive(wanted, plus<int>(), 9);
        v = exclusive_scan(v, 9);
        expect_equal(v, wanted);

        v = vector<int>(ctx, x);
        v = inclusive_scan(v[static_cast<std::int64_t>(n) - 1 - element_index(0, n)]);
        expect_equal(v, inclusive(std::vector<int>(x.rbegin(), x.rend()), plus<int>(), 0));

        std::vector<std::uint8_t> bytes = small_numbers<std::uint8_t>(random, n);
        vector<std::uint8_t> small(ctx, bytes);
        small = inclusive_scan(small);
        expect_equal(small, inclusive(bytes, plus<std::uint8_t>(), std::uint8_t{0}));
    });
}

TEST(V15_scan, into_vectors_whose_devices_have_other_elements) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 4096 + below(random, 20000);
        SCOPED_TRACE(n);
        const std::vector<int> x = small_numbers<int>(random, n);
        const vector<int> v(ctx, x);
        std::vector<double> weights(ctx.size());
        for (double& each : weights) each = static_cast<double>(1 + below(random, 9));
        for (const context& other : {ctx, ctx.weighted(weights)}) {
            vector<int> sums(other, n);
            sums = inclusive_scan(v);
            expect_equal(sums, inclusive(x, plus<int>(), 0));
            sums = inclusive_scan(sums);
            expect_equal(sums, inclusive(inclusive(x, plus<int>(), 0), plus<int>(), 0));
        }
    });
}

TEST(V15_scan, views_in_row_major_order) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t rows = 1 + below(random, 300), columns = 1 + below(random, 300);
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
        const std::vector<int> x = small_numbers<int>(random, rows * columns);
        vector<int> v(ctx, x);
        std::vector<int> transposed;
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < rows; ++r) transposed.push_back(x[r * columns + c]);
        const auto by_columns = view(v, {rows, columns}).transpose();
        const std::vector<int> wanted = inclusive(transposed, plus<int>(), 0);
        expect_equal(vector<int>(inclusive_scan(by_columns)), wanted);
        expect_equal(vector<int>(by_columns + inclusive_scan(by_columns)), [&] {
            std::vector<int> made;
            for (std::size_t k = 0; k < wanted.size(); ++k) made.push_back(wanted[k] + transposed[k]);
            return made;
        }());
        std::vector<int> assigned = x;
        view(v, {rows, columns})(all, 0) = inclusive_scan(view(v, {rows, columns})(all, 0));
        for (std::size_t r = 0, total = 0; r < rows; ++r) {
            total += static_cast<std::size_t>(x[r * columns]);
            assigned[r * columns] = static_cast<int>(total);
        }
        expect_equal(v, assigned);
    });
}

// ---- by key

template <class R, class K, class F>
std::vector<R> by_key(const std::vector<K>& keys, const std::vector<R>& x, F&& combine, R init,
                      bool is_inclusive) {
    std::vector<R> made;
    R sum = init;
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (k > 0 && keys[k] != keys[k - 1]) sum = init;
        const R next = combine(sum, x[k]);
        made.push_back(is_inclusive ? next : sum);
        sum = next;
    }
    return made;
}
template <class K>
std::vector<K> random_keys(std::mt19937_64& random, std::size_t n) {
    const std::size_t length = 1 + below(random, 2) * below(random, 5000);
    std::vector<K> keys(n);
    K key = 0;
    for (K& each : keys) {
        if (below(random, length) == 0) key = static_cast<K>(below(random, 4));
        each = key;
    }
    return keys;
}

TEST(V15_scan, by_key) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 1 + below(random, 200000)}) {
            SCOPED_TRACE(n);
            const std::vector<int> keys = random_keys<int>(random, n), x = small_numbers<int>(random, n);
            const vector<int> k(ctx, keys), v(ctx, x);
            expect_equal(vector<int>(inclusive_scan_by_key(k, v)), by_key(keys, x, plus<int>(), 0, true));
            expect_equal(vector<int>(exclusive_scan_by_key(k, v, 5)), by_key(keys, x, plus<int>(), 5, false));
            expect_equal(vector<int>(inclusive_scan_by_key(k, v, 5)), by_key(keys, x, plus<int>(), 5, true));
            std::vector<std::uint64_t> maps(n);
            for (std::uint64_t& each : maps) each = random();
            const auto composing = fold_of(vector<std::uint64_t>(ctx, maps), unchanged, composition());
            expect_equal(vector<std::uint64_t>(exclusive_scan_by_key(k, composing)),
                         by_key(keys, maps, composed_maps, unchanged, false));

            vector<int> in_place(ctx, keys);
            in_place = inclusive_scan_by_key(in_place, v);
            expect_equal(in_place, by_key(keys, x, plus<int>(), 0, true));
            in_place = vector<int>(ctx, x);
            in_place = inclusive_scan_by_key(k, in_place);
            expect_equal(in_place, by_key(keys, x, plus<int>(), 0, true));
        }
    });
}

TEST(V15_scan, by_key_of_runs_of_any_length) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t length :
             {std::size_t{1}, std::size_t{3}, std::size_t{100}, std::size_t{150000}}) {
            const std::size_t n = 150000 + below(random, 100000);
            SCOPED_TRACE(std::to_string(n) + " in runs of " + std::to_string(length));
            std::vector<std::int64_t> keys(n);
            std::int64_t key = 0;
            for (std::int64_t& each : keys) each = key += below(random, length) == 0 ? 1 : 0;
            const std::vector<int> x = small_numbers<int>(random, n);
            const std::vector<float> floats(x.begin(), x.end());
            const vector<std::int64_t> k(ctx, keys);
            const vector<int> v(ctx, x);
            const vector<float> f(ctx, floats);
            const std::plus<float> add;  // exact: they are small integers
            expect_equal(vector<float>(inclusive_scan_by_key(k, f)), by_key(keys, floats, add, 0.f, true));
            expect_equal(vector<float>(exclusive_scan_by_key(k, f)), by_key(keys, floats, add, 0.f, false));
            expect_equal(vector<float>(inclusive_scan_by_key(k, f, 2.f)),
                         by_key(keys, floats, add, 2.f, true));
            const auto greater = [](int a, int b) { return std::max(a, b); };
            expect_equal(vector<int>(inclusive_scan_by_key(k, max_of(v))),
                         by_key(keys, x, greater, std::numeric_limits<int>::lowest(), true));
        }
    });
}

TEST(V15_scan, strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000);
        SCOPED_TRACE(n);
        const std::vector<int> keys = random_keys<int>(random, n), x = small_numbers<int>(random, n);
        const vector<int> k(ctx, keys), v(ctx, x);
        expect_equal(vector<int>(inclusive_scan(v)), inclusive(x, plus<int>(), 0));
        std::vector<std::uint64_t> maps(n);
        for (std::uint64_t& each : maps) each = random();
        const auto composing = fold_of(vector<std::uint64_t>(ctx, maps), unchanged, composition());
        expect_equal(vector<std::uint64_t>(exclusive_scan_by_key(k, composing)),
                     by_key(keys, maps, composed_maps, unchanged, false));
    });
}

// ---- with sub-groups, which devices may lack: in the interpreter, and compiled for CUDA

template <class T, class R>
std::vector<R> interpreted_scan(const ir::function& kernel, std::vector<T>& x, std::size_t tile) {
    std::vector<R> out(x.size());
    interpret_tiles(kernel, x.size(), tile, {scalar_of<R>}, 0,
                    {{"out", memory_of(out)}, {"a", memory_of(x)}});
    return out;
}

TEST(V15_scan, look_back_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu && filter::count(1)};
    const vector<unsigned> any(ctx, 5000);  // more than a tile
    const vector<std::uint64_t> any_map(ctx, 5000);
    const ir::function sums = kernel_with_sub_groups([&] { return vector<unsigned>(inclusive_scan(any)); });
    const ir::function compositions = kernel_with_sub_groups(
        [&] { return vector<std::uint64_t>(inclusive_scan(fold_of(any_map, unchanged, composition()))); });
    for (const std::size_t n : {std::size_t{1}, 1 + below(random, 300000)}) {
        SCOPED_TRACE(n);
        std::vector<unsigned> x = small_numbers<unsigned>(random, n);
        EXPECT_EQ((interpreted_scan<unsigned, unsigned>(sums, x, 4096)), inclusive(x, plus<unsigned>(), 0u));
        std::vector<std::uint64_t> maps(n);
        for (std::uint64_t& each : maps) each = random();
        EXPECT_EQ((interpreted_scan<std::uint64_t, std::uint64_t>(compositions, maps, 2048)),
                  inclusive(maps, composed_maps, unchanged));
    }
}

// ---- errors, and no elements

TEST(V15_scan, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3, 4, 5}), keys(ctx, {1, 1, 2});
        vector<int> other(ctx, 6);
        EXPECT_THAT(message_of<usage_error>([&] { other = inclusive_scan(x); }),
                    HasSubstr("an expression of 5 elements is assigned to a vector of 6"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(inclusive_scan_by_key(keys, x)); }),
                    HasSubstr("5"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(inclusive_scan(element_index())); }),
                    HasSubstr("has neither a device nor a size"));
        const auto counts = function("counts", [](Int i, Mixed<int> m) {
            atomic_inc(m[0]);
            return i;
        });
        if (ctx.devices().size() == 1) {
            vector<int> counter(ctx, 1, 0);
            EXPECT_THAT(message_of<usage_error>([&] { vector<int> y = inclusive_scan(counts(x, counter)); }),
                        HasSubstr("reduced or scanned writes memory"));
        }
    });
}

TEST(V15_scan, of_no_elements) {
    on_all_contexts([](const context& ctx) {
        const vector<float> none(ctx, 0);
        EXPECT_EQ(vector<float>(inclusive_scan(none)).size(), 0u);
        EXPECT_EQ(vector<float>(exclusive_scan(none, 3)).size(), 0u);
        EXPECT_EQ(vector<float>(inclusive_scan_by_key(none, none)).size(), 0u);
    });
}

TEST(V15_scan, new_initial_values_and_sizes_compile_nothing) {
    in_all_scan_strategies([](const context& ctx) {
        const auto scan_all = [&](int init, std::size_t n) {
            const vector<int> scanned = exclusive_scan(vector<int>(ctx, n, 2), init);
            EXPECT_EQ(scanned[n - 1], init + 2 * static_cast<int>(n - 1));
        };
        scan_all(1, 3);
        scan_all(1, 150000);
        EXPECT_EQ(compilations_of([&] {
                      scan_all(2, 7);
                      scan_all(3, 170001);
                  }),
                  0);
    });
}

TEST(V15_scan, over_three_devices) {
    run_on_three_devices("test_algorithm", "V15_scan.*-*look_back*:*compile_nothing");
}

}  // namespace

}  // namespace balm::test
