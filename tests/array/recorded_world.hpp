#pragma once
// Recordings: a program of statements is executed statement by statement, recorded, and recorded without
// fusion, on equal vectors; all results must have the same bits. What the statements compute is tested
// elsewhere.

#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "kernel/run.hpp"
#include "support/devices.hpp"

namespace balm::test {

inline constexpr std::size_t n = 1024;

/// The vectors of a program.
struct world {
    explicit world(const context& on, std::uint64_t seed, std::size_t size = n) : ctx(on) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> any(-2, 2);
        const auto numbers = [&]<class T>(std::type_identity<T>, std::size_t count) {
            std::vector<T> made(count);
            for (T& each : made)
                each = static_cast<T>(std::floating_point<T> ? any(random) : 50 * any(random));
            return vector<T>(ctx, made);
        };
        for (vector<float>* each : {&a, &b, &c}) *each = numbers(std::type_identity<float>{}, size);
        for (vector<double>* each : {&d, &e}) *each = numbers(std::type_identity<double>{}, size);
        k = numbers(std::type_identity<std::int32_t>{}, size);
        m = numbers(std::type_identity<std::uint8_t>{}, size);
        for (vector<float>* each : {&s, &t}) *each = numbers(std::type_identity<float>{}, 1);
        for (vector<double>* each : {&f, &g}) *each = numbers(std::type_identity<double>{}, 1);
        q = numbers(std::type_identity<std::int64_t>{}, 1);
        h = vector<half>(ctx, size);
        h = a * 0.5f;
        z = vector<std::complex<float>>(ctx, size);
        z = balm::polar(a, b);
        p = vector<bool>(ctx, size);
        p = b > 0.f;
        flag = vector<bool>(ctx, 1);
        flag = false;
        rows = numbers(std::type_identity<float>{}, size / 32);
        rows_of_8 = numbers(std::type_identity<double>{}, size / 8);
        few_rows = numbers(std::type_identity<float>{}, 32);
    }

    /// All vectors, as arguments.
    auto vectors() {
        return std::tie(a, b, c, d, e, k, m, s, t, f, g, q, h, z, p, flag, rows, rows_of_8, few_rows);
    }

    context ctx;
    vector<float> a, b, c;
    vector<double> d, e;
    vector<std::int32_t> k;
    vector<std::uint8_t> m;
    vector<float> s, t;  ///< of one element, as the next two
    vector<double> f, g;
    vector<std::int64_t> q;
    vector<half> h;
    vector<std::complex<float>> z;
    vector<bool> p, flag;  ///< flag: one element
    vector<float> rows;    ///< an element for each row of 32 elements
    vector<double> rows_of_8;
    vector<float> few_rows;  ///< for 32 rows
};

/// A vector as rows, and an element for each row as elements of the rows.
template <class V>
auto in_rows(V& of, std::size_t columns) {
    return view(of, {of.size() / columns, columns});
}
template <class V>
auto of_rows(V& rows, std::size_t columns) {
    return view(rows, {rows.size(), std::size_t{1}}).broadcast({rows.size(), columns});
}

template <class T>
bool is_same_element(T x, T y) {
    return is_same(x, y);
}
inline bool is_same_element(half x, half y) { return is_same(float(x), float(y)); }
inline bool is_same_element(std::complex<float> x, std::complex<float> y) {
    return is_same(x.real(), y.real()) && is_same(x.imag(), y.imag());
}

