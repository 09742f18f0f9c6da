// Library functions inside of algorithms: CPUs compute them in vectors there, too, in the kernel or into a
// temporary, and an element has the bits that an assignment gives it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "kernel/run.hpp"
#include "support/devices_random.hpp"

namespace balm::test {

namespace {

using testing::ElementsAreArray;

template <class T>
class V4_functions_in_algorithms : public testing::Test {
protected:
    /// Calls body(context, random) for each CPU that has the type.
    template <class Body>
    static void on_each_cpu(Body&& body) {
        auto random = seeded_random();
        on_all_contexts([&](const context& ctx) {
            const device_info& info = ctx.device(0).info();
            // The memory of parts is not padded, and their assignments compute scalars.
            if (ctx.size() > 1 || info.type != device_type::cpu || (sizeof(T) == 8 && !info.has_double))
                return;
            body(ctx, random);
        });
    }
};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(V4_functions_in_algorithms, floating_types);

TYPED_TEST(V4_functions_in_algorithms, are_reduced_as_they_are_assigned) {
    using T = TypeParam;
    TestFixture::on_each_cpu([](const context& ctx, auto& random) {
        for (const std::size_t n : {1, 7, 31, 33, 1025, 5000}) {
            SCOPED_TRACE(n);
            const vector<T> x(ctx, std::span<const T>(random_values<T>(random, n, T(0.1), T(9))));
            vector<T> y(ctx, n);
            const auto expect_same = [&](const auto& values) {
                y = values;
                const auto [total, exact, least, most] =
                    reduce(sum_of(values), sum_compensated_of(values), min_of(values), arg_max_of(values));
                EXPECT_EQ(total, sum(y));
                EXPECT_EQ(exact, sum_compensated(y));
                EXPECT_EQ(least, min(y));
                EXPECT_EQ(most, arg_max(y));
            };
            expect_same(sin(x));
            expect_same(select(x > T(3), log(x), x));
        }
    });
}

TYPED_TEST(V4_functions_in_algorithms, are_reduced_along_dimensions_as_they_are_assigned) {
    using T = TypeParam;
    TestFixture::on_each_cpu([](const context& ctx, auto& random) {
        // Shorter rows take scalar functions.
        constexpr std::pair<std::size_t, std::size_t> extents[] = {{3, 41}, {40, 9}, {17, 8}};
        for (const auto& [rows, columns] : extents) {
            SCOPED_TRACE(rows);
            const std::size_t n = rows * columns;
            const vector<T> x(ctx, std::span<const T>(random_values<T>(random, n, T(0.1), T(9))));
            vector<T> y(ctx, n), got(ctx, rows), expected(ctx, rows);
            vector<T> got_of_columns(ctx, columns), expected_of_columns(ctx, columns);
            const auto M = view(x, {rows, columns});
            y = sin(x);
            const auto Y = view(y, {rows, columns});
            got = sum(sin(M), along(1));
            expected = sum(Y, along(1));
            EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
            got_of_columns = sum(sin(M), along(0));
            expected_of_columns = sum(Y, along(0));
            EXPECT_THAT(got_of_columns.to_host(), ElementsAreArray(expected_of_columns.to_host()));
        }
    });
}

/// How values are computed that no lanes of a reduction can.
template <class T>
auto wave() {
    return function("wave", [](dsl::Var<T> x) { return sin(x) * T(0.5) + log(x + T(1)); });
}

TYPED_TEST(V4_functions_in_algorithms, of_the_program_are_computed_as_they_are_assigned) {
    using T = TypeParam;
    TestFixture::on_each_cpu([](const context& ctx, auto& random) {
        const auto f = wave<T>();
        for (const std::size_t n : {1, 33, 5000}) {
            SCOPED_TRACE(n);
            const vector<T> x(ctx, std::span<const T>(random_values<T>(random, n, T(0.1), T(9))));
            vector<T> y(ctx, n), got(ctx, n), expected(ctx, n);
            y = f(x);
            EXPECT_EQ(sum(f(x)), sum(y));
            EXPECT_EQ(arg_max(f(x)), arg_max(y));
            vector<T> total(ctx, 1);
            sum_into(total, f(x));
            EXPECT_EQ(T(total[0]), sum(y));
            got = inclusive_scan(f(x));
            expected = inclusive_scan(y);
            EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
            const vector<T> kept = copy_if(f(x), cos(x) > T(0));
            expected = cos(x);
            EXPECT_THAT(kept.to_host(), ElementsAreArray(vector<T>(copy_if(y, expected > T(0))).to_host()));
        }
    });
}

TYPED_TEST(V4_functions_in_algorithms, are_scanned_selected_and_counted_as_they_are_assigned) {
    using T = TypeParam;
    TestFixture::on_each_cpu([](const context& ctx, auto& random) {
        for (const std::size_t n : {1, 7, 33, 1025, 5000}) {
            SCOPED_TRACE(n);
            const vector<T> x(ctx, std::span<const T>(random_values<T>(random, n, T(0.1), T(9))));
            vector<int> keys(ctx, n);
            keys = element_index() / 5;
            vector<T> y(ctx, n), got(ctx, n), expected(ctx, n);
            y = sin(x);
            const auto expect_same = [&](auto&& of_values, auto&& of_elements) {
                got = of_values;
                expected = of_elements;
                EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
            };
            expect_same(inclusive_scan(sin(x)), inclusive_scan(y));
            expect_same(exclusive_scan(2 * sin(x)), exclusive_scan(2 * y));
            expect_same(inclusive_scan_by_key(keys, sin(x)), inclusive_scan_by_key(keys, y));
            inclusive_scan_into(got, sin(x));
            inclusive_scan_into(expected, y);
            EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));

            EXPECT_THAT(copy_if(sin(x), sin(x) > T(0)).to_host(),
                        ElementsAreArray(copy_if(y, y > T(0)).to_host()));
            EXPECT_THAT(vector<std::int64_t>(histogram(sin(x), 64, -1, 1)).to_host(),
                        ElementsAreArray(vector<std::int64_t>(histogram(y, 64, -1, 1)).to_host()));
            const auto [got_keys, got_sums] = reduce_by_key(keys, sin(x));
            const auto [expected_keys, expected_sums] = reduce_by_key(keys, y);
            EXPECT_THAT(got_keys.to_host(), ElementsAreArray(expected_keys.to_host()));
            EXPECT_THAT(got_sums.to_host(), ElementsAreArray(expected_sums.to_host()));
        }
    });
}

