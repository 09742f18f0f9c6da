// Transforms over several devices against the host's in long double: batches, of which each device has some,
// and arrays of which devices exchange parts.

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/fft/row_exchange.hpp"
#include "algorithm/host_fft.hpp"
#include "array/vector_state.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// Devices exchange parts of arrays of any size.
struct exchanges_of_all_sizes {
    exchanges_of_all_sizes() { array::force_least_exchanged(1); }
    exchanges_of_all_sizes(const exchanges_of_all_sizes&) = delete;
    exchanges_of_all_sizes& operator=(const exchanges_of_all_sizes&) = delete;
    ~exchanges_of_all_sizes() { array::force_least_exchanged(0); }
};

/// Whether this process has three devices: over_three_devices runs the tests there.
bool has_three_devices() { return devices_are_together() && present_devices().size() >= 3; }
context three_devices() { return context({present_devices().begin(), present_devices().begin() + 3}); }

/// Runs the body on a context of three devices of some weights. With those by default one device has nothing,
/// and the others, which are alike and compile each kernel once, have elements that begin inside a row.
template <class Body>
void on_three_devices(Body&& body, const std::vector<double>& weights = {0, 2, 3}) {
    if (!has_three_devices()) GTEST_SKIP() << "over_three_devices runs it";
    SCOPED_TRACE("weights " + testing::PrintToString(weights));
    body(three_devices().weighted(weights));
}

/// Of some arrays of these extents: forwards, and back from an expression, in place.
template <class T>
void transforms_arrays(const context& ctx, std::mt19937_64& random, const shape& box,
                       const std::vector<int>& dimensions, long double most = most_error) {
    SCOPED_TRACE(to_string(box));
    array::dimension_list over;
    for (const int d : dimensions) over.each[static_cast<std::size_t>(over.count++)] = d;
    const auto x = random_numbers<T>(random, box.count());
    const vector<std::complex<T>> v(ctx, x);
    vector<std::complex<T>> y(ctx, x.size());
    wide_list wanted = widened(x);
    for (const int d : dimensions) {
        std::size_t inner = 1;
        for (int k = d + 1; k < box.dimensions(); ++k) inner *= box[k];
        transform_lines_on_host(wanted, box[d], inner);
    }
    y = fft(view(v, box), over);
    expect_near<T>(y.to_host(), wanted, most);
    y = ifft(T(2) * view(y, box), over) - v;
    expect_near<T>(y.to_host(), widened(x), 3 * most);
}

// Sizes such that kernels are few, which take nearly all of the time: lines of 4 and 5 numbers, of which each
// device has as many as there are lanes.

TEST(V13_fft_devices, each_transforms_its_arrays_of_a_batch) {
    auto random = seeded_random();
    on_three_devices([&](const context& ctx) {
        transforms_arrays<float>(ctx, random, shape(7, 9, 5, 4), {2, 3});
    });
    on_three_devices([&](const context& ctx) { transforms_arrays<float>(ctx, random, shape(192, 4), {1}); },
                     {1, 1, 1});
}

TEST(V13_fft_devices, rows_are_exchanged_for_columns_and_back) {
    auto random = seeded_random();
    const exchanges_of_all_sizes held;
    on_three_devices(
        [&](const context& ctx) { transforms_arrays<float>(ctx, random, shape(2, 5, 221), {1}); }, {3, 2, 1});
    on_three_devices([&](const context& ctx) {
        transforms_arrays<float>(ctx, random, shape(1, 5, 30, 4), {1, 3});
    });
}

TEST(V13_fft_devices, one_large_array_takes_four_steps) {
    auto random = seeded_random();
    const exchanges_of_all_sizes held;
    on_three_devices([&](const context& ctx) {
        transforms_arrays<float>(ctx, random, shape(2, 16 * 16), {1});
        const auto x = random_reals<float>(random, 16 * 16);
        const vector<float> v(ctx, x);
        const vector<std::complex<float>> y = fft(v);
        expect_near<float>(y.to_host(), transformed_on_host(widened(x)), most_error);
    });
}

