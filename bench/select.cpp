// Selections and reductions by key: on GPUs against CUB and a device copy of the keys, on CPUs against
// OpenMP. Results are written to existing vectors; the count stays on the device.

#include "balm/select.hpp"

#include <algorithm>
#include <cmath>

#include "balm/reduce_by_key.hpp"
#include "peer_cuda.hpp"
#include "peer_select.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using peer::selection;

constexpr double bar = 1.0;
constexpr int calls = 20;

/// What is measured, with the share of elements that are selected, or the length of runs.
struct task {
    selection what;
    double share = 0.5;
    std::size_t run = 1;
};

struct problem {
    task of;
    balm::vector<int> keys, to_keys, lengths;
    balm::vector<float> values, to_values;
    balm::vector<std::int64_t> count;

    problem(const balm::context& where, std::size_t n, const task& asked)
        : of(asked),
          keys(where, n),
          to_keys(where, n),
          lengths(where, n),
          values(where, n),
          to_values(where, n),
          count(where, 1) {
        const auto hash = balm::cast<unsigned>(balm::element_index()) * 2654435769u;
        keys = balm::cast<int>(balm::element_index() / static_cast<std::int64_t>(of.run));
        values = balm::select(balm::cast<double>(hash) < 4294967295.0 * of.share, 1.f, -1.f);
    }
    void run() {
        switch (of.what) {
            case selection::copy_if: return balm::copy_if_into(to_values, count, values, values > 0);
            case selection::unique: return balm::unique_into(to_keys, count, keys);
            case selection::reduce_by_key:
                return balm::reduce_by_key_into(std::tie(to_keys, to_values), count, keys, values);
            case selection::run_length_encode:
                return balm::run_length_encode_into(std::tie(to_keys, lengths), count, keys);
        }
    }
    bool is_right() {
        run();
        const auto found = static_cast<std::size_t>(count[0]);
        const auto k = keys.to_host();
        const auto v = values.to_host();
        std::vector<int> wanted_keys(k.size());
        std::vector<float> wanted(k.size());
        if (of.what == selection::copy_if) {
            const auto n =
                static_cast<std::size_t>(std::count_if(v.begin(), v.end(), [](float a) { return a > 0; }));
            const auto got = to_values.to_host();
            return found == n &&
                   std::all_of(got.begin(), got.begin() + found, [](float a) { return a == 1.f; });
        }
        if (found !=
            peer::openmp::reduce_by_key(k.data(), v.data(), wanted_keys.data(), wanted.data(), k.size()))
            return false;
        const auto got = to_keys.to_host();
        if (!std::equal(got.begin(), got.begin() + found, wanted_keys.begin())) return false;
        if (of.what != selection::reduce_by_key) return true;
        const auto sums = to_values.to_host();  // sums of few ones are exact
        return std::equal(sums.begin(), sums.begin() + found, wanted.begin());
    }
};

comparison compare_on_cpu(problem& p) {
    const auto k = p.keys.to_host();
    const auto v = p.values.to_host();
    std::vector<int> to_keys(k.size());
    std::vector<float> to_values(k.size());
    const auto theirs = [&] {
        switch (p.of.what) {
            case selection::copy_if: return peer::openmp::copy_positive(v.data(), to_values.data(), v.size());
            case selection::unique: return peer::openmp::unique(k.data(), to_keys.data(), k.size());
            default:
                return peer::openmp::reduce_by_key(k.data(), v.data(), to_keys.data(), to_values.data(),
                                                   k.size());
        }
    };
    return compare_in_pairs(
        [&] {
            p.run();
            benchmark::DoNotOptimize(p.count[0]);
        },
        [&] { benchmark::DoNotOptimize(theirs()); });
}

void measure(benchmark::State& state, const balm::device& on, std::size_t n, const task& asked) {
    problem p(balm::context({on}), n, asked);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    measure_work<peer::cuda_select_functions>(
        state, on, {"peer_cuda_select_functions", calls, bar, bar}, [&] { p.run(); },
        [&](const auto& cuda) { return cuda.make(asked.what, n, asked.share, asked.run); },
        [&] { return compare_on_cpu(p); });
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

void register_task(const std::string& name, const task& asked) {
    on_every_device(name, [asked](benchmark::State& state, const balm::device& on) {
        measure(state, on, is_cpu(on) ? large(on) : 2 * large(on), asked);
    });
}

void register_all() {
    register_task("copy_if, half of f32", {selection::copy_if, 0.5});
    register_task("copy_if, 1 % of f32", {selection::copy_if, 0.01});
    register_task("copy_if, 99 % of f32", {selection::copy_if, 0.99});
    register_task("unique of i32, runs of 2", {selection::unique, 0.5, 2});
    for (const std::size_t run : {1, 100, 1000000})
        register_task("reduce_by_key of i32 and f32, runs of " + std::to_string(run),
                      {selection::reduce_by_key, 0.5, run});
    register_task("run_length_encode of i32, runs of 100", {selection::run_length_encode, 0.5, 100});
    for (int bits = 10; bits <= 16; bits += 2)
        for (const selection what : {selection::copy_if, selection::reduce_by_key})
            on_every_device(
                (what == selection::copy_if ? "copy_if of 2^" : "reduce_by_key of 2^") + std::to_string(bits),
                [bits, what](benchmark::State& state, const balm::device& on) {
                    measure(state, on, std::size_t{1} << bits, {what, 0.5, 100});
                });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
