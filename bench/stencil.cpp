// Stencils with shifted views, against hand-written ones: in CUDA on GPUs, with one cell per thread and with
// tiles in shared memory, in OpenMP on CPUs.

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "balm/view.hpp"
#include "peer_cuda.hpp"
#include "peer_stencil.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 1.0;
constexpr int launches = 20;

enum class stencil { wave, points25, points7 };

using peer_function = void (*)(float*, const float*, const float*, std::size_t);
peer_function of(const peer::stencil_functions& all, stencil what) {
    return what == stencil::wave ? all.wave : what == stencil::points25 ? all.points25 : all.points7;
}

struct problem {
    stencil what;
    std::size_t m, n;
    balm::vector<float> from, other, to;

    problem(stencil which, const balm::context& where, bool on_cpu)
        : what(which),
          m(which == stencil::points7 ? (on_cpu ? 256 : 512) : (on_cpu ? 4096 : 8192)),
          n(which == stencil::points7 ? m * m * m : m * m),
          from(where, n),
          other(where, n),
          to(where, n, 0.f) {
        from = balm::cast<float>(balm::element_index() % 1009);
        other = balm::cast<float>(balm::element_index() % 997);
    }
    void run() {
        const auto end = static_cast<std::int64_t>(m);
        const auto inner = balm::slice(1, end - 1), before = balm::slice(0, end - 2),
                   after = balm::slice(2, end);
        if (what == stencil::points7) {
            const auto x = balm::view(from, {m, m, m});
            balm::view(to, {m, m, m})(inner, inner, inner) =
                x(before, inner, inner) + x(after, inner, inner) + x(inner, before, inner) +
                x(inner, after, inner) + x(inner, inner, before) + x(inner, inner, after) -
                6.f * x(inner, inner, inner);
            return;
        }
        const auto x = balm::view(from, {m, m});
        auto y = balm::view(to, {m, m});
        if (what == stencil::wave) {
            y(inner, inner) = 2.f * x(inner, inner) - balm::view(other, {m, m})(inner, inner) +
                              0.1f * (x(before, inner) + x(after, inner) + x(inner, before) +
                                      x(inner, after) - 4.f * x(inner, inner));
            return;
        }
        const auto term = [&](std::int64_t k) {
            const std::int64_t i = k / 5, j = k % 5;
            return 0.01f * static_cast<float>(k) *
                   x(balm::slice(i, end - 4 + i), balm::slice(j, end - 4 + j));
        };
        auto sum = term(0) + term(1);
        for (std::int64_t k = 2; k < 25; ++k) sum = std::move(sum) + term(k);
        y(balm::slice(2, end - 2), balm::slice(2, end - 2)) = sum;
    }
    /// Bytes that must be moved.
    std::size_t bytes() const { return (what == stencil::wave ? 3 : 2) * n * sizeof(float); }
};

/// Compares all cells with those of the OpenMP stencil on the same arrays, up to rounding.
bool is_right(problem& p) {
    p.run();
    const auto from = p.from.to_host(), other = p.other.to_host(), got = p.to.to_host();
    std::vector<float> wanted(p.n);
    of(peer::openmp::stencils, p.what)(wanted.data(), from.begin(), other.begin(), p.m);
    for (std::size_t k = 0; k < p.n; ++k)
        if (!(std::abs(got.begin()[k] - wanted[k]) <= 0.02f)) return false;
    return true;
}

comparison compare_on_cpu(const balm::device& on, problem& p) {
    const auto from = p.from.to_host(), other = p.other.to_host();
    std::vector<float> to(p.n);
    return compare_in_pairs(
        [&] {
            p.run();
            on.finish();
        },
        [&] { of(peer::openmp::stencils, p.what)(to.data(), from.begin(), other.begin(), p.m); });
}

const char* measure_gpu(benchmark::State& state, const balm::device& on, problem& p) {
    const char* const address = on.info().pci_address.c_str();
    const char* why = nullptr;
    const peer::cuda_functions* const cuda = peer::cuda_on(address, why);
    if (cuda == nullptr) return why;
    const auto* const cells =
        peer::cuda_functions_on<peer::stencil_functions>(address, "peer_cuda_stencils", why);
    const auto* const tiles =
        peer::cuda_functions_on<peer::stencil_functions>(address, "peer_cuda_tiled_stencils", why);
    if (cells == nullptr || tiles == nullptr) return why;
    const auto allocate = [&] {
        return std::unique_ptr<double, void (*)(double*)>(cuda->allocate(p.n / 2, 1), cuda->release);
    };
    const auto from = allocate(), other = allocate(), to = allocate();
    const auto beside = [&](const auto& theirs) {
        return compare_samples(
            [&](int count) {
                for (int k = 0; k < count; ++k) p.run();
                on.finish();
            },
            [&](int count) {
                for (int k = 0; k < count; ++k) theirs();
                cuda->finish();
            },
            launches);
    };
    const auto floats = [](const auto& memory) { return reinterpret_cast<float*>(memory.get()); };
    const auto by_hand = [&](const peer::stencil_functions& all) {
        return [&, run = of(all, p.what)] { run(floats(to), floats(from), floats(other), p.m); };
    };
    const comparison made = beside(by_hand(*cells)), tiled = beside(by_hand(*tiles));
    // A copy moves two arrays.
    const comparison copied = beside([&] { cuda->copy(to.get(), from.get(), p.n / 2); });
    report(state, made, bar);
    state.counters["of_tiles"] = tiled.ratio;
    state.counters["of_copy"] =
        copied.ratio * static_cast<double>(p.bytes()) / static_cast<double>(2 * p.n * sizeof(float));
    return nullptr;
}

void measure(benchmark::State& state, const balm::device& on, stencil what) {
    problem p(what, balm::context({on}), is_cpu(on));
    if (!is_right(p)) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        if (is_cpu(on))
            report(state, compare_on_cpu(on, p), bar);
        else if (const char* const why = measure_gpu(state, on, p))
            return state.SkipWithError(why);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(p.bytes()));
}

void register_all() {
    const auto one = [](const char* words, stencil what) {
        on_every_device(
            words, [what](benchmark::State& state, const balm::device& on) { measure(state, on, what); });
    };
    one("wave equation, 5 points", stencil::wave);
    one("5 x 5 points", stencil::points25);
    one("7 points", stencil::points7);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
