// Boost.odeint on vectors: the results and accepted steps of the same steppers on host memory.

#include "balm/odeint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

namespace odeint = boost::numeric::odeint;
using numbers = vector<double>;

/// x' = rate (1 - x) x for many rates: on the host and on devices.
struct growth {
    std::vector<double> rates;
    numbers on_devices;

    growth(const context& where, std::mt19937_64& random, std::size_t n) {
        const auto drawn = random_values<double>(random, n, 0.5, 4.0);
        rates.assign(drawn.begin(), drawn.end());
        on_devices = numbers(where, rates);
    }
    void operator()(const std::vector<double>& x, std::vector<double>& change, double) const {
        for (std::size_t i = 0; i < x.size(); ++i) change[i] = rates[i] * (1 - x[i]) * x[i];
    }
    void operator()(const numbers& x, numbers& change, double) const { change = on_devices * (1 - x) * x; }
};

std::vector<double> begin_of(std::mt19937_64& random, std::size_t n) {
    const auto drawn = random_values<double>(random, n, 0.01, 0.2);
    return {drawn.begin(), drawn.end()};
}

std::vector<double> host_elements(const numbers& x) {
    const auto all = x.to_host();
    return {all.begin(), all.end()};
}
template <class T, std::size_t N>
std::vector<T> host_elements(const multivector<T, N>& x) {
    std::vector<T> all;
    for (std::size_t k = 0; k < N; ++k)
        for (const T each : x(k).to_host()) all.push_back(each);
    return all;
}

/// Contraction changes the last digits, and the steppers' sums carry them on.
template <class Got, class Wanted>
void expect_near_each(const Got& got, const Wanted& wanted, double bound) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[i], wanted[i], bound) << "element " << i;
}

/// Integrates the state on devices, and its equal on the host: what `integrate(system, state)` saw on the way
/// must be the same, and the states at the end. Returns what it saw.
template <class System, class State, class T, class Integrate>
std::vector<T> integrate_both(const System& system, State& x, std::vector<T> on_host, double bound,
                              Integrate&& integrate) {
    const std::vector<T> seen = integrate(std::cref(system), x);
    expect_near_each(seen, integrate(std::cref(system), on_host), bound);
    expect_near_each(host_elements(x), on_host, bound);
    return seen;
}
/// The same of n rates.
template <class Integrate>
std::vector<double> integrate_growth(const context& ctx, std::mt19937_64& random, std::size_t n, double bound,
                                     Integrate&& integrate) {
    const growth system(ctx, random, n);
    const std::vector<double> begin = begin_of(random, n);
    numbers x(ctx, begin);
    return integrate_both(system, x, begin, bound, integrate);
}

TEST(V24_odeint, controlled_steppers_accept_the_steps_of_a_state_on_the_host) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto times = integrate_growth(ctx, random, 1003, 1e-8, [](auto system, auto& x) {
            using state = std::remove_reference_t<decltype(x)>;
            std::vector<double> moments;
            odeint::integrate_adaptive(
                odeint::make_controlled<odeint::runge_kutta_cash_karp54<state>>(1e-8, 1e-6), system, x, 0.0,
                5.0, 1.0, [&](const state&, double t) { moments.push_back(t); });
            return moments;
        });
        EXPECT_GT(times.size(), 5u);
    });
}

template <class T>
using lorenz_state = multivector<T, 3>;

/// Lorenz' system for many r: on devices as three vectors, on the host as n times three numbers.
template <class T>
struct lorenz {
    vector<T> r;

    void operator()(const lorenz_state<T>& p, lorenz_state<T>& change, T) const {
        tie(change(0), change(1), change(2)) =
            std::tuple(10 * (p(1) - p(0)), (r - p(2)) * p(0) - p(1), p(0) * p(1) - T(8. / 3) * p(2));
    }
    void operator()(const std::vector<T>& p, std::vector<T>& change, T) const {
        const auto each_r = r.to_host();
        const std::size_t n = each_r.size();
        for (std::size_t i = 0; i < n; ++i) {
            const T x = p[i], y = p[n + i], z = p[2 * n + i];
            change[i] = 10 * (y - x);
            change[n + i] = (each_r[i] - z) * x - y;
            change[2 * n + i] = x * y - T(8. / 3) * z;
        }
    }
};

template <class T>
T middle_z(const lorenz_state<T>& p, std::size_t n) {
    return p(2)[n / 2];
}
template <class T>
T middle_z(const std::vector<T>& p, std::size_t n) {
    return p[2 * n + n / 2];
}

template <class T>
void integrate_lorenz_ensembles(double tolerance, double bound) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 517;
        const auto r = random_values<T>(random, n, T(1), T(30));
        const lorenz<T> system{vector<T>(ctx, r)};
        lorenz_state<T> p(ctx, n, T(10));
        const auto eps = static_cast<T>(tolerance);
        const auto moments =
            integrate_both(system, p, std::vector<T>(3 * n, T(10)), bound, [&](auto by, auto& x) {
                using state = std::remove_reference_t<decltype(x)>;
                std::vector<T> middles;
                odeint::integrate_const(
                    odeint::make_dense_output<odeint::runge_kutta_dopri5<state, T>>(eps, eps), by, x, T(0),
                    T(0.5), T(0.125), [&](const state& now, T) { middles.push_back(middle_z(now, n)); });
                return middles;
            });
        EXPECT_EQ(moments.size(), 5u);
    });
}
TEST(V24_odeint, dense_output_of_several_vectors_f64) { integrate_lorenz_ensembles<double>(1e-7, 1e-9); }
TEST(V24_odeint, dense_output_of_several_vectors_f32) { integrate_lorenz_ensembles<float>(1e-4, 5e-3); }

