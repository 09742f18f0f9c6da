// The oracle itself: units of the last place as OpenCL 1.2, section 7.4 defines them, and the special values
// of section 7.5.1, worked out by hand.

#include "oracle.hpp"

#include <gtest/gtest.h>

namespace balm::test {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double error_of(float got, long double exact) {
    return oracle::ulp_error(scalar::f32, std::bit_cast<std::uint32_t>(got), exact);
}

}  // namespace

TEST(C10_oracle, measures_in_units_of_the_last_place) {
    EXPECT_EQ(error_of(1.f, 1), 0);
    EXPECT_EQ(error_of(std::nextafter(1.5f, 2.f), 1.5), 1);
    EXPECT_EQ(error_of(1.5f, 1.5L + 0x1p-24L), 0.5);
    // At a power of two the unit is that of the numbers below it.
    EXPECT_EQ(error_of(std::nextafter(1.f, 0.f), 1), 1);
    EXPECT_EQ(error_of(std::nextafter(1.f, 2.f), 1), 2);
}

TEST(C10_oracle, measures_subnormal_numbers_in_their_own_unit) {
    EXPECT_EQ(error_of(0x1p-149f, 0), 1);
    EXPECT_EQ(error_of(0.f, 0x1p-150L), 0.5);
    EXPECT_EQ(error_of(3 * 0x1p-149f, 0x1p-149L), 2);
}

TEST(C10_oracle, takes_an_overflow_for_the_next_power_of_two) {
    const float largest = std::numeric_limits<float>::max(), beyond = std::numeric_limits<float>::infinity();
    EXPECT_EQ(error_of(beyond, 1e300L), 0);
    EXPECT_EQ(error_of(largest, 1e300L), 1);
    EXPECT_EQ(error_of(beyond, largest), 1);
    EXPECT_EQ(error_of(-beyond, -1e300L), 0);
}

TEST(C10_oracle, accepts_any_nan_for_a_nan_only) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(error_of(-nan, nan), 0);
    EXPECT_EQ(error_of(nan, 1), infinity);
    EXPECT_EQ(error_of(1, nan), infinity);
}

TEST(C10_oracle, judges_the_sign_of_zero_in_exact_rows_only) {
    const oracle::value zero{0, 0};
    const std::uint64_t minus_zero = 0x80000000u;
    EXPECT_FALSE(oracle::accepts(builtin::floor, scalar::f32, minus_zero, zero, 0));
    EXPECT_TRUE(oracle::accepts(builtin::fmin, scalar::f32, minus_zero, zero, 0));
    EXPECT_TRUE(oracle::accepts(builtin::sin, scalar::f32, minus_zero, zero, 4));
}

