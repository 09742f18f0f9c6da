// A VexCL program, compiled with Balm's headers. Generic C++ code is called once with symbolic numbers, and
// the recorded operations become a kernel that integrates many initial values at once.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <vector>
#include <vexcl/vexcl.hpp>

/// One step of the classical Runge-Kutta method of order 4.
template <class State, class System>
void runge_kutta_4(const System& system, State& x, double dt) {
    State k1 = dt * system(x);
    State k2 = dt * system(x + 0.5 * k1);
    State k3 = dt * system(x + 0.5 * k2);
    State k4 = dt * system(x + k3);
    x += (k1 + 2 * k2 + 2 * k3 + k4) / 6;
}

/// Logistic growth: dx/dt = x (1 - x).
template <class State>
State growth(const State& x) {
    return x * (1 - x);
}

/// The same step as a function of the state.
struct stepper {
    double dt;

    template <class State>
    State operator()(const State& x) const {
        State next = x;
        runge_kutta_4(growth<State>, next, dt);
        return next;
    }
};

int main() {
    const vex::Context ctx(vex::Filter::Env && vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) {
        std::cerr << "no device with double precision\n";
        return 1;
    }
    const std::size_t n = 4096;
    const int steps = 100;
    const double dt = 0.05;

    // Records the operations of one step.
    std::ostringstream body;
    vex::generator::set_recorder(body);
    typedef vex::symbolic<double> symbolic_state;
    symbolic_state symbolic_x(symbolic_state::VectorParameter);
    runge_kutta_4(growth<symbolic_state>, symbolic_x, dt);
    auto kernel = vex::generator::build_kernel(ctx, "logistic_step", body.str(), symbolic_x);

    vex::vector<double> x(ctx, n);
    x = (1.0 + vex::element_index()) / (n + 1.0);
    for (int k = 0; k < steps; ++k) kernel(x);

    // The same step as a function in an expression.
    const stepper by_function{dt};
    const auto step = vex::generator::make_function<double(double)>(by_function);
    vex::vector<double> y(ctx, n);
    y = (1.0 + vex::element_index()) / (n + 1.0);
    for (int k = 0; k < steps; ++k) y = step(y);

    // The exact solution that starts at x0 is 1 / (1 + (1 / x0 - 1) exp(-t)).
    std::vector<double> host(n);
    vex::copy(x, host);
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double start = static_cast<double>(i + 1) / (n + 1.0);
        const double exact = 1 / (1 + (1 / start - 1) * std::exp(-steps * dt));
        error = std::max(error, std::abs(host[i] - exact));
    }
    const vex::Reductor<double, vex::MAX> most(ctx);
    std::cout << n << " populations after " << steps << " steps\n"
              << "by a kernel: " << (error < 1e-6 ? "as they should be" : "WRONG") << '\n'
              << "by a function: " << (most(fabs(x - y)) < 1e-12 ? "the same" : "DIFFERENT") << '\n';
    std::cerr << "largest error " << error << '\n';
}
