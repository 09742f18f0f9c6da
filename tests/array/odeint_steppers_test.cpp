// Boost.odeint's steppers beyond those of Runge and Kutta on vectors: the results and accepted steps of the
// same steppers on host memory.

#include <gtest/gtest.h>

#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <complex>
#include <concepts>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/odeint.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

namespace odeint = boost::numeric::odeint;

/// A spring and a damper for each element, with stiffness k: q'' = -k q - q' / 8; q in the first half of a
/// state on the host, and in the first vector of one on devices.
struct springs {
    std::vector<double> k;
    vector<double> on_devices;

    springs(const context& where, std::mt19937_64& random, std::size_t n) {
        const auto drawn = random_values<double>(random, n, 0.5, 4.0);
        k.assign(drawn.begin(), drawn.end());
        on_devices = vector<double>(where, k);
    }
    void operator()(const std::vector<double>& x, std::vector<double>& change, double) const {
        const std::size_t n = k.size();
        for (std::size_t i = 0; i < n; ++i) {
            change[i] = x[n + i];
            change[n + i] = -k[i] * x[i] - x[n + i] / 8;
        }
    }
    void operator()(const multivector<double, 2>& x, multivector<double, 2>& change, double) const {
        tie(change(0), change(1)) = std::tuple(+x(1), -on_devices * x(0) - x(1) / 8);
    }
};

using on_host = std::vector<double>;
using on_devices = multivector<double, 2>;

void expect_near(const on_devices& got, const on_host& wanted, double bound) {
    const std::size_t n = wanted.size() / 2;
    for (std::size_t k = 0; k < 2; ++k) {
        const auto list = got(k).to_host();
        ASSERT_EQ(list.size(), n);
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(list[i], wanted[k * n + i], bound) << "element " << i;
    }
}

/// Integrates both from the same state: calls `integrate(stepper, state, observer)`; observers must be called
/// at the same times.
template <class OnHost, class OnDevices, class Integrate>
void compare(std::mt19937_64& random, const context& ctx, OnHost host, OnDevices devices, double bound,
             const Integrate& integrate) {
    const std::size_t n = 129;
    const springs system(ctx, random, n);
    const auto drawn = random_values<double>(random, 2 * n, -1.0, 1.0);
    on_host wanted(drawn.begin(), drawn.end());
    on_devices x(ctx, n);
    x(0) = on_host(wanted.begin(), wanted.begin() + n);
    x(1) = on_host(wanted.begin() + n, wanted.end());
    std::vector<double> times, wanted_times;
    integrate(devices, std::cref(system), x, [&](const on_devices&, double t) { times.push_back(t); });
    integrate(host, std::cref(system), wanted, [&](const on_host&, double t) { wanted_times.push_back(t); });
    ASSERT_EQ(times.size(), wanted_times.size());
    EXPECT_GT(times.size(), 4u);
    for (std::size_t i = 0; i < times.size(); ++i)
        EXPECT_NEAR(times[i], wanted_times[i], 1e-6) << "step " << i;
    expect_near(x, wanted, bound);
}

const auto with_own_steps = [](auto& stepper, auto system, auto& x, auto observer) {
    odeint::integrate_adaptive(std::ref(stepper), system, x, 0.0, 3.0, 0.05, observer);
};
const auto with_equal_steps = [](auto& stepper, auto system, auto& x, auto observer) {
    odeint::integrate_const(std::ref(stepper), system, x, 0.0, 1.0, 0.05, observer);
};

TEST(V24_odeint_steppers, controlled_multistep_methods_adjust_step_and_order) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        using host =
            odeint::controlled_adams_bashforth_moulton<odeint::adaptive_adams_bashforth_moulton<4, on_host>>;
        using devices = odeint::controlled_adams_bashforth_moulton<
            odeint::adaptive_adams_bashforth_moulton<4, on_devices>>;
        compare(random, ctx, host(), devices(), 1e-7, with_own_steps);
    });
}

