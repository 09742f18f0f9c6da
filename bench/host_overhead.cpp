// The host cost of a statement whose kernel is already compiled: everything up to the driver calls, measured
// on a device that does nothing.

#include <benchmark/benchmark.h>

#include "balm/balm.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"

namespace {

constexpr double microsecond = 1e-6;

balm::device null_device() {
    static const balm::device made(
        balm::runtime::device_state::make(balm::null::make_null_device(balm::runtime::dialect::cuda_cpp)));
    return made;
}

void at_most(benchmark::State& state, double seconds) {
    state.SetLabel("host");
    state.counters["at_most"] = seconds;
}

constexpr std::size_t n = 1 << 20;

void addition(benchmark::State& state) {
    const balm::context where({null_device()});
    balm::vector<double> a(where, n), b(where, n), c(where, n);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        c = a + b;
    }
    at_most(state, microsecond);
}
BENCHMARK(addition)->Name("host's share of C = A + B");

void ten_terminals(benchmark::State& state) {
    const balm::context where({null_device()});
    balm::vector<double> a(where, n), b(where, n), c(where, n), d(where, n), e(where, n), out(where, n);
    double s = 2;
    for (auto iteration : state) {
        static_cast<void>(iteration);
        out = s * a + b * c - d / e + sin(a) * b + 0.5 * c;
        s += 1e-9;
    }
    at_most(state, microsecond / 2);
}
BENCHMARK(ten_terminals)->Name("host's share of an expression of ten terminals");

void allocation(benchmark::State& state) {
    const std::shared_ptr<balm::runtime::device_state> on = null_device().state();
    for (auto iteration : state) {
        static_cast<void>(iteration);
        benchmark::DoNotOptimize(on->allocate(n, {"a buffer", balm::shape(n), 1}));
    }
    at_most(state, microsecond / 2);
}
BENCHMARK(allocation)->Name("memory from the pool, and back");

void reduction(benchmark::State& state) {
    const balm::context where({null_device()});
    balm::vector<double> a(where, n), b(where, n);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        benchmark::DoNotOptimize(balm::sum(a * b));
    }
    state.SetLabel("host");
}
BENCHMARK(reduction)->Name("host's share of sum(x * y)");

// `on_this` is a device or a queue.
template <class On>
void execute(benchmark::State& state, const On& on_this) {
    using namespace balm::dsl;
    const auto scale =
        balm::kernel<1>("scale(factor, in, out)", [](Double factor, In<double> in, Out<double> out) {
            Index i = global_id(0);
            out[i] = factor * in[i];
        });
    const balm::device device = null_device();
    const auto in = device.in_buffer<double>(n);
    const auto out = device.out_buffer<double>(n);
    On on = on_this;
    for (auto iteration : state) {
        static_cast<void>(iteration);
        on.execute(scale(2.0, in, out), {n});
    }
    at_most(state, microsecond / 2);
}

void kernel_execute(benchmark::State& state) { execute(state, null_device()); }
BENCHMARK(kernel_execute)->Name("host's share of execute(scale(2.0, in, out))");

void queue_execute(benchmark::State& state) { execute(state, null_device().make_queue(false)); }
BENCHMARK(queue_execute)->Name("host's share of queue.execute(scale(2.0, in, out)), untimed");

}  // namespace

BENCHMARK_MAIN();
