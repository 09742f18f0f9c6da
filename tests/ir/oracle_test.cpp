// The oracle itself: units of the last place as OpenCL 1.2, section 7.4 defines them, and the special values
// of section 7.5.1, worked out by hand.

#include "ir/oracle.hpp"

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

TEST(C10_oracle, multiplies_high_words_exactly) {
    EXPECT_EQ(oracle::mul_hi(~std::uint64_t{0}, ~std::uint64_t{0}), ~std::uint64_t{0} - 1);
    EXPECT_EQ(oracle::mul_hi(std::uint64_t{1} << 63, std::uint64_t{6}), 3u);
    EXPECT_EQ(oracle::mul_hi(std::int64_t{-1}, std::int64_t{1}), -1);
    EXPECT_EQ(oracle::mul_hi(std::uint32_t{0xffffffff}, std::uint32_t{0xffffffff}), 0xfffffffeu);
}

}  // namespace balm::test
