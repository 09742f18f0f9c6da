// Y += a * X on GPUs, for elements of 1 to 16 bytes, with operands that start at element 0 or 1, against
// hand-written CUDA with 16-byte accesses.

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "peer_axpy.hpp"
#include "peer_cuda.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.98;
constexpr int launches = 20;
constexpr std::size_t bytes = std::size_t{1} << 30;

/// Where the operands begin.
enum class start { aligned, both_at_1, x_at_1 };

template <class T>
struct operands;
template <>
struct operands<std::int8_t> {
    static constexpr int a = 3;
    using peer_type = std::int8_t;
    static constexpr auto function = &peer::axpy_functions::i8;
};
template <>
struct operands<balm::half> {
    static constexpr float a = 3;
    using peer_type = peer::half_bits;
    static constexpr auto function = &peer::axpy_functions::f16;
};
template <>
struct operands<float> {
    static constexpr float a = 3;
    using peer_type = float;
    static constexpr auto function = &peer::axpy_functions::f32;
};
template <>
struct operands<double> {
    static constexpr double a = 3;
    using peer_type = double;
    static constexpr auto function = &peer::axpy_functions::f64;
};
template <>
struct operands<std::complex<double>> {
    static constexpr double a = 3;
    using peer_type = std::complex<double>;
    static constexpr auto function = &peer::axpy_functions::c64;
};

template <class T>
void measure(benchmark::State& state, const balm::device& on, start from) {
    if (is_cpu(on)) return state.SkipWithError("of GPUs; bench_elementwise has the loops of CPUs");
    const std::size_t n = bytes / sizeof(T);
    const std::size_t y_at = from == start::both_at_1 ? 1 : 0, x_at = from == start::aligned ? 0 : 1;
    const auto to = static_cast<std::int64_t>(n);
    const balm::context where({on});
    balm::vector<T> x(where, n + x_at), y(where, n + y_at);
    x = T(1);
    y = T(0);
    const auto from_1 = balm::slice(1, to + 1);
    const auto evaluate = [&] {
        switch (from) {
            case start::aligned: y += operands<T>::a * x; break;
            case start::x_at_1: y += operands<T>::a * x(from_1); break;
            case start::both_at_1: y(from_1) += operands<T>::a * x(from_1); break;
        }
    };
    evaluate();
    for (const std::size_t i : {std::size_t{0}, n / 3, n - 1})
        if (y[i + y_at] != T(3)) return state.SkipWithError("the result is wrong");

    const char* why = "";
    const char* const address = on.info().pci_address.c_str();
    const peer::cuda_functions* const cuda = peer::cuda_on(address, why);
    const auto* const kernels =
        cuda ? peer::cuda_functions_on<peer::axpy_functions>(address, "peer_cuda_axpy", why) : nullptr;
    if (kernels == nullptr) return state.SkipWithError(why);
    using element = typename operands<T>::peer_type;
    using memory = std::unique_ptr<double, void (*)(double*)>;
    const auto allocate = [&] {
        return memory(cuda->allocate(bytes / sizeof(double) + 2, 0), cuda->release);
    };
    const memory peer_x = allocate(), peer_y = allocate();
    auto* const x_there = reinterpret_cast<element*>(peer_x.get()) + x_at;
    auto* const y_there = reinterpret_cast<element*>(peer_y.get()) + y_at;

    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = compare_samples(
            [&](int count) {
                for (int k = 0; k < count; ++k) evaluate();
                on.finish();
            },
            [&](int count) {
                for (int k = 0; k < count; ++k) (kernels->*operands<T>::function)(y_there, x_there, 3, n);
                cuda->finish();
            },
            launches, 11);
        report(state, made, bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(3 * bytes));
}

template <class T>
void register_type(const std::string& type) {
    constexpr std::pair<start, const char*> starts[] = {{start::aligned, ""},
                                                        {start::both_at_1, ", both from element 1 on"},
                                                        {start::x_at_1, ", X from element 1 on"}};
    for (const auto& [from, words] : starts)
        on_every_device(
            "Y += a * X, " + type + words,
            [from = from](benchmark::State& state, const balm::device& on) { measure<T>(state, on, from); });
}

void register_all() {
    register_type<std::int8_t>("i8");
    register_type<balm::half>("f16");
    register_type<float>("f32");
    register_type<double>("f64");
    register_type<std::complex<double>>("complex f64");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
