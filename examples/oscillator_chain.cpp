// A chain of phase oscillators, each coupled to its two neighbours: neighbours are shifted views, and
// Boost.odeint integrates the whole chain. With enough coupling all of them oscillate at one frequency
// (A. Cohen, P. Holmes & R. Rand, The nature of the coupling between segmental oscillators, 1982).

#include <balm/balm.hpp>
#include <balm/odeint.hpp>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdio>

namespace odeint = boost::numeric::odeint;
using state = balm::vector<double>;

constexpr std::size_t n = 64;

/// change[i] = omega[i] + sin(phase[i + 1] - phase[i]) + sin(phase[i - 1] - phase[i])
struct chain {
    state omega;

    void operator()(const state& phase, state& change, double) const {
        // An end has one neighbour; the other index is the end itself, and sin(0) = 0.
        const auto i = balm::element_index();
        const auto above = phase[min(i + 1, n - 1)], below = phase[max(i - 1, 0)];
        change = omega + sin(above - phase) + sin(below - phase);
    }
};

/// The difference between the highest and the lowest frequency.
double spread(const chain& system, const state& phase) {
    state change;
    system(phase, change, 0);
    const auto [least, most] = balm::reduce(balm::min_of(change), balm::max_of(change));
    return most - least;
}

/// Frequencies that decrease along the chain, by `gradient` from end to end.
chain falling(const balm::context& ctx, double gradient) {
    state omega(ctx, n);
    omega = 1.0 - gradient * balm::element_index() / (n - 1);
    return {omega};
}

int main() {
    balm::context ctx;
    // The chain locks if the gradient is below about 8 (n - 1) / (n n), for then no phase need lead its
    // neighbour by more than a quarter of a turn.
    const double critical = 8.0 * (n - 1) / (n * n);
    for (const double share : {0.5, 2.0}) {
        const chain system = falling(ctx, share * critical);
        state phase(ctx, n, 0.0);
        const auto stepper = odeint::make_controlled<odeint::runge_kutta_cash_karp54<state>>(1e-8, 1e-8);
        odeint::integrate_adaptive(stepper, std::cref(system), phase, 0.0, 4000.0, 0.1);
        std::printf("gradient %.1f of the critical one: the chain is %s\n", share,
                    spread(system, phase) < 1e-3 ? "locked" : "not locked");

        // In a locked chain the oscillators have their mean frequency, and phases differ as in theory:
        // sin(phase[k + 1] - phase[k]) = -gradient (k + 1) (n - 1 - k) / (2 (n - 1)).
        if (share > 1) continue;
        const auto got = phase.to_host();
        double worst = 0;
        for (std::size_t k = 0; k + 1 < n; ++k) {
            const double x = static_cast<double>(k);
            const double theory = -share * critical * (x + 1) * (n - 1 - x) / (2.0 * (n - 1));
            worst = std::fmax(worst, std::fabs(std::sin(got[k + 1] - got[k]) - theory));
        }
        std::printf("phases differ from theory by %s 1e-4\n", worst < 1e-4 ? "less than" : "MORE THAN");
    }
}
