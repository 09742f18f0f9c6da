// Sines, cosines, tangents and powers of many elements, which CPUs compute with functions of Balm's own, and
// powers of doubles, which all devices do: in every range of their operands, beside MPFR, and whatever
// stands beside an element.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "ir/ir.hpp"
#include "kernel/run.hpp"
#include "oracle.hpp"
#include "support/devices_random.hpp"
#include "support/exact.hpp"

namespace balm::test {

namespace {

template <class T>
class V4_elementary_functions : public testing::Test {
protected:
    using limits = std::numeric_limits<T>;
    static constexpr T infinity = limits::infinity(), least = limits::denorm_min();

    static std::vector<T> special_values() {
        std::vector<T> list{0,
                            1,
                            2,
                            3,
                            T(0.5),
                            T(1.5),
                            10,
                            limits::min(),
                            least,
                            limits::max(),
                            infinity,
                            std::nextafter(T(1), T(0)),
                            std::nextafter(T(1), T(2)),
                            T(1e10),
                            T(12345.5)};
        const std::size_t n = list.size();
        for (std::size_t k = 0; k < n; ++k) list.push_back(-list[k]);
        list.push_back(limits::quiet_NaN());
        return list;
    }
    /// Of any size between 2^low and 2^high, and of both signs.
    static T of_any_size(std::mt19937_64& random, double low, double high) {
        const double size = std::exp2(std::uniform_real_distribution(low, high)(random));
        return static_cast<T>(random() % 2 == 0 ? size : -size);
    }
    static int most_of(builtin what, const context& ctx) {
        bool is_own = true;
        for (std::size_t d = 0; d < ctx.size(); ++d) is_own &= ctx.device(d).info().type == device_type::cpu;
        if (what == builtin::pow && sizeof(T) == 8) return 2;  // Balm's own on every device
        return is_own && what != builtin::tan ? 4 : ir::info(what).ulp;
    }

    /// The results are within the row's bounds of the exact ones, and the same in another order.
    template <class F>
    static void expect_within(builtin what, const context& ctx, std::vector<std::vector<T>> operands, F&& f) {
        const std::size_t n = operands[0].size();
        std::vector<long double> expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<long double> numbers;
            std::vector<std::uint64_t> bits;
            for (const auto& each : operands) {
                numbers.push_back(each[i]);
                bits.push_back(bits_of(each[i]));
            }
            const bool is_finite =
                std::all_of(numbers.begin(), numbers.end(), [](long double x) { return std::isfinite(x); });
            // Of infinities and NaN, and of powers that have no value, the standard says what they are.
            const long double defined = oracle::evaluate(what, scalar_of<T>, bits).wide;
            expected[i] = is_finite && !std::isnan(defined) ? exact(what, numbers).value() : defined;
        }
        const auto computed = [&] {
            std::vector<vector<T>> given;
            for (const auto& each : operands) given.emplace_back(ctx, std::span<const T>(each));
            vector<T> result(ctx, n);
            result = f(given);
            return result.to_host();
        };
        const host_array<T> got = computed();
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double error = oracle::ulp_error(scalar_of<T>, bits_of(got[i]), expected[i]);
            worst = std::max(worst, error);
            ASSERT_LE(error, most_of(what, ctx)) << ir::info(what).name << " of " << operands[0][i] << ", "
                                                 << operands.back()[i] << " is " << got[i];
        }
        EXPECT_GT(worst, 0.25) << "nothing was rounded";

        if (ctx.size() > 1) return;  // another order, another device
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937_64 random = seeded_random();
        std::shuffle(order.begin(), order.end(), random);
        for (auto& each : operands) {
            const std::vector<T> before = each;
            for (std::size_t i = 0; i < n; ++i) each[i] = before[order[i]];
        }
        const host_array<T> again = computed();
        expect_each(again, [&](std::size_t i) { return got[order[i]]; });
    }

private:
    static std::uint64_t bits_of(T value) {
        if constexpr (sizeof(T) == 4)
            return std::bit_cast<std::uint32_t>(value);
        else
            return std::bit_cast<std::uint64_t>(value);
    }
};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(V4_elementary_functions, floating_types);

