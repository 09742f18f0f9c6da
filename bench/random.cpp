// Philox random numbers in f32: stored, on GPUs against cuRAND, on CPUs against OpenMP loops over the
// Random123 headers; and consumed directly, by a reduction that counts points in a circle.

#include <cmath>
#include <memory>
#include <vector>

#include "peer_cuda.hpp"
#include "peer_random.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr std::uint64_t seed = 42;
constexpr double bar = 1.0;
constexpr int launches = 20;

struct distribution {
    const char* text;
    void (*draw)(balm::vector<float>& out);
    float (*host)(std::size_t i);
    void (*openmp)(std::uint64_t, float*, std::size_t);
    void (*peer::cuda_random_functions::*cuda)(void*);
};

constexpr distribution distributions[] = {
    {"uniform, f32, stored",
     [](balm::vector<float>& out) { out = balm::uniform<float>()(balm::element_index(), seed); },
     [](std::size_t i) { return balm::uniform<float>()(i, seed); }, peer::openmp::uniform,
     &peer::cuda_random_functions::uniform},
    {"normal, f32, stored",
     [](balm::vector<float>& out) { out = balm::normal<float>()(balm::element_index(), seed); },
     [](std::size_t i) { return balm::normal<float>()(i, seed); }, peer::openmp::normal,
     &peer::cuda_random_functions::normal},
};

bool is_right(const distribution& d, const balm::vector<float>& drawn) {
    for (std::size_t i = 0; i < drawn.size(); i += drawn.size() / 101 + 1)
        if (drawn[i] != d.host(i)) return false;
    return true;
}

comparison on_cpu(const distribution& d, const balm::device& on, balm::vector<float>& out) {
    std::vector<float> theirs(out.size());
    return compare_in_pairs(
        [&] {
            d.draw(out);
            on.finish();
        },
        [&] { d.openmp(seed, theirs.data(), theirs.size()); });
}

comparison on_gpu(const distribution& d, const balm::device& on, balm::vector<float>& out,
                  const peer::cuda_random_functions& cuda, void* theirs) {
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) d.draw(out);
            on.finish();
        },
        [&](int count) {
            for (int k = 0; k < count; ++k) (cuda.*d.cuda)(theirs);
            cuda.finish();
        },
        launches);
}

void measure(benchmark::State& state, const distribution& d, const balm::device& on) {
    const std::size_t n = 2 * large(on);
    balm::vector<float> out(balm::context({on}), n);
    d.draw(out);
    if (!is_right(d, out)) return state.SkipWithError("the result is wrong");
    const char* why = "";
    const peer::cuda_random_functions* cuda = nullptr;
    if (!is_cpu(on)) {
        cuda = peer::cuda_functions_on<peer::cuda_random_functions>(on.info().pci_address.c_str(),
                                                                    "peer_cuda_random_functions", why);
        if (cuda == nullptr) return state.SkipWithError(why);
    }
    const std::unique_ptr<void, void (*)(void*)> theirs(
        cuda ? cuda->make(n) : nullptr, cuda ? cuda->release : [](void*) {});
    if (cuda != nullptr && theirs == nullptr) return state.SkipWithError("there is no libcurand.so.10");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = is_cpu(on) ? on_cpu(d, on, out) : on_gpu(d, on, out, *cuda, theirs.get());
        report(state, made, bar);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

/// The least cost of a point of the square, in operations on 32 bits or products of two 32-bit numbers: half
/// a block of Philox (10 products, 20 exclusive-ors, 9 additions to the keys), two shifts, conversions and
/// multiplications, and 4 to compare and count.
constexpr double operations_a_point = 10 + 20 + 9 + 6 + 4;

/// Operations per second with every lane busy: 128 lanes per multiprocessor of NVIDIA's GPUs since compute
/// capability 8.6 and 9.0; 16 per core with 512-bit vectors.
double roof(const balm::device& on) {
    const double lanes = is_cpu(on) ? 16 : 128;
    return on.info().compute_units * lanes * on.info().max_clock * 1e6;
}

void measure_pi(benchmark::State& state, const balm::device& on) {
    const std::size_t n = 2 * large(on);
    const balm::context where({on});
    const balm::vector<float> one(where, 1,
                                  1.f);  // places the expression on this device
    const balm::uniform<float> number;
    const auto i = balm::element_index(0, n);
    const auto inside = [&](std::uint64_t from) {
        const auto x = number(i, from, 0), y = number(i, from, 1);
        return balm::sum(x * x + y * y < one[balm::constant(std::int64_t{0}) * i]);
    };
    // Within 6 standard deviations.
    const double share = static_cast<double>(inside(seed)) / static_cast<double>(n),
                 quarter = 0.78539816339744831;
    if (std::abs(share - quarter) > 6 * std::sqrt(quarter * (1 - quarter) / static_cast<double>(n)))
        return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        std::vector<double> times;
        for (int k = 0; k < 21; ++k)
            times.push_back(
                seconds([&] { benchmark::DoNotOptimize(inside(static_cast<std::uint64_t>(k))); }));
        const double time = median(times);
        state.SetIterationTime(time);
        state.counters["share_of_roof"] = operations_a_point * static_cast<double>(n) / time / roof(on);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

void register_all() {
    on_every_device("Monte Carlo π, points", measure_pi);
    for (const distribution& d : distributions)
        on_every_device(d.text,
                        [&d](benchmark::State& state, const balm::device& on) { measure(state, d, on); });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