/// The relative errors of three steps and their lengths, as odeint filters them for states on the host.
template <int Filter>
void compare_filters(std::mt19937_64& random, const context& ctx) {
    using devices =
        odeint::detail::pid_step_adjuster<vector<double>, double, vector<double>, double,
                                          odeint::vector_space_algebra, odeint_operations, Filter>;
    using host = odeint::detail::pid_step_adjuster<on_host, double, on_host, double, odeint::range_algebra,
                                                   odeint::default_operations, Filter>;
    devices ours(1e-6, 1e-4, 10.0);
    host theirs(1e-6, 1e-4, 10.0);
    const std::size_t n = 33;
    int accepted = 0, filtered_three = 0;
    for (int step = 0; step < 7; ++step) {
        const bool is_good = step != 5;
        const auto drawn_error =
            random_values<double>(random, n, is_good ? 2e-7 : 1e-3, is_good ? 3e-7 : 2e-3);
        const auto drawn_x = random_values<double>(random, n, -1.0, -0.5);
        const auto drawn_change = random_values<double>(random, n, 0.5, 1.0);
        on_host error(drawn_error.begin(), drawn_error.end());
        const on_host x(drawn_x.begin(), drawn_x.end()), change(drawn_change.begin(), drawn_change.end());
        const double dt = random_values<double>(random, 1, 0.09, 0.11)[0];
        const std::size_t order = 1 + random() % 5;
        const double got = ours.adjust_stepsize(order, dt, vector<double>(ctx, error), vector<double>(ctx, x),
                                                vector<double>(ctx, change));
        const double wanted = theirs.adjust_stepsize(order, dt, error, x, change);
        EXPECT_NEAR(got, wanted, 1e-10 * std::abs(wanted)) << "filter " << Filter;
        filtered_three += accepted >= 2;
        accepted = wanted >= 0.9 * dt ? accepted + 1 : 0;
    }
    EXPECT_GE(filtered_three, 1) << "filter " << Filter;
}

TEST(V24_odeint_steppers, filters_of_step_lengths) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare_filters<odeint::detail::BASIC>(random, ctx);
        compare_filters<odeint::detail::H211PI>(random, ctx);
        compare_filters<odeint::detail::H312PID>(random, ctx);
        compare_filters<odeint::detail::H312b>(random, ctx);
        compare_filters<odeint::detail::H321>(random, ctx);
    });
}

TEST(V24_odeint_steppers, multistep_methods_of_growing_order) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare(random, ctx, odeint::adaptive_adams_bashforth_moulton<3, on_host>(),
                odeint::adaptive_adams_bashforth_moulton<3, on_devices>(), 1e-10, with_equal_steps);
        compare(random, ctx, odeint::adams_bashforth_moulton<4, on_host>(),
                odeint::adams_bashforth_moulton<4, on_devices>(), 1e-10, with_equal_steps);
    });
}

TEST(V24_odeint_steppers, bulirsch_and_stoer) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare(random, ctx, odeint::bulirsch_stoer<on_host>(1e-8, 1e-8),
                odeint::bulirsch_stoer<on_devices>(1e-8, 1e-8), 1e-7, with_own_steps);
        compare(random, ctx, odeint::bulirsch_stoer_dense_out<on_host>(1e-8, 1e-8),
                odeint::bulirsch_stoer_dense_out<on_devices>(1e-8, 1e-8), 1e-6, with_equal_steps);
        compare(random, ctx, odeint::extrapolation_stepper<4, on_host>(),
                odeint::extrapolation_stepper<4, on_devices>(), 1e-10, with_equal_steps);
    });
}

TEST(V24_odeint_steppers, states_may_be_on_other_devices_from_step_to_step) {
    auto random = seeded_random();
    on_all_devices([&](const device& each) {
        const context one(std::vector<device>{each}), parts(std::vector<device>{each, each});
        odeint::runge_kutta4<vector<double>, double, vector<double>, double, odeint::vector_space_algebra,
                             odeint_operations, odeint::always_resizer>
            stepper;
        for (const context& where : {one, parts, one}) {
            const auto begin = random_values<double>(random, 70, -1.0, 1.0);
            vector<double> x(where, begin);
            stepper.do_step([](const vector<double>& at, vector<double>& change, double) { change = -at; }, x,
                            0.0, 0.1);
            EXPECT_EQ(x.context(), where);
            for (std::size_t i = 0; i < 70; i += 23) EXPECT_NEAR(x[i], begin[i] * std::exp(-0.1), 1e-6);
        }
    });
}

/// A number as the elements of T have it, and back.
template <class T>
T element(double value) {
    if constexpr (complex_type<T>)
        return T(static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(-value / 2));
    else if constexpr (std::floating_point<T>)
        return static_cast<T>(value);
    else
        return T(static_cast<float>(value));
}
template <class T>
std::complex<double> number(T value) {
    if constexpr (complex_type<T>)
        return {value.real(), value.imag()};
    else if constexpr (std::floating_point<T>)
        return static_cast<double>(value);
    else
        return static_cast<double>(static_cast<float>(value));
}

