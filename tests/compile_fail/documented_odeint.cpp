// expect nothing: the programs of docs/odeint.md, as they stand there.
#include <balm/balm.hpp>
#include <balm/odeint.hpp>
#include <boost/numeric/odeint.hpp>
#include <iostream>
#include <tuple>

namespace odeint = boost::numeric::odeint;

using state = balm::multivector<double, 3>;  // x, y and z of n systems

void overview(const balm::vector<double>& r, state& p);
void overview(const balm::vector<double>& r, state& p) {
    const auto lorenz = [&](const state& at, state& change, double) {
        balm::tie(change(0), change(1), change(2)) =  // one kernel
            std::tuple(10 * (at(1) - at(0)), (r - at(2)) * at(0) - at(1), at(0) * at(1) - 8.0 / 3 * at(2));
    };
    odeint::integrate_const(odeint::runge_kutta4<state>(), lorenz, p, 0.0, 4.0, 0.01);

    const auto watch = [&](const state& now, double t) {
        std::cout << t << ' ' << balm::max(now(2)) << '\n';
    };
    const auto dense = odeint::make_dense_output<odeint::runge_kutta_dopri5<state>>(1e-10, 1e-10);
    odeint::integrate_const(dense, lorenz, p, 0.0, 4.0, 0.5, watch);

    odeint::runge_kutta4<state, double, state, double, odeint::vector_space_algebra, balm::odeint_operations,
                         odeint::always_resizer>
        elastic;
    elastic.do_step(lorenz, p, 0.0, 0.01);
}

void of_floats(balm::vector<float>& y);
void of_floats(balm::vector<float>& y) {
    using small = balm::vector<float>;
    const auto decay = [](const small& x, small& change, float) { change = -x; };
    odeint::runge_kutta_dopri5<small, float> stepper;
    odeint::integrate_adaptive(odeint::make_controlled(1e-4f, 1e-4f, stepper), decay, y, 0.f, 1.f, 0.1f);
}