TYPED_TEST(V4_elementary_functions, of_angles) {
    auto random = seeded_random();
    std::vector<TypeParam> x = this->special_values();
    for (int k = 0; k < 20000; ++k) {
        x.push_back(this->of_any_size(random, -30, 8));
        x.push_back(this->of_any_size(random, 8, 60));
        // As near to a multiple of pi / 2 as there are numbers.
        const auto turns =
            static_cast<long double>(static_cast<std::uint64_t>(random()) >> (random() % 20 + 42));
        const auto near = static_cast<TypeParam>(turns * std::numbers::pi_v<long double> / 2);
        x.push_back(near);
        x.push_back(std::nextafter(near, TypeParam(0)));
    }
    on_all_contexts([&](const context& ctx) {
        if (sizeof(TypeParam) == 8 && !ctx.device(0).info().has_double) return;
        this->expect_within(builtin::sin, ctx, {x}, [](const auto& v) { return sin(v[0]); });
        this->expect_within(builtin::cos, ctx, {x}, [](const auto& v) { return cos(v[0]); });
        this->expect_within(builtin::tan, ctx, {x}, [](const auto& v) { return tan(v[0]); });
    });
}

TEST(V4_powers, of_doubles_have_the_same_bits_on_every_device_and_in_every_loop) {
    auto random = seeded_random();
    std::vector<double> x, y;
    for (int k = 0; k < 100000; ++k) {
        x.push_back(std::exp2(std::uniform_real_distribution(-1070.0, 1020.0)(random)));
        y.push_back(std::uniform_real_distribution(-2.0, 2.0)(random));
    }
    host_array<double> first;
    on_all_contexts([&](const context& ctx) {
        for (std::size_t d = 0; d < ctx.size(); ++d)
            if (!ctx.device(d).info().has_double) return;
        const vector<double> bases(ctx, std::span<const double>(x)),
            exponents(ctx, std::span<const double>(y));
        vector<double> powers(ctx, x.size());
        powers = pow(bases, exponents);
        const host_array<double> got = powers.to_host();
        if (first.empty()) first = got;
        expect_each(got, [&](std::size_t i) { return first[i]; });
        if (ctx.size() > 1) return;                       // memory that is read anywhere is on one device
        powers = pow(bases[element_index()], exponents);  // which CPUs compute element by element
        expect_each(powers.to_host(), [&](std::size_t i) { return first[i]; });
    });
}

/// CPUs compute what has no vector form beside such functions lane by lane: positions that are read from
/// memory, functions, remainders. The same in steps has the same bits.
TYPED_TEST(V4_elementary_functions, stand_beside_what_has_no_vector_form) {
    using T = TypeParam;
    auto random = seeded_random();
    const auto wave = balm::function("wave(a)", [](dsl::Var<T> a) { return sin(a) * T(2) + cos(a); });
    const auto other = balm::function("other(a)", [&](dsl::Var<T> a) { return wave(a + T(1)) - exp(a); });
    const auto turns = balm::function("turns(a)", [](dsl::Var<T> a) {
        dsl::Var<T> sum = a;
        WHILE (sum < T(100)) {
            sum += T(30);
        }
        return sum;
    });
    on_all_contexts([&](const context& ctx) {
        if (ctx.size() > 1) return;  // memory that is read anywhere is on one device
        if (sizeof(T) == 8 && !ctx.device(0).info().has_double) return;
        for (const std::size_t n : {1, 7, 8, 9, 15, 16, 17, 33, 1000}) {
            SCOPED_TRACE(n);
            std::vector<int> positions(n);
            std::iota(positions.begin(), positions.end(), 0);
            std::shuffle(positions.begin(), positions.end(), random);
            const auto values = random_values<T>(random, n, T(-9), T(9));
            { const vector<int> far_away(ctx, n + 64, 1 << 30); }  // may be the padding of positions
            const vector<int> p(ctx, positions);
            const vector<T> x(ctx, std::span<const T>(values)), s(ctx, std::vector<T>{values[0]});
            vector<T> y(ctx, n), expected(ctx, n), part(ctx, n), rest(ctx, n);
            const auto check = [&] {
                const auto got = y.to_host(), same = expected.to_host();
                expect_each(got, [&](std::size_t i) { return same[i]; });
            };
            const auto expect_result = [&](const char* what) {
                SCOPED_TRACE(what);
                check();
            };
            y = sin(x[p]);
            part = x[p];
            expected = sin(part);
            expect_result("sin(x[p])");
            y = exp(x) + x[p] * x;
            rest = exp(x);
            expected = rest + part * x;
            expect_result("exp(x) + x[p] * x");
            y = x + s * cos(x);
            part = cos(x);
            expected = x + values[0] * part;
            expect_result("x + s * cos(x)");
            y = sin(x) + fmod(x, T(2));
            part = fmod(x, T(2));
            rest = sin(x);
            expected = rest + part;
            expect_result("sin(x) + fmod(x, 2)");
            y = cos(x) * turns(x);
            part = turns(x);
            rest = cos(x);
            expected = rest * part;
            expect_result("cos(x) * turns(x)");
            y = wave(x);
            part = sin(x);
            rest = cos(x);
            expected = part * T(2) + rest;
            expect_result("wave(x)");
            y = other(x);
            part = x + T(1);
            rest = wave(part);
            part = exp(x);
            expected = rest - part;
            expect_result("other(x)");
        }
    });
}

