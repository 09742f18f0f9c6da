// `C = A + B` and `Y = 2*X - sin(Z)` in double precision on large arrays: on GPUs against hand-written CUDA
// kernels, on CPUs against OpenMP loops.

#include <cmath>
#include <memory>

#include "peer_cuda.hpp"
#include "peer_openmp.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using vector = balm::vector<double>;

struct statement {
    const char* text;
    void (*evaluate)(vector& out, const vector& a, const vector& b);
    void (*openmp)(const double* a, const double* b, double* out, std::size_t n);
    void (*peer::cuda_functions::*cuda)(const double* a, const double* b, double* out, std::size_t n);
    double (*host)(double a, double b);
};

constexpr statement statements[] = {
    {"C = A + B, f64", [](vector& out, const vector& a, const vector& b) { out = a + b; }, peer::openmp::add,
     &peer::cuda_functions::add, [](double a, double b) { return a + b; }},
    {"Y = 2*X - sin(Z), f64", [](vector& out, const vector& a, const vector& b) { out = 2 * a - sin(b); },
     peer::openmp::twice_minus_sine, &peer::cuda_functions::twice_minus_sine,
     [](double a, double b) { return 2 * a - std::sin(b); }},
};

constexpr double gpu_bar = 0.97, cpu_bar = 0.9;
constexpr int launches = 20;

struct arrays {
    arrays(const balm::device& on, std::size_t n) : where({on}), a(where, n), b(where, n), out(where, n) {
        const auto i = balm::element_index();
        a = 1 + 1e-6 * balm::cast<double>(i % 1000003);
        b = 2 + 1e-6 * balm::cast<double>(i % 1000003);
    }
    balm::context where;
    vector a, b, out;
};

bool is_right(const statement& s, const arrays& used) {
    for (std::size_t i = 0; i < used.out.size(); i += used.out.size() / 13 - 1) {
        const double expected = s.host(used.a[i], used.b[i]);
        if (!(std::abs(used.out[i] - expected) <= 1e-14 * std::abs(expected) + 1e-15)) return false;
    }
    return true;
}

using host_memory = std::unique_ptr<double, decltype(&peer::openmp::release)>;
using device_memory = std::unique_ptr<double, void (*)(double*)>;

comparison on_cpu(const statement& s, const balm::device& on, arrays& used) {
    const std::size_t n = used.out.size();
    const host_memory a(peer::openmp::allocate(n, 1), peer::openmp::release);
    const host_memory b(peer::openmp::allocate(n, 2), peer::openmp::release);
    const host_memory out(peer::openmp::allocate(n, 0), peer::openmp::release);
    return compare_in_pairs(
        [&] {
            s.evaluate(used.out, used.a, used.b);
            on.finish();
        },
        [&] { s.openmp(a.get(), b.get(), out.get(), n); });
}

comparison on_gpu(const statement& s, const balm::device& on, arrays& used,
                  const peer::cuda_functions& cuda) {
    const std::size_t n = used.out.size();
    const device_memory a(cuda.allocate(n, 1), cuda.release);
    const device_memory b(cuda.allocate(n, 2), cuda.release);
    const device_memory out(cuda.allocate(n, 0), cuda.release);
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) s.evaluate(used.out, used.a, used.b);
            on.finish();
        },
        [&](int count) {
            for (int k = 0; k < count; ++k) (cuda.*s.cuda)(a.get(), b.get(), out.get(), n);
            cuda.finish();
        },
        launches);
}

void measure(benchmark::State& state, const statement& s, const balm::device& on) {
    const std::size_t n = large(on);
    arrays used(on, n);
    s.evaluate(used.out, used.a, used.b);
    if (!is_right(s, used)) return state.SkipWithError("the result is wrong");
    const char* why = "";
    const peer::cuda_functions* const cuda =
        is_cpu(on) ? nullptr : peer::cuda_on(on.info().pci_address.c_str(), why);
    if (!is_cpu(on) && cuda == nullptr) return state.SkipWithError(why);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = is_cpu(on) ? on_cpu(s, on, used) : on_gpu(s, on, used, *cuda);
        state.SetIterationTime(made.balm);
        state.counters["ratio"] = made.ratio;
        state.counters["bar"] = is_cpu(on) ? cpu_bar : gpu_bar;
        state.counters["peer_seconds"] = made.peer;
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(3 * n * sizeof(double)));
}

void register_all() {
    for (const statement& s : statements)
        on_every_device(s.text,
                        [&s](benchmark::State& state, const balm::device& on) { measure(state, s, on); });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
