// Programs of statements, recorded and replayed, against the same programs fused by hand: CUDA kernels, a
// CUDA graph, and OpenMP loops.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peer_cuda.hpp"
#include "peer_program_steps.hpp"
#include "peer_programs.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using floats = balm::vector<float>;

constexpr double bar = 0.95;

/// The peer's functions on the device; null, with the reason in the state, if there are none.
const peer::program_functions* functions_on(const balm::device& on, benchmark::State& state) {
    const char* why = "";
    const auto* const found = peer::cuda_functions_on<peer::program_functions>(on.info().pci_address.c_str(),
                                                                               "peer_cuda_programs", why);
    if (found == nullptr) state.SkipWithError(why);
    return found;
}

/// Measures `made()` in the one iteration.
template <class Compare>
void measure(benchmark::State& state, const Compare& made) {
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state, made(), bar);
    }
}

/// Replays and the peer's steps by turns, `replays` of each per sample.
void compare_on_gpu(benchmark::State& state, const balm::device& on, const balm::recording& step,
                    const peer::program_functions& cuda, void* theirs, int replays) {
    const std::unique_ptr<void, void (*)(void*)> work(theirs, cuda.work.release);
    measure(state, [&] {
        return compare_samples(
            [&](int count) {
                step.repeat(static_cast<std::size_t>(count));
                on.finish();
            },
            [&](int count) {
                for (int k = 0; k < count; ++k) cuda.work.run(work.get());
                cuda.work.finish();
            },
            replays, 15);
    });
}
template <class Theirs>
void compare_on_cpu(benchmark::State& state, const balm::device& on, const balm::recording& step,
                    const Theirs& theirs) {
    const auto replay = [&] {
        step();
        on.finish();
    };
    measure(state, [&] { return compare_in_pairs(replay, theirs); });
}

struct ensemble {
    ensemble(const balm::context& on, std::size_t n, bool stores) : ctx(on), angle(on, n), speed(on, n) {
        angle = 0.5f;
        speed = 0.5f;
        for (std::size_t k = 0; stores && k < 8; ++k) slopes.emplace_back(on, n);
    }
    /// The slopes are new vectors, or those of the ensemble.
    void step() {
        std::vector<floats> own;
        for (std::size_t k = 0; slopes.empty() && k < 8; ++k) own.emplace_back(ctx, angle.size());
        floats* const k = slopes.empty() ? own.data() : slopes.data();
        using peer::dt;
        k[0] = speed;
        k[4] = -sin(angle);
        k[1] = speed + dt / 2 * k[4];
        k[5] = -sin(angle + dt / 2 * k[0]);
        k[2] = speed + dt / 2 * k[5];
        k[6] = -sin(angle + dt / 2 * k[1]);
        k[3] = speed + dt * k[6];
        k[7] = -sin(angle + dt * k[2]);
        angle += dt / 6 * (k[0] + 2.f * k[1] + 2.f * k[2] + k[3]);
        speed += dt / 6 * (k[4] + 2.f * k[5] + 2.f * k[6] + k[7]);
    }

    balm::context ctx;
    floats angle, speed;
    std::vector<floats> slopes;
};

bool is_near(float got, float expected) { return std::abs(got - expected) < 1e-5f; }

void pendulums(benchmark::State& state, const balm::device& on, bool stores) {
    const std::size_t n = large(on) / 2;
    const balm::context ctx({on});
    ensemble all(ctx, n, stores);
    const balm::recording step = balm::record(ctx, [&] { all.step(); });
    step();
    float angle = 0.5f, speed = 0.5f, k[8];
    peer::step_pendulum(angle, speed, k);
    if (!is_near(all.angle[n / 3], angle) || !is_near(all.speed[n - 1], speed))
        return state.SkipWithError("the result is wrong");
    if (!is_cpu(on)) {
        const auto* const cuda = functions_on(on, state);
        if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_pendulums(n, stores), 20);
        return;
    }
    std::vector<float> a(n, 0.5f), s(n, 0.5f), slopes(stores ? 8 * n : 0);
    const peer::openmp::programs& loops = peer::openmp::all_programs();
    compare_on_cpu(state, on, step, [&] {
        if (stores)
            loops.stored_pendulums(a.data(), s.data(), slopes.data(), n);
        else
            loops.pendulums(a.data(), s.data(), n);
    });
}