TYPED_TEST(V4_elementary_functions, of_bases_and_exponents) {
    auto random = seeded_random();
    std::vector<TypeParam> x, y;
    for (const TypeParam a : this->special_values())
        for (const TypeParam b : this->special_values()) {
            x.push_back(a);
            y.push_back(b);
        }
    const double range = std::numeric_limits<TypeParam>::max_exponent;
    for (int k = 0; k < 40000; ++k) {
        const TypeParam base =
            this->of_any_size(random, k % 2 == 0 ? -range : -3.0, k % 2 == 0 ? range : 3.0);
        const double most = range / std::max(std::abs(std::log2(std::abs(static_cast<double>(base)))), 1e-3);
        const TypeParam exponent = this->of_any_size(random, -10, std::log2(most) + 0.1);
        x.push_back(k % 5 == 0 ? base : std::abs(base));
        y.push_back(k % 5 < 2 ? std::round(exponent) : exponent);
    }
    on_all_contexts([&](const context& ctx) {
        if (sizeof(TypeParam) == 8 && !ctx.device(0).info().has_double) return;
        this->expect_within(builtin::pow, ctx, {x, y}, [](const auto& v) { return pow(v[0], v[1]); });
    });
}

// A statement with a value for each row, and the same with that value for each element: CPUs compute the
// first in short vectors, too, if rows are whole ones, and then all bits are the same.
TYPED_TEST(V4_elementary_functions, of_elements_and_of_values_of_their_rows) {
    using T = TypeParam;
    auto random = seeded_random();
    std::uniform_real_distribution<double> any(-3, 3);
    on_all_contexts([&](const context& ctx) {
        if (sizeof(T) == 8 && !ctx.device(0).info().has_double) return;
        for (const std::size_t columns : {1, 2, 7, 16, 48, 1000, 1024}) {
            constexpr std::size_t planes = 3, rows = 10;
            const std::size_t n = planes * rows * columns;
            std::vector<T> of_element(n), of_row(planes * rows), of_plane(planes + 1);
            for (std::vector<T>* const each : {&of_element, &of_row, &of_plane})
                for (T& value : *each) value = static_cast<T>(any(random));
            const vector<T> x(ctx, of_element), row(ctx, of_row), plane(ctx, of_plane);
            const shape box{planes, rows, columns};
            const auto in_box = view(x, {planes, rows, columns});
            const auto rows_of = view(row, {planes, rows, std::size_t{1}}).broadcast(box);
            const auto planes_of =
                view(plane, {planes + 1})(balm::slice(0, planes)).reshape({planes, 1, 1}).broadcast(box);
            vector<T> got(ctx, n), in_place(ctx, n), row_of_each(ctx, n), plane_of_each(ctx, n),
                expected(ctx, n);
            row_of_each = rows_of;
            plane_of_each = planes_of;
            in_place = x;
            got = exp(in_box - rows_of) * planes_of + cos(in_box * rows_of);
            const auto itself = view(in_place, {planes, rows, columns});
            in_place = exp(itself - rows_of) * planes_of + cos(itself * rows_of);
            expected = exp(x - row_of_each) * plane_of_each + cos(x * row_of_each);
            const auto wanted = expected.to_host(), of_views = got.to_host();
            const double most = 64 * std::numeric_limits<T>::epsilon();
            for (std::size_t i = 0; i < n; ++i) {
                const double value = std::exp(double(T(of_element[i] - of_row[i / columns]))) *
                                         double(of_plane[i / columns / rows]) +
                                     std::cos(double(T(of_element[i] * of_row[i / columns])));
                ASSERT_NEAR(of_views[i], value, most * (1 + std::abs(value) + std::exp(6.0)))
                    << i << " of rows of " << columns;
                if (columns % 16 == 0 && ctx.size() == 1) {
                    ASSERT_EQ(of_views[i], wanted[i]) << i << " of rows of " << columns;
                }
            }
            expect_each(in_place.to_host(), [&](std::size_t i) { return of_views[i]; });
        }
    });
}

}  // namespace

}  // namespace balm::test
