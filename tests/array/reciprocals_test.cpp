// Quotients and remainders by arguments of a launch, which kernels compute by reciprocals, against the host's
// division.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "balm/balm.hpp"
#include "runtime/program/reciprocal.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;
using testing::Not;

/// As docs/kernel-language.md defines them.
template <class T>
T quotient_of(T x, T d) {
    if (d == 0) return 0;
    if (std::is_signed_v<T> && d == static_cast<T>(-1))
        return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
    return static_cast<T>(x / d);
}
template <class T>
T remainder_of(T x, T d) {
    if (d == 0) return x;
    return std::is_signed_v<T> && d == static_cast<T>(-1) ? T{0} : static_cast<T>(x % d);
}

/// Numbers around the powers of two, and random ones of any size.
template <class T>
std::vector<T> special_numbers(std::mt19937_64& random, int random_ones) {
    using limits = std::numeric_limits<T>;
    std::vector<T> all{limits::min(), limits::max()};
    for (int bit = 0; bit < limits::digits; ++bit) {
        const T power = static_cast<T>(T{1} << bit);
        for (int k = -1; k < 2; ++k) {
            all.push_back(static_cast<T>(power + static_cast<T>(k)));
            if (std::is_signed_v<T>) all.push_back(static_cast<T>(static_cast<T>(k) - power));
        }
    }
    for (int k = 0; k < random_ones; ++k)
        all.push_back(static_cast<T>(static_cast<T>(random()) >> (random() % (8 * sizeof(T)))));
    return all;
}

template <class V>
void expect_quotients(const device& on, std::mt19937_64& random) {
    using T = typename V::value_type;
    constexpr int small = 100;
    std::vector<T> dividends = special_numbers<T>(random, 500), divisors = special_numbers<T>(random, 100);
    for (int k = 0; k <= 2 * small; ++k)
        for (auto* each : {&dividends, &divisors})
            each->push_back(static_cast<T>(std::is_signed_v<T> ? k - small : k));
    const std::size_t n = dividends.size();
    const auto divide =
        balm::kernel<1>("divide", [](In<T> x, V d, Index count, Out<T> quotients, Out<T> remainders) {
            for (Index i : grid_range(count)) {
                quotients[i] = x[i] / d;
                remainders[i] = x[i] % d;
            }
        });
    auto x = on.in_buffer<T>(n);
    x.write(dividends);
    auto quotients = on.out_buffer<T>(n), remainders = on.out_buffer<T>(n);
    for (const T d : divisors) {
        on.execute(divide(x, d, n, quotients, remainders), {64});
        const auto got_quotients = quotients.read(), got_remainders = remainders.read();
        for (std::size_t k = 0; k < n; ++k) {
            ASSERT_EQ(got_quotients[k], quotient_of(dividends[k], d)) << dividends[k] << " / " << d;
            ASSERT_EQ(got_remainders[k], remainder_of(dividends[k], d)) << dividends[k] << " % " << d;
        }
    }
}

TEST(V4_reciprocals, divide_exactly) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        expect_quotients<Int>(on, random);
        expect_quotients<UInt>(on, random);
        expect_quotients<Long>(on, random);
        expect_quotients<ULong>(on, random);
    });
}

/// The formulas of reciprocal.hpp.
__extension__ using twice = unsigned __int128;
std::uint64_t upper(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(twice{a} * b >> 64);
}
void expect_formulas(std::uint64_t x, std::uint64_t d) {
    using runtime::reciprocal_of;
    using part = runtime::reciprocal_part;
    const std::uint64_t expected = d == 0 ? 0 : x / d;
    if (x >> 32 == 0) {
        ASSERT_EQ(upper(reciprocal_of(d, part::narrow), x + 1), expected) << x << " / " << d;
    }
    if (x <= std::uint64_t{1} << 63) {
        const std::uint64_t shift = reciprocal_of(d, part::wide_shift);
        ASSERT_EQ(upper(reciprocal_of(d, part::wide), x + 1) >> shift, expected) << x << " / " << d;
    }
    const std::uint64_t log2 = reciprocal_of(d, part::whole_shift), first = std::min<std::uint64_t>(log2, 1);
    const std::uint64_t t = upper(reciprocal_of(d, part::whole), x);
    ASSERT_EQ((t + ((x - t) >> first)) >> (log2 - first), expected) << x << " / " << d;
}

TEST(V4_reciprocals, are_exact_for_all_dividends) {
    auto random = seeded_random();
    for (std::uint64_t d = 0; d < 1000; ++d)
        for (std::uint64_t x = 0; x < 2000; ++x) expect_formulas(x, d);
    const std::vector<std::uint64_t> numbers = special_numbers<std::uint64_t>(random, 2000);
    for (const std::uint64_t d : numbers) {
        for (const std::uint64_t x : numbers) expect_formulas(x, d);
        // Around multiples, where a quotient changes.
        for (int k = 0; d != 0 && k < 100; ++k) {
            const std::uint64_t multiple = random() % (~std::uint64_t{0} / d) * d;
            for (const std::uint64_t x : {multiple - 1, multiple, multiple + d - 1}) expect_formulas(x, d);
            expect_formulas((multiple & 0xffffffff) / std::max<std::uint64_t>(d, 1) * d, d);
        }
    }
}

TEST(V4_reciprocals, divide_element_indices) {
    auto random = seeded_random();
    constexpr std::size_t n = 5000;
    on_all_contexts([&](const context& ctx) {
        vector<std::int64_t> got(ctx, n);
        const auto expect = [&](auto&& value) {
            const std::vector<std::int64_t> values = got.to_host();
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(values[i], value(static_cast<std::int64_t>(i))) << i;
        };
        for (const std::int64_t d : special_numbers<std::int64_t>(random, 30)) {
            SCOPED_TRACE(testing::Message() << "divided by " << d);
            got = element_index() / d;
            expect([&](std::int64_t i) { return quotient_of(i, d); });
            got = element_index() % d + element_index() / d;
            expect([&](std::int64_t i) { return remainder_of(i, d) + quotient_of(i, d); });
            got = (element_index() - 2500) % d;
            expect([&](std::int64_t i) { return remainder_of(i - 2500, d); });
            const std::int64_t far = (std::int64_t{1} << 62) + static_cast<std::int64_t>(random() >> 3);
            got = (element_index() + far) / d;
            expect([&](std::int64_t i) { return quotient_of(i + far, d); });
            got = element_index() / d % static_cast<int>(7);
            expect([&](std::int64_t i) { return quotient_of(i, d) % 7; });
        }
        // Whether dividends have 32 bits depends on the first index.
        const std::int64_t last = (std::int64_t{1} << 32) - 2;
        for (const std::int64_t first : {last / 2 - 100, last / 2 + 1 - std::int64_t{n}, last / 2 + 2}) {
            got = element_index(first) % (last / 2);
            expect([&](std::int64_t i) { return (i + first) % (last / 2); });
        }
    });
}

TEST(V4_reciprocals, replace_divisions_by_arguments) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> x(ctx, 100);
        const auto i = element_index(0, 100);
        const std::string narrow = generated_source(x[i % 2]);
        EXPECT_THAT(narrow, HasSubstr("_reciprocal"));
        EXPECT_THAT(narrow, Not(HasSubstr("balm_rem")));
        EXPECT_THAT(narrow, Not(HasSubstr("mul")));  // the indices have 32 bits
        EXPECT_THAT(generated_source(x[(i + std::int64_t{-1}) % 2]), HasSubstr("mul"));
        EXPECT_THAT(generated_source(x[i % constant(3)]), HasSubstr("%"));
    });
}

}  // namespace

}  // namespace balm::test
