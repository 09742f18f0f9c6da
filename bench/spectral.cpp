// Convolutions of two arrays of floats, and cosine transforms: on GPUs against cuFFT, on CPUs against FFTW
// (all cores). A peer's convolution is two real transforms, a product and one transform back, of operands
// that are already padded; on GPUs a cosine transform is compared with a real transform of the same size by
// cuFFT, which moves as many bytes.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "balm/spectral.hpp"
#include "balm/vector.hpp"
#include "peer_cuda.hpp"
#include "peer_fft.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 0.95, gpu_bar_of_cosines = 0.6, cpu_bar = 0.5;
constexpr int calls = 20;

struct spectral_task {
    std::size_t n = 0, weights = 0;  ///< no weights: a cosine transform
    int type = 2;
};

/// The smallest even size, at least `least`, with no prime factors above 7.
std::size_t quick_size(std::size_t least) {
    for (std::size_t n = least;; ++n) {
        std::size_t rest = n;
        for (const std::size_t p : {2u, 3u, 5u, 7u})
            while (rest % p == 0) rest /= p;
        if (rest == 1 && n % 2 == 0) return n;
    }
}
float value_of(std::size_t k) { return static_cast<float>(k % 1009) * 0.001f; }

struct problem {
    spectral_task task;
    balm::vector<float> x, h, y;

    problem(const balm::context& where, const spectral_task& asked)
        : task(asked),
          x(where, asked.n),
          h(where, std::max<std::size_t>(asked.weights, 1)),
          y(where, asked.n + asked.weights - (asked.weights > 0 ? 1 : 0)) {
        x = balm::cast<float>(balm::element_index() % 1009) * 0.001f;
        h = balm::cast<float>(balm::element_index() % 1009) * 0.001f;
    }
    void run() {
        if (task.weights > 0)
            y = balm::convolve(x, h);
        else
            y = balm::dct(x, task.type);
    }
    double wanted(std::size_t k) const {
        double sum = 0;
        if (task.weights > 0) {
            for (std::size_t j = k < task.n ? 0 : k - task.n + 1; j < std::min(task.weights, k + 1); ++j)
                sum += static_cast<double>(value_of(j)) * static_cast<double>(value_of(k - j));
            return sum;
        }
        constexpr double pi = 3.14159265358979323846;
        for (std::size_t j = 0; j < task.n; ++j) {
            const std::size_t odd = task.type == 2 ? k : 2 * k + 1;
            const std::size_t turns = odd * (2 * j + 1) % (task.type == 2 ? 4 * task.n : 8 * task.n);
            sum += 2 * static_cast<double>(value_of(j)) *
                   std::cos(pi * static_cast<double>(turns) /
                            static_cast<double>(task.type == 2 ? 2 * task.n : 4 * task.n));
        }
        return sum;
    }
    bool is_right() const {
        const auto got = y.to_host();
        double largest = 0;
        for (const float value : got) largest = std::max(largest, std::abs(static_cast<double>(value)));
        for (std::size_t k = 0; k < got.size(); k += 1 + got.size() / 7)
            if (!(std::abs(static_cast<double>(got[k]) - wanted(k)) <= 2e-6 * largest)) return false;
        return true;
    }
};

void measure(benchmark::State& state, const balm::device& on, const spectral_task& task) {
    problem p(balm::context({on}), task);
    p.run();
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    const bool is_convolution = task.weights > 0;
    const peer::spectral_problem what{is_convolution ? quick_size(task.n + task.weights - 1) : task.n,
                                      is_convolution};
    const char* why = "";
    const peer::cuda_spectral_functions* cuda = nullptr;
    if (!is_cpu(on)) {
        cuda = peer::cuda_functions_on<peer::cuda_spectral_functions>(on.info().pci_address.c_str(),
                                                                      "peer_cuda_spectral_functions", why);
        if (cuda == nullptr) return state.SkipWithError(why);
    }
    const std::unique_ptr<void, void (*)(void*)> theirs(
        cuda ? cuda->make(what) : peer::fftw::make_spectral(what),
        cuda ? cuda->release : peer::fftw::release_spectral);
    if (cuda != nullptr && theirs == nullptr) return state.SkipWithError("there is no libcufft.so");
    const auto run_all = [&](int count) {
        for (int k = 0; k < count; ++k) p.run();
        on.finish();
    };
    for (auto iteration : state) {
        static_cast<void>(iteration);
        if (cuda != nullptr)
            report(state,
                   compare_samples(
                       run_all,
                       [&](int count) {
                           for (int k = 0; k < count; ++k) cuda->run(theirs.get());
                           cuda->finish();
                       },
                       calls),
                   is_convolution ? gpu_bar : gpu_bar_of_cosines);
        else if (theirs == nullptr)
            report(state, {compare_in_pairs([&] { run_all(1); }, [] {}, 11).balm, 0, 0}, 0);
        else
            report(state,
                   compare_in_pairs([&] { run_all(1); }, [&] { peer::fftw::run_spectral(theirs.get()); }, 11),
                   cpu_bar);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(p.y.size()));
}

void register_one(const std::string& name, const spectral_task& on_gpu, const spectral_task& on_cpu) {
    on_every_device(name, [=](benchmark::State& state, const balm::device& on) {
        measure(state, on, is_cpu(on) ? on_cpu : on_gpu);
    });
}

void register_all() {
    register_one("convolution with 2^22", {1 << 24, 1 << 22}, {1 << 20, 1 << 18});
    register_one("convolution with 1000", {1 << 24, 1000}, {1 << 20, 1000});
    register_one("cosine transform, type 2", {1 << 24}, {1 << 20});
    register_one("cosine transform, type 4", {1 << 24, 0, 4}, {1 << 20, 0, 4});
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