/// The operation of N factors, some of which are 0: their vectors hold NaN, and must not be read.
template <class T, class Factor, std::size_t N>
void compare_sums(std::mt19937_64& random, const context& ctx, double bound) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        for (int draw = 0; draw < 3; ++draw) {
            SCOPED_TRACE(testing::Message() << N << " factors");
            const std::size_t n = 1 + random() % 70;
            const auto drawn = random_values<double>(random, N, -1.0, 1.0);
            const std::array<Factor, N> factors{
                (random() % 3 == 0 ? Factor(0) : static_cast<Factor>(drawn[K]))...};
            std::array<vector<T>, N> x;
            std::vector<std::complex<double>> wanted(n);
            for (std::size_t k = 0; k < N; ++k) {
                const auto values = random_values<double>(random, n, -1.0, 1.0);
                std::vector<T> list(n, element<T>(std::numeric_limits<double>::quiet_NaN()));
                if (factors[k] != 0) {
                    for (std::size_t i = 0; i < n; ++i) {
                        list[i] = element<T>(values[i]);
                        wanted[i] += static_cast<double>(factors[k]) * number(list[i]);
                    }
                }
                x[k] = vector<T>(ctx, list);
            }
            bool is_sum = false;
            for (const Factor factor : factors) is_sum |= factor != 0;
            if (!is_sum) continue;  // 0 times the first vector, as it is
            vector<T> to(ctx, n, element<T>(std::numeric_limits<double>::quiet_NaN()));
            balm::detail::scaled_sum<N, Factor>(factors[K]...)(to, x[K]...);
            const auto got = to.to_host();
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_LE(std::abs(number(got[i]) - wanted[i]), bound) << "element " << i;
        }
    }
    (std::make_index_sequence<N>());
}
template <class T, class Factor>
void compare_sums_of(std::mt19937_64& random, const context& ctx, double bound) {
    compare_sums<T, Factor, 1>(random, ctx, bound);
    compare_sums<T, Factor, 5>(random, ctx, bound);
}

TEST(V24_odeint_steppers, sums_of_random_factors_read_no_vector_whose_factor_is_zero) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare_sums_of<double, double>(random, ctx, 1e-14);
        compare_sums_of<std::complex<double>, double>(random, ctx, 1e-14);
        compare_sums_of<half, float>(random, ctx, 2e-2);
    });
}

TEST(B4_recorded_odeint, steps_are_one_kernel_with_the_same_bits) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t n = 1000;
        const springs system(ctx, random, n);
        const auto drawn = random_values<double>(random, 2 * n);
        const auto state = [&] {
            on_devices made(ctx, n);
            for (std::size_t k = 0; k < 2; ++k)
                made(k) = std::vector<double>(drawn.begin() + static_cast<std::ptrdiff_t>(k * n),
                                              drawn.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
            return made;
        };
        on_devices direct = state(), recorded = state();
        odeint::runge_kutta4<on_devices> first, second;
        for (int k = 0; k < 4; ++k) first.do_step(system, direct, 0.0, 0.125);
        second.adjust_size(recorded);
        const recording step = record(ctx, [&] { second.do_step(system, recorded, 0.0, 0.125); });
        EXPECT_EQ(step.size(), 1u) << step.describe();
        step.repeat(4);
        for (std::size_t k = 0; k < 2; ++k)
            expect_each(recorded(k).to_host(),
                        [expected = direct(k).to_host()](std::size_t i) { return expected[i]; });
    });
}

TEST(V24_odeint_steppers, verlet) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 50;
        const auto drawn = random_values<double>(random, n, -1.0, 1.0);
        on_host q(drawn.begin(), drawn.end()), p(n, 0.5);
        vector<double> at(ctx, q), speed(ctx, p);
        odeint::velocity_verlet<on_host> host;
        odeint::velocity_verlet<vector<double>> devices;
        const auto pull_on_host = [](const on_host& x, const on_host&, on_host& a, double) {
            for (std::size_t i = 0; i < x.size(); ++i) a[i] = -2 * x[i];
        };
        const auto pull = [](const vector<double>& x, const vector<double>&, vector<double>& a, double) {
            a = -2 * x;
        };
        for (int step = 0; step < 20; ++step) {
            host.do_step(pull_on_host, std::pair(std::ref(q), std::ref(p)), 0.05 * step, 0.05);
            devices.do_step(pull, std::pair(std::ref(at), std::ref(speed)), 0.05 * step, 0.05);
        }
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(at[i], q[i], 1e-12);
            EXPECT_NEAR(speed[i], p[i], 1e-12);
        }
    });
}

}  // namespace

}  // namespace balm::test
