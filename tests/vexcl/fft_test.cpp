// vex::FFT against the definition in higher precision.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

using number = std::complex<long double>;

/// Transforms along dimension d of a row-major array.
std::vector<number> transformed(const std::vector<number>& x, const std::vector<std::size_t>& extents,
                                std::size_t d, int sign) {
    const std::size_t n = extents[d];
    std::size_t stride = 1;
    for (std::size_t k = d + 1; k < extents.size(); ++k) stride *= extents[k];
    std::vector<number> made(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t k = i / stride % n, base = i - k * stride;
        for (std::size_t j = 0; j < n; ++j) {
            const long double angle = sign * 2 * std::numbers::pi_v<long double> *
                                      static_cast<long double>(j * k % n) / static_cast<long double>(n);
            made[i] += x[base + j * stride] * std::polar(1.0L, angle);
        }
        if (sign > 0) made[i] /= static_cast<long double>(n);
    }
    return made;
}

struct array_of_pairs {
    std::vector<cl_double2> pairs;
    std::vector<number> exact;

    array_of_pairs(std::mt19937_64& random, std::size_t n) {
        for (const double each : numbers<double>(random, n)) {
            const double other = 2 * each - 1;
            pairs.push_back({{each, other}});
            exact.push_back({each, other});
        }
    }
};
void expect_near_numbers(const vex::vector<cl_double2>& got, const std::vector<number>& wanted) {
    const std::vector<cl_double2> host = on_host(got);
    for (std::size_t i = 0; i < host.size(); ++i) {
        ASSERT_NEAR(host[i].s[0], static_cast<double>(wanted[i].real()), 1e-9) << i;
        ASSERT_NEAR(host[i].s[1], static_cast<double>(wanted[i].imag()), 1e-9) << i;
    }
}

TEST(B9_vexcl_fft, of_any_size_and_back) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        for (const std::size_t n : {1u, 64u, 105u, 211u}) {
            const array_of_pairs x(random, n);
            const vex::vector<cl_double2> in(ctx, x.pairs);
            vex::vector<cl_double2> out(ctx, n), back(ctx, n);
            const vex::FFT<cl_double2> forward(ctx, n), inverse(ctx, n, vex::fft::inverse);
            out = forward(in);
            expect_near_numbers(out, transformed(x.exact, {n}, 0, -1));
            back = inverse(out);
            expect_near_numbers(back, x.exact);
        }
    });
}

TEST(B9_vexcl_fft, along_several_dimensions_and_in_batches) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<std::size_t> extents{6, 10, 7};
        const array_of_pairs x(random, 6 * 10 * 7);
        const vex::vector<cl_double2> in(ctx, x.pairs);
        vex::vector<cl_double2> out(ctx, x.pairs.size());
        const std::vector<number> of_rows = transformed(x.exact, extents, 2, -1),
                                  of_planes = transformed(of_rows, extents, 1, -1);
        out = vex::FFT<cl_double2>(ctx, extents)(in);
        expect_near_numbers(out, transformed(of_planes, extents, 0, -1));
        out = vex::FFT<cl_double2>(ctx, extents, {vex::fft::none, vex::fft::forward, vex::fft::forward})(in);
        expect_near_numbers(out, of_planes);
        out = vex::FFT<cl_double2>(ctx, extents, {vex::fft::none, vex::fft::inverse, vex::fft::forward})(in);
        expect_near_numbers(out, transformed(of_rows, extents, 1, 1));
        out = vex::FFT<cl_double2>(ctx, extents, {vex::fft::none, vex::fft::none, vex::fft::none})(in);
        expect_near_numbers(out, x.exact);
    });
}

TEST(B9_vexcl_fft, of_real_numbers_inside_expressions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 96;
        const std::vector<double> host = numbers<double>(random, n);
        const vex::vector<double> x(ctx, host);
        vex::vector<cl_double2> spectrum(ctx, n);
        vex::vector<double> back(ctx, n), y(ctx, n);
        const vex::FFT<double, cl_double2> forward(ctx, n);
        const vex::FFT<cl_double2, double> inverse(ctx, n, vex::fft::inverse);
        spectrum = forward(x);
        expect_near_numbers(spectrum, transformed(std::vector<number>(host.begin(), host.end()), {n}, 0, -1));
        back = inverse(spectrum);
        y = 1;
        y += 5 * inverse(forward(x * x));
        const std::vector<double> got = on_host(back), squares = on_host(y);
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_NEAR(got[i], host[i], 1e-12);
            ASSERT_NEAR(squares[i], 1 + 5 * host[i] * host[i], 1e-12);
        }
    });
}

TEST(B9_vexcl_fft, sizes_that_suit_it) {
    const vex::fft::planner planner;
    for (const std::size_t n : {1u, 17u, 97u, 1000u}) {
        const std::size_t best = planner.best_size(n);
        std::size_t rest = best;
        for (const std::size_t p : {2u, 3u, 5u, 7u, 11u, 13u})
            while (rest % p == 0) rest /= p;
        EXPECT_GE(best, n);
        EXPECT_EQ(rest, 1u);
    }
}

TEST(B9_vexcl_fft, has_a_plan_that_is_printed_and_profiled) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        static_assert(std::is_same_v<vex::FFT<cl_double2>::value_type, double>);
        vex::FFT<cl_double2> rows({4, 50}, {vex::fft::none, vex::fft::forward});  // on the current context
        std::ostringstream text;
        text << rows.plan;
        EXPECT_NE(text.str().find("4 x 50"), std::string::npos);
        const vex::vector<cl_double2> x(ctx, std::vector<cl_double2>(200, cl_double2{{1, 0}}));
        vex::vector<cl_double2> y(ctx, 200), z(ctx, 200);
        y = rows(x);
        vex::profiler<> times(ctx);
        rows.plan.profile = &times;
        z = rows(x);
        for (const std::size_t i : {0u, 1u, 50u, 199u}) {
            const cl_double2 a = y[i], b = z[i];
            EXPECT_NEAR(a.s[0], i % 50 == 0 ? 50 : 0, 1e-12);
            EXPECT_EQ(a.s[0], b.s[0]);
        }
        std::ostringstream profile;
        times.print(profile);
        EXPECT_NE(profile.str().find("FFT(4 x 50)"), std::string::npos);
    });
    vex::fft::prime_generator next;
    for (const std::size_t p : {2u, 3u, 5u, 7u, 11u, 13u, 17u}) EXPECT_EQ(next(), p);
    EXPECT_EQ(vex::fft::planner(3).best_size(25), 27u);
}

}  // namespace

}  // namespace balm::test