TYPED_TEST(V4_functions_in_algorithms, of_all_kinds_of_expressions_are_scanned_as_they_are_assigned) {
    using T = TypeParam;
    TestFixture::on_each_cpu([](const context& ctx, auto& random) {
        for (const std::size_t n : {1, 40, 3000}) {
            SCOPED_TRACE(n);
            const vector<T> x(ctx, std::span<const T>(random_values<T>(random, n, T(0.1), T(9)))),
                one(ctx, 1, T(3));
            vector<int> back(ctx, n), keys(ctx, n);
            back = static_cast<int>(n) - 1 - element_index();
            vector<T> y(ctx, n), got(ctx, n), expected(ctx, n);
            const auto expect_same = [&](const auto& values) {
                y = values;
                got = inclusive_scan(values);
                expected = inclusive_scan(y);
                EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
            };
            expect_same(one * sin(x));
            expect_same(sin(one) + x);
            expect_same(let(sin(x), [](auto v) { return v * v; }));
            expect_same(on(ctx, log(cast<T>(element_index(1, n)))));
            expect_same(log(x)[back]);
            expect_same(log(x[back]));
            expect_same(select(sin(x) > T(0), log(x), T(2) * x));

            // The keys, too; and in place.
            keys = cast<int>(T(2) * sin(x));
            y = log(x);
            got = inclusive_scan_by_key(cast<int>(T(2) * sin(x)), log(x));
            expected = inclusive_scan_by_key(keys, y);
            EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
            got = x;
            got = inclusive_scan(log(got));
            expected = inclusive_scan(y);
            EXPECT_THAT(got.to_host(), ElementsAreArray(expected.to_host()));
        }
    });
}

}  // namespace
}  // namespace balm::test
