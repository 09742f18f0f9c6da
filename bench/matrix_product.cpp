// The product of two f32 matrices with tiles in local memory: on GPUs against the same kernel in CUDA, on
// CPUs against the same kernel in OpenCL C.

#include <cmath>
#include <exception>
#include <memory>
#include <random>
#include <vector>

#include "peer_cuda.hpp"
#include "peer_matrix.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using namespace balm::dsl;

constexpr int tile = 32;
constexpr int gpu_size = 4096, cpu_size = 512;
constexpr double bar = 0.95;
constexpr int gpu_launches = 5, gpu_samples = 11, cpu_pairs = 15;

const auto product_kernel = balm::kernel<2>(
    "product(n, a, b, result)", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
        LocalArray<float, tile, tile> part_of_a, part_of_b;
        Int x = named("x", cast<int>(local_id(0))), y = named("y", cast<int>(local_id(1)));
        Int col = named("col", cast<int>(group_id(0)) * tile + x);
        Int row = named("row", cast<int>(group_id(1)) * tile + y);
        Float value = named("value", 0.f);
        for (Int begin : named("begin", range(0, n, tile))) {
            part_of_a[y][x] = a[row * n + begin + x];
            part_of_b[y][x] = b[(begin + y) * n + col];
            local_barrier();
            for (int k = 0; k < tile; ++k) value += part_of_a[y][k] * part_of_b[k][x];
            local_barrier();
        }
        result[row * n + col] = value;
    });

std::vector<float> random_matrix(int n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> numbers(-1, 1);
    std::vector<float> made(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (float& x : made) x = numbers(random);
    return made;
}

struct operands {
    explicit operands(int size) : n(size), a(random_matrix(size, 1)), b(random_matrix(size, 2)) {}
    int n;
    std::vector<float> a, b;

    /// Compares a sample of the elements with sums in double precision.
    bool gives(const float* product) const {
        const auto rows = static_cast<std::size_t>(n);
        for (std::size_t i = 0; i < rows * rows; i += rows * rows / 97) {
            double expected = 0;
            for (std::size_t k = 0; k < rows; ++k)
                expected += double{a[i / rows * rows + k]} * double{b[k * rows + i % rows]};
            if (!(std::abs(product[i] - expected) < 1e-6 * n)) return false;
        }
        return true;
    }
};

class ours {
public:
    ours(const balm::device& on, const operands& given)
        : on_(on),
          n_(given.n),
          a_(on.in_buffer<float>(n_, n_)),
          b_(on.in_buffer<float>(n_, n_)),
          product_(on.out_buffer<float>(n_, n_)),
          queue_(on.make_queue(false)) {
        a_.write(given.a);
        b_.write(given.b);
    }
    void multiply(int count) {
        const auto size = static_cast<std::size_t>(n_);
        balm::event done;
        for (int k = 0; k < count; ++k)
            done = queue_.execute(product_kernel(n_, a_, b_, product_), {size, size}, {tile, tile});
        done.wait();
    }
    auto read() const { return product_.read(); }

private:
    balm::device on_;
    int n_;
    balm::in_buffer<float> a_, b_;
    balm::out_buffer<float> product_;
    balm::queue queue_;
};

void report(benchmark::State& state, const comparison& made, int n) {
    report(state, made, bar);
    state.counters["n"] = n;
    state.counters["GFLOP/s"] = 2e-9 * n * n * n / made.balm;
}

void on_cpu(benchmark::State& state, const balm::device& on) {
    const operands given(cpu_size);
    ours mine(on, given);
    std::vector<float> product(given.a.size());
    try {
        peer::opencl_matrix theirs(on.info().platform.c_str(), on.name().c_str(), given.n, given.a.data(),
                                   given.b.data());
        const auto multiply_theirs = [&] {
            theirs.multiply();
            theirs.finish();
        };
        mine.multiply(1);
        multiply_theirs();
        for (auto iteration : state) {
            static_cast<void>(iteration);
            report(state, compare_in_pairs([&] { mine.multiply(1); }, multiply_theirs, cpu_pairs), given.n);
        }
        theirs.read(product.data());
    } catch (const std::exception& fault) {
        return state.SkipWithError(fault.what());
    }
    if (!given.gives(mine.read().data()) || !given.gives(product.data()))
        state.SkipWithError("the result is wrong");
}

void on_gpu(benchmark::State& state, const balm::device& on) {
    const char* why = "";
    const auto* const cuda = peer::cuda_functions_on<peer::cuda_matrix_functions>(
        on.info().pci_address.c_str(), "peer_cuda_matrix_functions", why);
    if (cuda == nullptr) return state.SkipWithError(why);
    const operands given(gpu_size);
    ours mine(on, given);
    const std::unique_ptr<void, void (*)(void*)> theirs(cuda->make(given.n, given.a.data(), given.b.data()),
                                                        cuda->release);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = compare_samples([&](int count) { mine.multiply(count); },
                                                [&](int count) {
                                                    for (int k = 0; k < count; ++k)
                                                        cuda->multiply(theirs.get());
                                                    cuda->finish();
                                                },
                                                gpu_launches, gpu_samples);
        report(state, made, given.n);
    }
    std::vector<float> product(given.a.size());
    cuda->read(theirs.get(), product.data());
    if (!given.gives(mine.read().data()) || !given.gives(product.data()))
        state.SkipWithError("the result is wrong");
}

void register_all() {
    on_every_device("matrix product in local memory, f32",
                    [](benchmark::State& state, const balm::device& on) {
                        try {
                            is_cpu(on) ? on_cpu(state, on) : on_gpu(state, on);
                        } catch (const balm::usage_error& fault) {
                            // NVIDIA's OpenCL limits this kernel to work-groups of 256.
                            state.SkipWithError(fault.what());
                        }
                    });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
