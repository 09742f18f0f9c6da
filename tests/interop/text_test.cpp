// What streams and {fmt} show of Balm's types; and host arrays as mdspans. The oracle is text written by
// hand.

#include "balm/fmt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <sstream>
#include <string>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

std::string streamed(const auto& x) {
    std::ostringstream text;
    text << x;
    return text.str();
}

/// As much of std::mdspan as an array is looked at through.
template <std::size_t... Sizes>
struct extents_like {
    using index_type = int;
    static constexpr std::size_t rank() { return sizeof...(Sizes); }
    static constexpr std::size_t static_extent(std::size_t d) { return std::array{Sizes...}[d]; }
};
constexpr std::size_t any_size = static_cast<std::size_t>(-1);
template <class T, class Extents>
struct mdspan_like {
    using extents_type = Extents;
    mdspan_like(T* data, std::convertible_to<int> auto... sizes) : data_(data), sizes_{sizes...} {}
    T& at(int i, int j) const { return data_[i * sizes_[1] + j]; }

    T* data_;
    std::array<int, Extents::rank()> sizes_;
};

}  // namespace

TEST(B11_text, short_vectors_half_complex_numbers_and_shapes_are_streamed) {
    EXPECT_EQ(streamed(float3{1, 2.5f, -3}), "(1, 2.5, -3)");
    EXPECT_EQ(streamed(uchar4{65, 66, 0, 255}), "(65, 66, 0, 255)");
    EXPECT_EQ(streamed(half2{half(0.5f), half(2.f)}), "(0.5, 2)");
    EXPECT_EQ(streamed(bool2{true, false}), "(1, 0)");
    EXPECT_EQ(streamed(half(0.25f)), "0.25");
    EXPECT_EQ(streamed(complex_value<double>{1, -2}), "(1, -2)");
    EXPECT_EQ(streamed(shape(3, 4, 5)), "3 x 4 x 5");
}

TEST(B11_text, fmt_writes_what_streams_write) {
    EXPECT_EQ(fmt::format("{} {}", float3{1, 2.5f, -3}, half(0.25f)), "(1, 2.5, -3) 0.25");
    EXPECT_EQ(fmt::format("{} {}", shape(3, 4), complex_value<float>{1, 2}), "3 x 4 (1, 2)");
    EXPECT_EQ(fmt::format("{}", host_array<int>({1, 2, 3})), "{1, 2, 3}");
    EXPECT_EQ(fmt::format("{}|{}", usage_error("why"), error("what")), "why|what");
    on_all_devices([](const device& dev) {
        const context ctx({dev});
        const vector<float> x(ctx, {1, 2, 3, 4});
        EXPECT_EQ(fmt::format("{}", dev), dev.name() + " (" + to_string(dev.info().api) + ")");
        EXPECT_EQ(fmt::format("{} {}", x, x + 0.5f), "{1, 2, 3, 4} {1.5, 2.5, 3.5, 4.5}");
        EXPECT_EQ(fmt::format("{}", view(x, {2, 2}).transpose()), "{1, 3, 2, 4}");
        vector<int> many(ctx, 1000);
        many = cast<int>(element_index());
        EXPECT_EQ(fmt::format("{}", many), streamed(many));
    });
}

TEST(B11_text, specifications_are_those_of_numbers) {
    const host_array<double> x({1, 0.125, 1234567});
    EXPECT_EQ(fmt::format("{:.2f}", x), "{1.00, 0.12, 1234567.00}");
    EXPECT_EQ(fmt::format("{:.1e}", x), "{1.0e+00, 1.2e-01, 1.2e+06}");
    EXPECT_EQ(fmt::format("{:.9}", x), "{1, 0.125, 1234567}");
    EXPECT_EQ(fmt::format("{:.2f}", float2{1, 2}), "(1.00, 2.00)");
    for (const char* specification : {"{:d}", "{:.}", "{:>10}", "{:.3q}", "{:.99999f}"})
        EXPECT_THROW((void)fmt::format(fmt::runtime(specification), x), fmt::format_error) << specification;
}

TEST(B11_text, host_arrays_are_mdspans) {
    host_array<float> x(shape(2, 3));
    for (std::size_t k = 0; k < 6; ++k) x[k] = static_cast<float>(k);
    const auto m = x.to_mdspan<mdspan_like<float, extents_like<any_size, any_size>>>();
    EXPECT_EQ(m.at(1, 2), x(1, 2));
    m.at(0, 1) = 10;
    EXPECT_EQ(x[1], 10.f);
    const auto& constant = x;
    EXPECT_EQ((constant.to_mdspan<mdspan_like<const float, extents_like<2, any_size>>>().at(1, 0)), 3.f);
    EXPECT_THAT(
        message_of<usage_error>([&] { (void)x.to_mdspan<mdspan_like<float, extents_like<any_size, 4>>>(); }),
        HasSubstr("A host array of 2 x 3 elements cannot be viewed as an mdspan of ? x 4;"));
    EXPECT_THAT(
        message_of<usage_error>([&] { (void)x.to_mdspan<mdspan_like<float, extents_like<any_size>>>(); }),
        HasSubstr("an mdspan of ?;"));
}

}  // namespace balm::test