/// The first element that differs, in words; "" for none.
template <class T>
std::string difference(const vector<T>& got, const vector<T>& expected, const char* name) {
    const host_array<T> x = got.to_host(), y = expected.to_host();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!is_same_element(x[i], y[i])) return name + ("[" + std::to_string(i) + "] differs; ");
    return "";
}
inline std::string difference(const world& x, const world& y) {
    return difference(x.a, y.a, "a") + difference(x.b, y.b, "b") + difference(x.c, y.c, "c") +
           difference(x.d, y.d, "d") + difference(x.e, y.e, "e") + difference(x.k, y.k, "k") +
           difference(x.m, y.m, "m") + difference(x.s, y.s, "s") + difference(x.t, y.t, "t") +
           difference(x.f, y.f, "f") + difference(x.g, y.g, "g") + difference(x.q, y.q, "q") +
           difference(x.h, y.h, "h") + difference(x.z, y.z, "z") + difference(x.p, y.p, "p") +
           difference(x.flag, y.flag, "flag") + difference(x.rows, y.rows, "rows") +
           difference(x.rows_of_8, y.rows_of_8, "rows_of_8") + difference(x.few_rows, y.few_rows, "few_rows");
}
inline void expect_same(const world& got, const world& expected) { EXPECT_EQ(difference(got, expected), ""); }

/// Switches fusion off as long as it lives.
struct without_fusion {
    without_fusion() { ::setenv("BALM_FUSE", "0", 1); }
    without_fusion(const without_fusion&) = delete;
    without_fusion& operator=(const without_fusion&) = delete;
    ~without_fusion() { ::unsetenv("BALM_FUSE"); }
};

/// The message with which a use is refused.
template <class F>
std::string fault_of(F&& f) {
    try {
        f();
    } catch (const usage_error& fault) {
        return fault.what();
    }
    return "nothing was refused";
}

using program_text = std::function<void(world&)>;
inline constexpr int times = 3;

/// Where the results differ from those of the statements if other vectors take the place of the recorded
/// ones.
inline std::string fault_with_arguments(const context& ctx, const program_text& statements,
                                        std::uint64_t seed, const world& direct) {
    const std::size_t size = direct.a.size();
    world recorded(ctx, seed + 1, size), given(ctx, seed, size);
    const auto step = std::apply(
        [&](auto&... all) {
            return record(
                ctx, [&](auto&...) { statements(recorded); }, all...);
        },
        recorded.vectors());
    for (int k = 0; k < times; ++k) std::apply(step, given.vectors());
    std::string fault = difference(given, direct) + difference(recorded, world(ctx, seed + 1, size));
    return fault.empty() ? fault : "with arguments: " + fault;
}

/// A program's recording with fusion, and where its results differ from those of the statements.
struct recorded_program {
    recording step;
    std::string fault;
};
inline recorded_program recorded_and_compared(const context& ctx, const program_text& statements,
                                              std::uint64_t seed, std::size_t size) {
    world direct(ctx, seed, size), recorded(ctx, seed, size), unfused(ctx, seed, size);
    for (int k = 0; k < times; ++k) statements(direct);
    const recording step = record(ctx, [&] { statements(recorded); });
    std::string fault = difference(recorded, world(ctx, seed, size));  // nothing has run
    step.repeat(times);
    fault += difference(recorded, direct);
    const without_fusion off;
    const recording single = record(ctx, [&] { statements(unfused); });
    for (int k = 0; k < times; ++k) single();
    if (!difference(unfused, direct).empty()) fault += "without fusion: " + difference(unfused, direct);
    fault += fault_with_arguments(ctx, statements, seed, direct);
    EXPECT_LE(step.size(), single.size());
    return {step, fault};
}

/// Returns the recording, for further questions.
inline recording expect_recorded_alike(const context& ctx, const program_text& statements, std::uint64_t seed,
                                       std::size_t size = n) {
    const auto [step, fault] = recorded_and_compared(ctx, statements, seed, size);
    EXPECT_EQ(fault, "");
    return step;
}

/// On every device, each with a fresh seed.
inline void expect_recorded_alike(const program_text& statements, std::size_t most_commands,
                                  std::size_t size = n) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const recording step = expect_recorded_alike(context({on}), statements, random(), size);
        EXPECT_LE(step.size(), most_commands) << step.describe();
    });
}

}  // namespace balm::test