TEST(C10_oracle, knows_the_special_values) {
    EXPECT_EQ(oracle::sinpi(1e10f), 0);
    EXPECT_TRUE(std::signbit(oracle::sinpi(-3.0)));
    EXPECT_FALSE(std::signbit(oracle::sinpi(3.0)));
    EXPECT_FALSE(std::signbit(oracle::cospi(0.5)));
    EXPECT_EQ(oracle::cospi(1.0), -1);
    EXPECT_EQ(oracle::tanpi(0.5), infinity);
    EXPECT_EQ(oracle::tanpi(-0.5), -infinity);
    EXPECT_TRUE(std::signbit(oracle::tanpi(1.0)));
    EXPECT_FALSE(std::signbit(oracle::tanpi(-1.0)));
    EXPECT_EQ(oracle::rootn(-8.0, 3), -2);
    EXPECT_TRUE(std::isnan(oracle::rootn(-8.0, 2)));
    EXPECT_EQ(oracle::rootn(-0.0, -3), -infinity);
    EXPECT_EQ(oracle::rootn(-0.0, -2), infinity);
    EXPECT_TRUE(std::isnan(oracle::powr(0.0, 0.0)));
    EXPECT_TRUE(std::isnan(oracle::powr(1.0, infinity)));
    EXPECT_EQ(oracle::pow(-infinity, -0x1p63), 0);
    EXPECT_EQ(oracle::pow(-infinity, -3.0), 0);
    EXPECT_EQ(oracle::fract(-1e-20f), 0x1.fffffep-1f);
    EXPECT_TRUE(std::signbit(oracle::fract(-0.f)));
    EXPECT_EQ(oracle::ilogb(0.f), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(oracle::ilogb(0x1p-149f), -149);
    EXPECT_EQ(oracle::maxmag(-3.f, 2.f), -3.f);
}

TEST(C10_oracle, knows_the_parts_of_functions_with_two_results) {
    EXPECT_EQ(oracle::remquo_quotient(7.0, 2.0), 4);  // 3.5 is a tie
    EXPECT_EQ(oracle::remquo_quotient(-5.0, 2.0), -2);
    EXPECT_EQ(oracle::remquo_quotient(129.0, 1.0), 1);
    EXPECT_EQ(oracle::remquo_quotient(127.75, -1.0), 0);
    EXPECT_EQ(oracle::remquo_quotient(1.0, infinity), 0);
    EXPECT_EQ(oracle::remquo_quotient(0x1p1023, 0x1p-1074), 0);
    EXPECT_EQ(oracle::lgamma_sign(-0.5), -1);
    EXPECT_EQ(oracle::lgamma_sign(-1.5), 1);
    EXPECT_EQ(oracle::lgamma_sign(-0.f), -1);
    EXPECT_EQ(oracle::frexp_exponent(0x1p-149f), -148);
    EXPECT_EQ(oracle::frexp_exponent(infinity), 0);
    EXPECT_TRUE(std::signbit(oracle::modf_fraction(-infinity)));
}

TEST(C10_oracle, saturates_and_widens_integers) {
    constexpr std::uint64_t largest = ~std::uint64_t{0};
    EXPECT_EQ(oracle::mad_sat(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32),
              largest);
    EXPECT_EQ(oracle::mad_sat(std::uint64_t{3}, largest / 3, std::uint64_t{0}), largest);
    EXPECT_EQ(oracle::mad_sat(std::uint64_t{3}, largest / 3 - 1, std::uint64_t{2}), largest - 1);
    EXPECT_EQ(oracle::mad_sat(std::int8_t{-100}, std::int8_t{2}, std::int8_t{5}), -128);
    EXPECT_EQ(oracle::abs_diff(std::int32_t{-2147483647 - 1}, std::int32_t{2147483647}), 4294967295u);
    EXPECT_EQ(oracle::upsample(std::int8_t{-1}, std::uint8_t{2}), -254);
    EXPECT_EQ(oracle::upsample(std::uint32_t{1}, std::uint32_t{2}), (std::uint64_t{1} << 32) + 2);
}

TEST(C10_oracle, rounds_conversions_to_either_side) {
    EXPECT_EQ(oracle::convert_float_rtn(16777217), 16777216.f);
    EXPECT_EQ(oracle::convert_float_rtp(16777217), 16777218.f);
    EXPECT_EQ(oracle::convert_float_rtz(-16777217), -16777216.f);
    EXPECT_EQ(oracle::convert_float_rtz(1e300), std::numeric_limits<float>::max());
    EXPECT_EQ(oracle::convert_float_rtp(-1e300), std::numeric_limits<float>::lowest());
    EXPECT_EQ(oracle::convert_double_rtn(std::numeric_limits<std::int64_t>::max()), 0x1.fffffffffffffp62);
    EXPECT_EQ(oracle::convert_float_rtn(std::numeric_limits<std::uint64_t>::max()), 0x1.fffffep63f);
}

TEST(C10_oracle, judges_only_what_is_specified) {
    auto specified = [](builtin what, float x) {
        const std::uint64_t bits[] = {std::bit_cast<std::uint32_t>(x)};
        return oracle::is_specified(what, scalar::f32, bits);
    };
    EXPECT_TRUE(specified(builtin::half_sin, 65536));
    EXPECT_FALSE(specified(builtin::half_sin, 65537));
    EXPECT_FALSE(specified(builtin::half_sqrt, 0x1p-140f));
    EXPECT_TRUE(specified(builtin::sqrt, 0x1p-140f));
    EXPECT_FALSE(specified(builtin::native_exp, 100));
    const std::uint64_t wide[] = {1 << 24, 3}, fits[] = {0xff800000u, 3}, overflow[] = {0x7fffffff, 1};
    EXPECT_FALSE(oracle::is_specified(builtin::mul24, scalar::i32, wide));
    EXPECT_TRUE(oracle::is_specified(builtin::mul24, scalar::i32, fits));
    EXPECT_FALSE(oracle::is_specified(builtin::add, scalar::i32, overflow));
    EXPECT_TRUE(oracle::is_specified(builtin::add, scalar::u32, overflow));
}

TEST(C10_oracle, multiplies_high_words_exactly) {
    EXPECT_EQ(oracle::mul_hi(~std::uint64_t{0}, ~std::uint64_t{0}), ~std::uint64_t{0} - 1);
    EXPECT_EQ(oracle::mul_hi(std::uint64_t{1} << 63, std::uint64_t{6}), 3u);
    EXPECT_EQ(oracle::mul_hi(std::int64_t{-1}, std::int64_t{1}), -1);
    EXPECT_EQ(oracle::mul_hi(std::uint32_t{0xffffffff}, std::uint32_t{0xffffffff}), 0xfffffffeu);
}

}  // namespace balm::test
