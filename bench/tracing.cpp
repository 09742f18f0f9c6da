// The host cost of defining a kernel: recording the lambda, checking, simplifying, contracting and naming the
// program, before the first line of device code is printed. The instructions counted are those of the
// finished kernel; the trace records two to three times as many (each use of a variable is a read).

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "balm/kernel.hpp"
#include "ir/ir.hpp"

namespace {

using namespace balm::dsl;

constexpr double microsecond = 1e-6;

std::size_t instructions_of(const balm::ir::function& f) {
    std::size_t sum = 0;
    for (const auto& block : f.blocks) sum += block.size();
    return sum;
}

/// A step of Horner's scheme and of a product, unrolled `turns` times; no two steps are alike.
auto straight_line(int turns) {
    return balm::kernel<1>("straight(n, x, y, out)",
                           [turns](Int n, In<float> x, In<float> y, Out<float> out) {
                               Index i = global_id(0);
                               Float a = x[i], b = y[i];
                               for (int k = 0; k < turns; ++k) {
                                   a = a * b - static_cast<float>(k + 1);
                                   b = max(b + a / 3.f, sqrt(a));
                               }
                               out[i] = a + b * n;
                           });
}

/// Loads and stores at every step, across which nothing may be moved.
auto through_memory(int turns) {
    return balm::kernel<1>("memory(x, y)", [turns](In<float> x, Mixed<float> y) {
        Index i = global_id(0);
        for (int k = 0; k < turns; ++k) y[i + k] = y[i + k] * x[i + k] + x[i];
    });
}

/// An array of each work-item's own at every step, stored to and read.
auto through_arrays(int turns) {
    return balm::kernel<1>("arrays(n, x, out)", [turns](Int n, In<float> x, Out<float> out) {
        Index i = global_id(0);
        Float sum = 0.f;
        for (int k = 0; k < turns; ++k) {
            Array<float, 4> own;
            own[n & 3] = x[i + k];
            own[(n + k) & 3] = sum;
            sum += own[(n + 1) & 3] + own[n & 1];
        }
        out[i] = sum;
    });
}

/// Variables that loops and branches change, guarded conditions, and an early exit from a loop.
auto structured(int turns) {
    return balm::kernel<1>("structured(n, a, b, out)",
                           [turns](Int n, In<std::int32_t> a, In<std::int32_t> b, Out<std::int32_t> out) {
                               Int i = cast<std::int32_t>(global_id(0));
                               Int sum = 0, best = -1;
                               for (int k = 0; k < turns; ++k) {
                                   for (Int j : range(n + k)) {
                                       Int value = a[j * n + i] - b[j] * (k + 1);
                                       IF (value > 0 && b[j + k] != value) {
                                           sum += value;
                                           best = max(best, value * 3 + j);
                                       }
                                       ELSE { sum -= value / 2; }
                                       IF (best > 1000 * k) {
                                           break_();
                                       }
                                   }
                               }
                               out[i] = sum ^ best;
                           });
}

/// Defines a kernel of about `count` instructions repeatedly; each instruction may take half a microsecond.
template <class Define>
void trace(benchmark::State& state, Define define, int turns, std::size_t count) {
    const std::size_t has = instructions_of(*define(turns).function());
    if (has < count || has > count + count / 20) {
        state.SkipWithError(("the kernel has " + std::to_string(has) + " instructions").c_str());
        return;
    }
    for (auto iteration : state) {
        static_cast<void>(iteration);
        benchmark::DoNotOptimize(define(turns));
    }
    state.SetLabel("host");
    state.counters["at_most"] = static_cast<double>(count) * microsecond / 2;
}

BENCHMARK_CAPTURE(trace, straight_200, straight_line, 28, 200)->Name("tracing 200 instructions");
BENCHMARK_CAPTURE(trace, structured_200, structured, 6, 200)
    ->Name("tracing 200 instructions, variables, IF and range");
BENCHMARK_CAPTURE(trace, straight_5000, straight_line, 713, 5000)
    ->Name("tracing 5000 instructions, unrolled");
BENCHMARK_CAPTURE(trace, memory_5000, through_memory, 715, 5000)
    ->Name("tracing 5000 instructions, loads and stores");
BENCHMARK_CAPTURE(trace, arrays_26000, through_arrays, 2000, 26000)
    ->Name("tracing 26000 instructions, 2000 private arrays");

}  // namespace

BENCHMARK_MAIN();
