// An ensemble of Lorenz systems integrated by Boost.odeint, against hand-written kernels for the same stages:
// a step of the Runge-Kutta method of order 4 is a right-hand side and an update, four times.

#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <tuple>

#include "balm/odeint.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
namespace odeint = boost::numeric::odeint;

constexpr double bar = 0.95;

template <class T>
using state = balm::multivector<T, 3>;

template <class T>
constexpr T dt = T(0.01);

/// The right-hand side and the updates as kernels over the three vectors of a state.
template <class T>
struct by_hand {
    using in = balm::dsl::In<T>;
    using out = balm::dsl::Out<T>;
    using mixed = balm::dsl::Mixed<T>;
    using value = balm::dsl::Var<T>;
    using index = balm::dsl::Index;

    balm::device on;
    std::size_t n;
    balm::vector<T> r;
    std::array<state<T>, 4> k;
    state<T> at;

    by_hand(const balm::context& where, const balm::vector<T>& parameters)
        : on(where.device(0)), n(parameters.size()), r(parameters), at(where, n) {
        for (state<T>& each : k) each = state<T>(where, n);
    }

    void step(state<T>& p) const {
        // Traced once, at the first call.
        static const auto change =
            balm::kernel<1>("lorenz", [](in rate, in x, in y, in z, out dx, out dy, out dz) {
                const index i = balm::dsl::global_id(0);
                const value a = x[i], b = y[i], c = z[i];
                dx[i] = T(10) * (b - a);
                dy[i] = (rate[i] - c) * a - b;
                dz[i] = a * b - T(8. / 3) * c;
            });
        static const auto stage = balm::kernel<1>(
            "stage", [](value by, in x, in y, in z, in dx, in dy, in dz, out u, out v, out w) {
                const index i = balm::dsl::global_id(0);
                u[i] = x[i] + by * dx[i];
                v[i] = y[i] + by * dy[i];
                w[i] = z[i] + by * dz[i];
            });
        static const auto finish = balm::kernel<1>(
            "finish", [](value sixth, value third, mixed x, mixed y, mixed z, in x1, in y1, in z1, in x2,
                         in y2, in z2, in x3, in y3, in z3, in x4, in y4, in z4) {
                const index i = balm::dsl::global_id(0);
                x[i] = x[i] + sixth * x1[i] + third * x2[i] + third * x3[i] + sixth * x4[i];
                y[i] = y[i] + sixth * y1[i] + third * y2[i] + third * y3[i] + sixth * y4[i];
                z[i] = z[i] + sixth * z1[i] + third * z2[i] + third * z3[i] + sixth * z4[i];
            });
        const auto derive = [&](const state<T>& from, const state<T>& to) {
            on.execute(change(r, from(0), from(1), from(2), to(0), to(1), to(2)), {n});
        };
        const auto move = [&](T by, const state<T>& along) {
            on.execute(stage(by, p(0), p(1), p(2), along(0), along(1), along(2), at(0), at(1), at(2)), {n});
        };
        derive(p, k[0]);
        move(dt<T> / 2, k[0]);
        derive(at, k[1]);
        move(dt<T> / 2, k[1]);
        derive(at, k[2]);
        move(dt<T>, k[2]);
        derive(at, k[3]);
        on.execute(finish(dt<T> / 6, dt<T> / 3, p(0), p(1), p(2), k[0](0), k[0](1), k[0](2), k[1](0), k[1](1),
                          k[1](2), k[2](0), k[2](1), k[2](2), k[3](0), k[3](1), k[3](2)),
                   {n});
    }
};

template <class T>
void measure(benchmark::State& benchmark_state, const balm::device& on) {
    const balm::context where({on});
    const std::size_t n = large(on) / 16;
    balm::vector<T> r(where, n);
    r = T(0.1) + T(30) * balm::cast<T>(balm::element_index()) / static_cast<T>(n);
    const auto lorenz = [&](const state<T>& p, state<T>& change, T) {
        balm::tie(change(0), change(1), change(2)) =
            std::tuple(T(10) * (p(1) - p(0)), (r - p(2)) * p(0) - p(1), p(0) * p(1) - T(8. / 3) * p(2));
    };
    odeint::runge_kutta4<state<T>, T> stepper;
    const by_hand<T> theirs(where, r);
    state<T> p(where, n, T(10)), q(where, n, T(10));
    const auto ours = [&](int steps) {
        for (int step = 0; step < steps; ++step) stepper.do_step(lorenz, p, T(0), dt<T>);
        on.finish();
    };
    const auto hand = [&](int steps) {
        for (int step = 0; step < steps; ++step) theirs.step(q);
        on.finish();
    };
    ours(10);
    hand(10);
    if (!(balm::max(abs(p(2) - q(2))) <= (sizeof(T) == 4 ? 1e-3 : 1e-10)))
        return benchmark_state.SkipWithError("the two differ");
    for (auto iteration : benchmark_state) {
        static_cast<void>(iteration);
        report(benchmark_state,
               is_cpu(on) ? compare_in_pairs([&] { ours(1); }, [&] { hand(1); })
                          : compare_samples(ours, hand, 10),
               bar);
    }
    // Right-hand sides read 4 vectors and write 3, stages 6 and 3, the last one 15 and 3.
    benchmark_state.SetBytesProcessed(static_cast<std::int64_t>((4 * 7 + 3 * 9 + 18) * n * sizeof(T)));
    benchmark_state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

void register_all() {
    on_every_device("odeint, Lorenz ensemble, f32", measure<float>);
    on_every_device("odeint, Lorenz ensemble, f64", measure<double>);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