TEST(V13_fft_devices, of_real_numbers) {
    auto random = seeded_random();
    const exchanges_of_all_sizes held;
    on_three_devices([&](const context& ctx) {
        // Along all dimensions, or along the one that `last` is.
        const auto there_and_back = [&](const shape& box, const array::dimension_list& over, int last) {
            SCOPED_TRACE(to_string(box));
            const auto x = random_reals<float>(random, box.count());
            const vector<float> v(ctx, x);
            const vector<std::complex<float>> y = rfft(view(v, box), over);
            wide_list all = widened(x), wanted;
            if (over.count == 0 || last == 1) transform_lines_on_host(all, box[1], 1);
            if (over.count == 0 || last == 0) transform_lines_on_host(all, box[0], box[1]);
            const shape stored = last == 1 ? shape(box[0], box[1] / 2 + 1) : shape(box[0] / 2 + 1, box[1]);
            for (std::size_t r = 0; r < stored[0]; ++r)
                for (std::size_t c = 0; c < stored[1]; ++c) wanted.push_back(all[r * box[1] + c]);
            expect_near<float>(y.to_host(), wanted, most_error);
            const vector<float> back = irfft(view(y, stored), box[last], over);
            expect_near<float>(back.to_host(), widened(x), 2 * most_error);
        };
        there_and_back(shape(5, 132), along(0), 0);
        there_and_back(shape(16, 8), {}, 1);
        there_and_back(shape(2, 2 * 16 * 16), along(1), 1);
    });
}

TEST(V13_fft_devices, cosine_and_sine_transforms_are_those_of_one_device) {
    auto random = seeded_random();
    const exchanges_of_all_sizes held;
    on_three_devices([&](const context& ctx) {
        const context one(std::vector<device>{ctx.device(1)});
        const auto x = random_reals<float>(random, 4 * 4 * 16);
        const vector<float> v(ctx, x), alone(one, x);
        const vector<float> y = dct(view(v, {4, 4, 16}), 2, along(0, 1)),
                            w = dct(view(alone, {4, 4, 16}), 2, along(0, 1));
        expect_near<float>(y.to_host(), widened(w.to_host()), 2 * most_error);
    });
}

TEST(V13_fft_devices, of_one_element_and_of_none) {
    on_three_devices([](const context& ctx) {
        const vector<std::complex<float>> one(ctx, {{3, 4}}), none(ctx, 0);
        const vector<std::complex<float>> y = fft(one), z = fft(none);
        EXPECT_EQ(y[0], std::complex<float>(3, 4));
        EXPECT_EQ(z.size(), 0u);
        const vector<std::complex<float>> w = fft(view(none, {0, 4}), along(1));
        EXPECT_EQ(w.size(), 0u);
    });
}

TEST(V13_fft_devices, words_say_how_the_work_is_divided) {
    if (!has_three_devices()) GTEST_SKIP() << "over_three_devices runs it";
    const context ctx = three_devices().weighted({1, 1, 2});
    const vector<std::complex<float>> x(ctx, 64 * 64);
    EXPECT_THAT(describe_fft(view(x, {64, 64}), along(1)),
                HasSubstr("3 devices transform 16, 16 and 32 of 64 arrays"));
    EXPECT_THAT(describe_fft(x), HasSubstr("the first of 3 devices transforms all"));
    const exchanges_of_all_sizes held;
    EXPECT_THAT(describe_fft(view(x, {64, 64})),
                HasSubstr("3 devices exchange 64 x 64 elements for 16, 16 and 32 columns each, and back"));
    EXPECT_THAT(describe_fft(x),
                HasSubstr("3 devices exchange 64 x 64 elements for 16, 16 and 32 columns each, "
                          "for 16, 16 and 32 rows, and for those of the transpose"));
}

TEST(V13_fft_devices, units_are_where_most_of_their_elements_are) {
    if (!has_three_devices()) GTEST_SKIP() << "over_three_devices runs it";
    const context all = three_devices();
    const auto counts = [&](const std::vector<double>& weights, std::size_t size, std::size_t units) {
        const vector<float> x(all.weighted(weights), size);
        std::vector<std::size_t> made;
        std::size_t end = 0;
        for (const array::unit_range& each : array::units_like(*x.state(), units)) {
            EXPECT_EQ(each.first, end);
            end = each.end();
            made.push_back(each.count);
        }
        EXPECT_EQ(end, units);
        return made;
    };
    using list = std::vector<std::size_t>;
    EXPECT_EQ(counts({1, 1, 1}, 3 * 64 * 5, 15), (list{5, 5, 5}));
    EXPECT_EQ(counts({1, 0, 1}, 128, 3), (list{2, 0, 1}));
    EXPECT_EQ(counts({1, 1, 1}, 192, 2), (list{1, 0, 1}));
    EXPECT_EQ(counts({0, 0, 1}, 640, 7), (list{0, 0, 7}));
    EXPECT_EQ(counts({1, 1, 1}, 0, 0), (list{0, 0, 0}));
}

TEST(V13_fft_devices, over_three_devices) { run_on_three_devices("test_algorithm", "V13_fft_devices.*"); }

}  // namespace

}  // namespace balm::test
