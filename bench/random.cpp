// Random numbers stored, f32, by Philox: on GPUs against cuRAND, on CPUs against OpenMP loops over the
// Random123 headers.

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
        state.SetIterationTime(made.balm);
        state.counters["ratio"] = made.ratio;
        state.counters["bar"] = bar;
        state.counters["peer_seconds"] = made.peer;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

void register_all() {
    for (const distribution& d : distributions)
        on_every_device(d.text,
                        [&d](benchmark::State& state, const balm::device& on) { measure(state, d, on); });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