void adam(benchmark::State& state, const balm::device& on) {
    const std::size_t n = large(on) / 2;
    const balm::context ctx({on});
    floats p(ctx, n), g(ctx, n), m(ctx, n), v(ctx, n);
    for (floats* each : {&p, &g, &m, &v}) *each = 0.5f;
    const balm::recording step = balm::record(ctx, [&] {
        m = peer::beta1 * m + (1 - peer::beta1) * g;
        v = peer::beta2 * v + (1 - peer::beta2) * g * g;
        const floats first = m / 0.5f, second = v / 0.25f;
        p -= peer::learning_rate * first / (sqrt(second) + peer::epsilon);
    });
    step();
    float a = 0.5f, b = 0.5f, c = 0.5f;
    peer::step_adam(a, 0.5f, b, c);
    if (!is_near(p[n / 3], a) || !is_near(m[1], b) || !is_near(v[n - 1], c))
        return state.SkipWithError("the result is wrong");
    if (!is_cpu(on)) {
        const auto* const cuda = functions_on(on, state);
        if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_adam(n), 20);
        return;
    }
    std::vector<float> P(n, 0.5f), G(n, 0.5f), M(n, 0.5f), V(n, 0.5f);
    compare_on_cpu(state, on, step,
                   [&] { peer::openmp::all_programs().adam(P.data(), G.data(), M.data(), V.data(), n); });
}

/// Statements that cannot be one kernel: each reads neighbours that the one before has written.
void averages(floats& x, floats& y, int count) {
    const auto n = static_cast<std::int64_t>(x.size());
    const auto averaged = [n](const floats& from, floats& to) {
        to = 0.5f * (from + from[(balm::element_index() + 1) % n]);
    };
    for (int k = 0; k < count; ++k) averaged(k % 2 == 0 ? x : y, k % 2 == 0 ? y : x);
}

void small_statements(benchmark::State& state, const balm::device& on) {
    constexpr std::size_t n = 4096;
    constexpr int kernels = 20;
    const balm::context ctx({on});
    floats x(ctx, n), y(ctx, n);
    x = 0.5f;
    const balm::recording step = balm::record(ctx, [&] { averages(x, y, kernels); });
    step();
    if (step.size() != kernels || x[n - 1] != 0.5f) return state.SkipWithError("the result is wrong");
    if (!is_cpu(on)) {
        const auto* const cuda = functions_on(on, state);
        if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_averages(n, kernels), 200);
        return;
    }
    compare_on_cpu(state, on, step, [&] {  // the same statements, unrecorded
        averages(x, y, kernels);
        on.finish();
    });
}

/// times_poisson(p, i, n): row i of the seven-point matrix on n × n × n points, times p. Divisions of 32 bits
/// take a quarter of the time of those of 64.
const auto& times_poisson() {
    using namespace balm::dsl;
    static const auto made = balm::function("times_poisson(p, i, n)", [](In<double> p, Int i, Int n) {
        Int x = i % n, y = i / n % n, z = i / (n * n);
        Double sum = 6.0 * p[i];
        IF (x > 0) {
            sum -= p[i - 1];
        }
        IF (x + 1 < n) {
            sum -= p[i + 1];
        }
        IF (y > 0) {
            sum -= p[i - n];
        }
        IF (y + 1 < n) {
            sum -= p[i + n];
        }
        IF (z > 0) {
            sum -= p[i - n * n];
        }
        IF (z + 1 < n) {
            sum -= p[i + n * n];
        }
        return sum;
    });
    return made;
}

/// Conjugate gradients for Poisson's equation, all scalars on the device.
struct gradients {
    gradients(const balm::context& on, std::size_t n)
        : ctx(on),
          side(static_cast<std::int32_t>(n)),
          x(on, n * n * n),
          r(on, n * n * n),
          p(on, n * n * n),
          q(on, n * n * n),
          rho(on, 1) {
        x = 0.0;
        r = 1.0;
        p = 1.0;
        rho = static_cast<double>(n * n * n);
    }
    void step() {
        balm::vector<double> pq(ctx, 1), next(ctx, 1), alpha(ctx, 1), beta(ctx, 1);
        q = times_poisson()(p, balm::cast<std::int32_t>(balm::element_index()), side);
        sum_into(pq, p * q);
        alpha = rho / pq;
        x += alpha * p;
        r -= alpha * q;
        sum_into(next, r * r);
        beta = next / rho;
        rho = next;
        p = r + beta * p;
    }

    balm::context ctx;
    std::int32_t side;
    balm::vector<double> x, r, p, q, rho;
};