TEST(V24_odeint, multistep_methods_and_pairs_of_coordinates_and_momenta) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 100;
        integrate_growth(ctx, random, n, 1e-12, [](auto system, auto& x) {
            using state = std::remove_reference_t<decltype(x)>;
            odeint::integrate_const(odeint::adams_bashforth<3, state>(), system, x, 0.0, 0.5, 0.05);
            return std::vector<double>();
        });

        numbers q(ctx, n, 1.0), p(ctx, n, 0.0);
        const auto force = [](const numbers& at, numbers& change) { change = -at; };
        odeint::symplectic_rkn_sb3a_mclachlan<numbers> stepper;
        for (int step = 0; step < 20; ++step)
            stepper.do_step(force, std::pair(std::ref(q), std::ref(p)), 0.05 * step, 0.05);
        EXPECT_NEAR(q[n - 1], std::cos(1.0), 1e-6);
        EXPECT_NEAR(p[0], -std::sin(1.0), 1e-6);
    });
}

TEST(V24_odeint, an_operation_is_one_kernel_that_reads_no_vector_in_vain) {
    if (devices_are_together()) GTEST_SKIP() << "a kernel for each device";
    on_all_contexts([&](const context& ctx) {
        using state = std::array<vector<float>, 2>;
        state x{vector<float>(ctx, 100, 1.f), vector<float>(ctx, 100, 0.f)};
        std::vector<int> loads;
        kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) {
            int own = 0;
            for (const auto& block : f.blocks)
                for (const ir::value_id v : block) own += f.code[v].op == ir::opcode::load;
            loads.push_back(own);
        });
        odeint::runge_kutta4<state, float> stepper;
        const auto turn = [](const state& p, state& change, float) {
            tie(change[0], change[1]) = std::tuple(p[1] + 0.f, -p[0]);
        };
        for (int step = 0; step < 10; ++step) stepper.do_step(turn, x, 0.1f * static_cast<float>(step), 0.1f);
        compile_kernels_with_nvrtc_again();
        EXPECT_THAT(loads, testing::ElementsAre(2, 4, 10));  // the system, a stage, all of them
        EXPECT_NEAR(x[0][99], std::cos(1.0), 1e-4);
        EXPECT_NEAR(x[1][0], -std::sin(1.0), 1e-4);
    });
}

TEST(V24_odeint, states_change_their_size_between_steps_and_may_be_empty) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        odeint::runge_kutta4<numbers, double, numbers, double, odeint::vector_space_algebra,
                             odeint_operations, odeint::always_resizer>
            stepper;
        for (const std::size_t n : {100u, 0u, 3u, 2001u, 1u})
            integrate_growth(ctx, random, n, 1e-13, [&](auto system, auto& x) {
                using state = std::remove_reference_t<decltype(x)>;
                if constexpr (std::is_same_v<state, numbers>)
                    stepper.do_step(system, x, 0.0, 0.1);
                else
                    odeint::runge_kutta4<state>().do_step(system, x, 0.0, 0.1);
                return std::vector<double>();
            });
        const growth none(ctx, random, 0);
        numbers x(ctx, 0);
        const auto controlled = odeint::make_controlled<odeint::runge_kutta_cash_karp54<numbers>>(1e-6, 1e-6);
        EXPECT_GT(odeint::integrate_adaptive(controlled, std::cref(none), x, 0.0, 1.0, 0.1), 0u);
        numbers nowhere;
        const auto idle = [](const numbers&, numbers&, double) {};
        EXPECT_GT(odeint::integrate_adaptive(controlled, idle, nowhere, 0.0, 1.0, 0.1), 0u);
        EXPECT_EQ(nowhere.size(), 0u);
    });
}

TEST(V24_odeint, norms_are_of_absolute_values_lanes_and_numbers) {
    on_all_contexts([&](const context& ctx) {
        using algebra = odeint::vector_space_algebra;
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const numbers x(ctx, {1, nan, -7.5, 3});
        EXPECT_EQ(algebra::norm_inf(x), 7.5);
        EXPECT_EQ(algebra::norm_inf(numbers(ctx, {nan, nan})), 0.0);
        EXPECT_EQ(algebra::norm_inf(numbers()), 0.0);
        EXPECT_EQ(algebra::norm_inf(std::tuple(x, vector<float>(ctx, {1, 2, 3, -8}))), 8.0);
        EXPECT_NEAR(algebra::norm_inf(vector<std::complex<double>>(ctx, {{1, 1}, {3, -4}})), 5.0, 1e-14);
        EXPECT_EQ(algebra::norm_inf(vector<float4>(ctx, {{1, -2, 3, 0}, {1, 2, -9, 4}})), 9.f);
    });
}

TEST(V24_odeint, sums_that_swap_are_one_assignment) {
    on_all_contexts([&](const context& ctx) {
        multivector<double, 2> a(ctx, 65, 1.0), b(ctx, 65, 2.0), c(ctx, 65, 5.0);
        b(1) = 3.0;
        odeint_operations::scale_sum_swap2<double>(2.0, 10.0)(a, b, c);
        EXPECT_THAT(a(0).to_host(), testing::Each(54.0));
        EXPECT_THAT(a(1).to_host(), testing::Each(56.0));
        EXPECT_THAT(b(1).to_host(), testing::Each(1.0));
    });
}

}  // namespace

}  // namespace balm::test
