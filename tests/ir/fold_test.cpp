// Constant folding against the host oracle: whatever is folded is what the oracle gives, bit for bit.

#include <bit>
#include <cmath>
#include <limits>

#include "ir/ir.hpp"
#include "oracle.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

constexpr scalar numbers[] = {scalar::i32, scalar::u32, scalar::i64, scalar::u64, scalar::f32, scalar::f64};
constexpr scalar all[] = {scalar::boolean, scalar::i8,  scalar::u8,  scalar::i16, scalar::u16, scalar::i32,
                          scalar::u32,     scalar::i64, scalar::u64, scalar::f32, scalar::f64};

/// A bit pattern of the type: corners, small numbers, anything.
std::uint64_t random_bits(std::mt19937_64& random, scalar s) {
    if (s == scalar::boolean) return random() % 2;
    if (s == scalar::f32) return std::bit_cast<std::uint32_t>(random_value<float>(random));
    if (s == scalar::f64) return std::bit_cast<std::uint64_t>(random_value<double>(random));
    return static_cast<std::uint64_t>(random_value<std::int64_t>(random)) >> (64 - 8 * size_of(s));
}

/// Floating values that conversions and comparisons must get right.
std::vector<std::uint64_t> floating_corners(scalar s) {
    std::vector<std::uint64_t> corners;
    auto add = [&](double x) {
        for (double signed_x : {x, -x})
            corners.push_back(s == scalar::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(signed_x))
                                               : std::bit_cast<std::uint64_t>(signed_x));
    };
    for (double x : {0.0, 0.5, 1.0, 1.5, 2.5, 127.0, 128.0, 255.5, 256.0, 32767.9, 65536.0}) add(x);
    for (int e : {31, 32, 63, 64, 100})
        for (double near : {1.0, 1 - 0x1p-24, 1 + 0x1p-23}) add(std::ldexp(near, e));
    add(std::numeric_limits<double>::infinity());
    add(std::numeric_limits<double>::quiet_NaN());
    return corners;
}

}  // namespace

TEST(C10_fold, gives_what_the_oracle_gives) {
    auto random = seeded_random();
    std::size_t folded = 0;
    for (std::size_t k = 0; k < ir::builtin_count; ++k) {
        const auto what = static_cast<builtin>(k);
        const ir::builtin_info& row = ir::info(what);
        for (scalar type : all) {
            const scalar last = row.takes == balm::detail::rule::scale ? scalar::i32 : type;
            const scalar types[] = {type, row.arity == 2 ? last : type, last};
            const auto resolved = balm::detail::resolve(what, types, row.arity);
            if (resolved.result == scalar::nothing || resolved.first != type) continue;
            for (int turn = 0; turn < 500; ++turn) {
                std::uint64_t bits[3];
                for (std::size_t o = 0; o < row.arity; ++o)
                    bits[o] = random_bits(random, o > 0 && o + 1 == row.arity ? last : type);
                const std::span<const std::uint64_t> operands(bits, row.arity);
                const auto result = ir::fold(what, type, operands);
                if (!result) continue;
                ++folded;
                ASSERT_EQ(*result, oracle::evaluate(what, type, operands).bits)
                    << row.name << " of " << to_string(type) << ": " << bits[0] << ", " << bits[1];
            }
        }
    }
    EXPECT_GT(folded, 50000u);
}

TEST(C10_fold, takes_shift_counts_modulo_the_width) {
    const std::uint64_t by_35[] = {1, 35};
    EXPECT_EQ(ir::fold(builtin::shl, scalar::i32, by_35), 8u);
    EXPECT_EQ(ir::fold(builtin::shl, scalar::i64, by_35), std::uint64_t{1} << 35);
    const std::uint64_t by_minus_one[] = {0x80000000u, 0xffffffffu};
    EXPECT_EQ(ir::fold(builtin::shr, scalar::i32, by_minus_one), 0xffffffffu);
    EXPECT_EQ(ir::fold(builtin::shr, scalar::u32, by_minus_one), 1u);
}

TEST(C10_fold, defines_division) {
    constexpr std::uint64_t lowest = 0x80000000u, minus_one = 0xffffffffu;
    const std::uint64_t by_zero[] = {7, 0}, by_minus_one[] = {lowest, minus_one};
    EXPECT_EQ(ir::fold(builtin::div, scalar::i32, by_zero), 0u);
    EXPECT_EQ(ir::fold(builtin::rem, scalar::i32, by_zero), 7u);
    EXPECT_EQ(ir::fold(builtin::div, scalar::i32, by_minus_one), lowest);
    EXPECT_EQ(ir::fold(builtin::rem, scalar::i32, by_minus_one), 0u);
}

TEST(C10_fold, leaves_to_the_device_what_devices_give_differently) {
    const std::uint64_t one[] = {std::bit_cast<std::uint32_t>(1.f), 0, 0};
    EXPECT_FALSE(ir::fold(builtin::sin, scalar::f32, {one, 1}));
    EXPECT_FALSE(ir::fold(builtin::rsqrt, scalar::f32, {one, 1}));
    const std::uint64_t nan[] = {0, 0};  // 0 / 0: which NaN is the device's
    EXPECT_FALSE(ir::fold(builtin::div, scalar::f32, nan));
}

TEST(C10_fold, converts_as_the_oracle_does) {
    auto random = seeded_random();
    for (scalar from : all)
        for (scalar to : all) {
            std::vector<std::uint64_t> values;
            if (is_floating(from)) values = floating_corners(from);
            for (int k = 0; k < 500; ++k) values.push_back(random_bits(random, from));
            for (std::uint64_t bits : values) {
                const std::uint64_t expected = oracle::convert(from, to, bits);
                const std::uint64_t got = ir::fold_conversion(from, to, bits);
                if (is_floating(to) &&
                    oracle::ulp_error(to, got, std::numeric_limits<double>::quiet_NaN()) == 0)
                    continue;  // any NaN
                ASSERT_EQ(got, expected) << to_string(from) << " to " << to_string(to) << ": " << bits;
            }
        }
}

TEST(C10_fold, saturates_and_turns_nan_into_zero) {
    auto to = [](scalar s, double x) {
        return ir::fold_conversion(scalar::f64, s, std::bit_cast<std::uint64_t>(x));
    };
    EXPECT_EQ(to(scalar::i32, 1e300), 0x7fffffffu);
    EXPECT_EQ(to(scalar::i32, -1e300), 0x80000000u);
    EXPECT_EQ(to(scalar::u8, 255.9), 255u);
    EXPECT_EQ(to(scalar::u8, 256), 255u);
    EXPECT_EQ(to(scalar::u8, -1), 0u);
    EXPECT_EQ(to(scalar::i64, 0x1p63), 0x7fffffffffffffffu);
    EXPECT_EQ(to(scalar::u64, 0x1p64), ~std::uint64_t{0});
    EXPECT_EQ(to(scalar::i32, std::numeric_limits<double>::quiet_NaN()), 0u);
    for (scalar s : numbers)
        if (is_integer(s)) {
            EXPECT_EQ(to(s, -0.9), 0u);
        }
}

}  // namespace balm::test