void conjugate_gradients(benchmark::State& state, const balm::device& on, std::size_t side) {
    const balm::context ctx({on});
    gradients all(ctx, side);
    const balm::recording step = balm::record(ctx, [&] { all.step(); });
    const std::size_t n = side * side * side;
    std::vector<double> x(n, 0.0), r(n, 1.0), p(n, 1.0), q(n);
    double rho = static_cast<double>(n);
    const auto by_hand = [&] {
        rho = peer::openmp::all_programs().gradients(x.data(), r.data(), p.data(), q.data(), rho, side);
    };
    for (int k = 0; k < 3; ++k) {
        step();
        by_hand();
    }
    for (const std::size_t i : {std::size_t{0}, n / 3, n / 2 + side, n - 1})
        if (std::abs(all.x[i] - x[i]) > 1e-9 * std::abs(x[i]))
            return state.SkipWithError("the result is wrong");
    if (is_cpu(on)) return compare_on_cpu(state, on, step, by_hand);
    const auto* const cuda = functions_on(on, state);
    if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_gradients(side), 20);
}

/// A vector's rows; and an element for each row, for all elements of the rows.
auto in_rows(const floats& of, std::size_t columns) { return balm::view(of, {of.size() / columns, columns}); }
auto of_rows(const floats& rows, std::size_t columns) {
    return balm::view(rows, {rows.size(), std::size_t{1}}).broadcast({rows.size(), columns});
}
void softmax(const floats& x, floats& y, std::size_t columns) {
    const floats most = balm::max(in_rows(x, columns), balm::along(1));
    const floats weight = exp(x - of_rows(most, columns));
    const floats sum = balm::sum(in_rows(weight, columns), balm::along(1));
    y = weight / of_rows(sum, columns);
}
void normalise(const floats& x, floats& y, std::size_t columns) {
    const float part = 1 / static_cast<float>(columns);
    const floats mean = balm::sum(in_rows(x, columns), balm::along(1)) * part;
    const floats apart = x - of_rows(mean, columns);
    const floats variance =
        balm::sum(in_rows(apart, columns) * in_rows(apart, columns), balm::along(1)) * part;
    const floats scale = 1.f / sqrt(variance + peer::least_variance);
    y = apart * of_rows(scale, columns);
}

void of_rows(benchmark::State& state, const balm::device& on, std::size_t columns, bool normalises) {
    const std::size_t n = large(on) * 2, rows = n / columns;
    const balm::context ctx({on});
    floats x(ctx, n), y(ctx, n);
    x = sin(balm::cast<float>(balm::element_index() % std::int64_t{1013}));
    const balm::recording step =
        balm::record(ctx, [&] { normalises ? normalise(x, y, columns) : softmax(x, y, columns); });
    step();
    const peer::openmp::programs& loops = peer::openmp::all_programs();
    const auto by_hand = [&](const float* from, float* to, std::size_t count) {
        (normalises ? loops.normalise : loops.softmax)(from, to, count, columns);
    };
    const std::size_t last = (rows - 1) * columns;
    std::vector<float> row(columns), expected(columns);
    for (std::size_t c = 0; c < columns; ++c) row[c] = x[last + c];
    by_hand(row.data(), expected.data(), 1);
    for (const std::size_t c : {std::size_t{0}, columns / 2, columns - 1})
        if (!is_near(y[last + c], expected[c])) return state.SkipWithError("the result is wrong");
    if (!is_cpu(on)) {
        const auto* const cuda = functions_on(on, state);
        if (cuda != nullptr)
            compare_on_gpu(state, on, step, *cuda, cuda->make_rows(rows, columns, normalises), 20);
        return;
    }
    std::vector<float> from(n, 0.5f), to(n);
    compare_on_cpu(state, on, step, [&] { by_hand(from.data(), to.data(), rows); });
}

void standardise(const floats& x, floats& y, std::size_t columns) {
    const float part = static_cast<float>(columns) / static_cast<float>(x.size());
    const auto of_columns = [&](const floats& each) {
        return balm::view(each, {std::size_t{1}, columns}).broadcast({x.size() / columns, columns});
    };
    const floats mean = balm::sum(in_rows(x, columns), balm::along(0)) * part;
    const floats apart = x - of_columns(mean);
    const floats variance =
        balm::sum(in_rows(apart, columns) * in_rows(apart, columns), balm::along(0)) * part;
    const floats scale = 1.f / sqrt(variance + peer::least_variance);
    y = apart * of_columns(scale);
}

void of_columns(benchmark::State& state, const balm::device& on, std::size_t columns) {
    const std::size_t n = large(on) * 2, rows = n / columns;
    const balm::context ctx({on});
    floats x(ctx, n), y(ctx, n);
    x = sin(balm::cast<float>(balm::element_index() % std::int64_t{1013}));
    const balm::recording step = balm::record(ctx, [&] { standardise(x, y, columns); });
    step();
    const peer::openmp::programs& loops = peer::openmp::all_programs();
    std::vector<float> from = x.to_host(), to(n);
    loops.standardise(from.data(), to.data(), rows, columns);
    for (const std::size_t i : {std::size_t{0}, n / 3, n - 1})
        if (std::abs(y[i] - to[i]) > 1e-3f) return state.SkipWithError("the result is wrong");
    if (!is_cpu(on)) {
        const auto* const cuda = functions_on(on, state);
        if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_columns(rows, columns), 20);
        return;
    }
    compare_on_cpu(state, on, step, [&] { loops.standardise(from.data(), to.data(), rows, columns); });
}

