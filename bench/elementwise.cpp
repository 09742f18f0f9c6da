// Fused element-wise statements on large arrays, f32 and f64, of sizes that are and are not multiples of a
// short vector: on GPUs against hand-written CUDA kernels, on CPUs against OpenMP loops, which use libmvec if
// the statement is a single elementary function.

#include "peer_elementwise.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "peer_cuda.hpp"
#include "peer_openmp.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

template <class T>
struct statement {
    using vector = balm::vector<T>;
    const char* text;
    void (*evaluate)(vector& out, const vector& a, const vector& b);
    typename peer::elementwise_functions<T>::statement peer::elementwise_functions<T>::*peer;
    double (*host)(double a, double b);
    int arrays = 3;         ///< read and written
    double cpu_bar = 0.97;  ///< against OpenMP
    const peer::elementwise& (*openmp)() = peer::openmp::exact_loops;
};

constexpr double gpu_bar = 0.98;
constexpr int launches = 20;

template <class T>
using peers = peer::elementwise_functions<T>;
template <class T>
constexpr statement<T> statements[] = {
    {"C = A + B", [](auto& out, const auto& a, const auto& b) { out = a + b; }, &peers<T>::add,
     [](double a, double b) { return a + b; }},
    {"Y = 2*X - sin(Z)", [](auto& out, const auto& a, const auto& b) { out = 2 * a - sin(b); },
     &peers<T>::twice_minus_sine, [](double a, double b) { return 2 * a - std::sin(b); }},
    {"Z = (X - Y)*(X + Y)/(1 + Y*Y)",
     [](auto& out, const auto& a, const auto& b) { out = (a - b) * (a + b) / (1 + b * b); },
     &peers<T>::polynomial, [](double a, double b) { return (a - b) * (a + b) / (1 + b * b); }},
    {"Y = exp(X)", [](auto& out, const auto& a, const auto&) { out = exp(a); }, &peers<T>::exp,
     [](double a, double) { return std::exp(a); }, 2, 0.8, peer::openmp::fast_loops},
    {"Y = log(X)", [](auto& out, const auto& a, const auto&) { out = log(a); }, &peers<T>::log,
     [](double a, double) { return std::log(a); }, 2, 0.8, peer::openmp::fast_loops},
    {"Y = sin(X)", [](auto& out, const auto& a, const auto&) { out = sin(a); }, &peers<T>::sin,
     [](double a, double) { return std::sin(a); }, 2, 0.4, peer::openmp::fast_loops},
    {"Z = pow(X, Y)", [](auto& out, const auto& a, const auto& b) { out = pow(a, b); }, &peers<T>::pow,
     [](double a, double b) { return std::pow(a, b); }, 3, 0.15, peer::openmp::fast_loops},
};

template <class T>
struct arrays {
    arrays(const balm::device& on, std::size_t n) : where({on}), a(where, n), b(where, n), out(where, n) {
        const auto i = balm::element_index();
        a = 1 + T(1e-6) * balm::cast<T>(i % 1000003);
        b = 2 + T(1e-6) * balm::cast<T>(i % 1000003);
    }
    balm::context where;
    balm::vector<T> a, b, out;
};

template <class T>
bool is_right(const statement<T>& s, const arrays<T>& used) {
    // Relative to at least 1: differences of numbers of the order of 1 are no more precise. pow may be off by
    // 16 units.
    constexpr double epsilon = 20.0 * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < used.out.size(); i += used.out.size() / 13 - 1) {
        const double expected = s.host(used.a[i], used.b[i]);
        if (!(std::abs(used.out[i] - expected) <= epsilon * (1 + std::abs(expected)))) return false;
    }
    return true;
}

/// The peer's memory, from allocators of doubles.
template <class T, class Release>
struct peer_arrays {
    template <class Allocate>
    peer_arrays(const peers<T>& on, std::size_t n, Allocate&& allocate, Release release)
        : a(allocate(doubles(n), 1), release),
          b(allocate(doubles(n), 2), release),
          out(allocate(doubles(n), 0), release) {
        on.set(of(a), 1, n);
        on.set(of(b), 2, n);
    }
    using memory = std::unique_ptr<double, Release>;
    static std::size_t doubles(std::size_t n) {
        return (n * sizeof(T) + sizeof(double) - 1) / sizeof(double);
    }
    static T* of(const memory& m) { return reinterpret_cast<T*>(m.get()); }
    memory a, b, out;
};

template <class T>
comparison on_cpu(const statement<T>& s, const balm::device& on, arrays<T>& used) {
    const std::size_t n = used.out.size();
    const peers<T>& loops = s.openmp().template of<T>();
    const peer_arrays<T, void (*)(double*)> theirs(loops, n, peer::openmp::allocate, peer::openmp::release);
    return compare_in_pairs(
        [&] {
            s.evaluate(used.out, used.a, used.b);
            on.finish();
        },
        [&] { (loops.*s.peer)(theirs.of(theirs.a), theirs.of(theirs.b), theirs.of(theirs.out), n); });
}

template <class T>
comparison on_gpu(const statement<T>& s, const balm::device& on, arrays<T>& used,
                  const peer::cuda_functions& cuda, const peers<T>& kernels) {
    const std::size_t n = used.out.size();
    const peer_arrays<T, void (*)(double*)> theirs(kernels, n, cuda.allocate, cuda.release);
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) s.evaluate(used.out, used.a, used.b);
            on.finish();
        },
        [&](int count) {
            for (int k = 0; k < count; ++k)
                (kernels.*s.peer)(theirs.of(theirs.a), theirs.of(theirs.b), theirs.of(theirs.out), n);
            cuda.finish();
        },
        launches);
}

template <class T>
void measure(benchmark::State& state, const statement<T>& s, const balm::device& on, std::size_t fewer) {
    const std::size_t n = large(on) - fewer;
    arrays<T> used(on, n);
    s.evaluate(used.out, used.a, used.b);
    if (!is_right(s, used)) return state.SkipWithError("the result is wrong");
    const char* why = "";
    const char* const address = on.info().pci_address.c_str();
    const peer::cuda_functions* const cuda = is_cpu(on) ? nullptr : peer::cuda_on(address, why);
    const auto* const kernels =
        cuda ? peer::cuda_functions_on<peer::elementwise>(address, "peer_cuda_elementwise", why) : nullptr;
    if (!is_cpu(on) && kernels == nullptr) return state.SkipWithError(why);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made =
            is_cpu(on) ? on_cpu(s, on, used) : on_gpu(s, on, used, *cuda, kernels->template of<T>());
        report(state, made, is_cpu(on) ? s.cpu_bar : gpu_bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<std::size_t>(s.arrays) * n * sizeof(T)));
}

template <class T>
void register_statements(const char* type) {
    for (const statement<T>& s : statements<T>)
        for (const std::size_t fewer : {0, 3}) {
            if (fewer != 0 && s.openmp != peer::openmp::exact_loops)
                continue;  // the loop is that of the others
            const std::string name = std::string(s.text) + ", " + type + (fewer ? ", 2^k - 3 elements" : "");
            on_every_device(name, [&s, fewer](benchmark::State& state, const balm::device& on) {
                measure(state, s, on, fewer);
            });
        }
}

void register_all() {
    register_statements<double>("f64");
    register_statements<float>("f32");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