/// The Gray-Scott reaction, with a stencil for each of its substances.
struct reaction {
    reaction(const balm::context& ctx, std::size_t n)
        : side(n), u(ctx, n * n), v(ctx, n * n), next_u(ctx, n * n), next_v(ctx, n * n) {
        u = 1.f;
        v = 0.25f * balm::cast<float>(balm::element_index() % std::int64_t{3});
    }
    void step(const floats& from_u, const floats& from_v, floats& to_u, floats& to_v) const {
        const auto square = [&](const floats& each) { return balm::view(each, {side, side}); };
        const auto around = [](const auto& w) { return w(0, -1) + w(0, 1) + w(-1, 0) + w(1, 0); };
        using namespace peer;
        to_u = balm::stencil(
            balm::border::wrap,
            [&](const auto& a, const auto& b) {
                return a(0, 0) + diffusion_u * (around(a) - 4.f * a(0, 0)) - a(0, 0) * b(0, 0) * b(0, 0) +
                       feed * (1.f - a(0, 0));
            },
            square(from_u), square(from_v));
        to_v = balm::stencil(
            balm::border::wrap,
            [&](const auto& a, const auto& b) {
                return b(0, 0) + diffusion_v * (around(b) - 4.f * b(0, 0)) + a(0, 0) * b(0, 0) * b(0, 0) -
                       (feed + kill) * b(0, 0);
            },
            square(from_u), square(from_v));
    }
    void two_steps() {
        step(u, v, next_u, next_v);
        step(next_u, next_v, u, v);
    }

    std::size_t side;
    floats u, v, next_u, next_v;
};

void gray_scott(benchmark::State& state, const balm::device& on) {
    const std::size_t n = is_cpu(on) ? 2048 : 4096;
    const balm::context ctx({on});
    reaction all(ctx, n);
    std::vector<float> u = all.u.to_host(), v = all.v.to_host(), next_u(n * n), next_v(n * n);
    const balm::recording step = balm::record(ctx, [&] { all.two_steps(); });
    step();
    const auto by_hand = [&] {
        const auto& loops = peer::openmp::all_programs();
        loops.gray_scott(u.data(), v.data(), next_u.data(), next_v.data(), n);
        loops.gray_scott(next_u.data(), next_v.data(), u.data(), v.data(), n);
    };
    by_hand();
    for (const std::size_t i : {std::size_t{0}, n - 1, n * n / 2 + n / 3, n * n - 1})
        if (!is_near(all.u[i], u[i]) || !is_near(all.v[i], v[i]))
            return state.SkipWithError("the result is wrong");
    if (is_cpu(on)) return compare_on_cpu(state, on, step, by_hand);
    const auto* const cuda = functions_on(on, state);
    if (cuda != nullptr) compare_on_gpu(state, on, step, *cuda, cuda->make_gray_scott(n), 20);
}

void register_all() {
    on_every_device("Runge-Kutta 4 of pendulums, by statements, f32",
                    [](benchmark::State& state, const balm::device& on) { pendulums(state, on, false); });
    on_every_device("Runge-Kutta 4 of pendulums, slopes stored, f32",
                    [](benchmark::State& state, const balm::device& on) { pendulums(state, on, true); });
    on_every_device("Adam, by statements, f32", adam);
    for (const std::size_t side : {256, 32, 16})
        on_every_device(
            "conjugate gradients, " + std::to_string(side) + " cubed, f64",
            [=](benchmark::State& state, const balm::device& on) { conjugate_gradients(state, on, side); });
    for (const bool normalises : {false, true})
        for (const std::size_t columns : {1024, 64})
            on_every_device((normalises ? "normalised rows of " : "softmax of rows of ") +
                                std::to_string(columns) + ", f32",
                            [=](benchmark::State& state, const balm::device& on) {
                                of_rows(state, on, columns, normalises);
                            });
    for (const std::size_t columns : {1024, 64})
        on_every_device(
            "standardised columns, " + std::to_string(columns) + ", f32",
            [=](benchmark::State& state, const balm::device& on) { of_columns(state, on, columns); });
    on_every_device("Gray-Scott, two stencils, f32", gray_scott);
    on_every_device("20 dependent statements of 4,096 elements, f32", small_statements);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
