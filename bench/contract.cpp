// Matrix products, and contractions that are equivalent to one: on GPUs against cuBLAS without tensor cores,
// on CPUs against OpenBLAS, if it is found. Products by the vendor's library show what Balm adds to it.
// Predicted from operations over rate: 2 * 4096^3 operations of f32 at the 67 TFLOP/s of an H200 take 2.1 ms.

#include <dlfcn.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "balm/contract.hpp"
#include "peer_contract.hpp"
#include "peer_cuda.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 0.7, cpu_bar = 0.5, library_bar = 0.98;
constexpr int gpu_launches = 5, gpu_samples = 11, cpu_pairs = 9;

/// OpenBLAS, opened at run time, since a machine may lack it.
class openblas {
public:
    static const openblas* found() {
        static const openblas library;
        return library.sgemm_ != nullptr && library.dgemm_ != nullptr ? &library : nullptr;
    }
    void multiply(const peer::matrix_product& of, const float* a, const float* b, float* product) const {
        sgemm_(row_major, as_is, as_is, of.rows, of.columns, of.inner, 1, a, of.inner, b, of.columns, 0,
               product, of.columns);
    }
    void multiply(const peer::matrix_product& of, const double* a, const double* b, double* product) const {
        dgemm_(row_major, as_is, as_is, of.rows, of.columns, of.inner, 1, a, of.inner, b, of.columns, 0,
               product, of.columns);
    }

private:
    template <class T>
    using gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
    static constexpr int row_major = 101, as_is = 111;  // from cblas.h

    openblas() {
        void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return;
        sgemm_ = reinterpret_cast<gemm<float>>(dlsym(library, "cblas_sgemm"));
        dgemm_ = reinterpret_cast<gemm<double>>(dlsym(library, "cblas_dgemm"));
    }
    gemm<float> sgemm_ = nullptr;
    gemm<double> dgemm_ = nullptr;
};

/// A contraction that is a matrix product once its axes are fused.
struct task {
    const char* subscripts;
    std::vector<std::size_t> a, b;
    peer::matrix_product as_product;
};

template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<T> uniform(-1, 1);
    std::vector<T> made(n);
    for (T& x : made) x = uniform(random);
    return made;
}

balm::shape box_of(const std::vector<std::size_t>& sizes) {
    return balm::shape(std::span<const std::size_t>(sizes));
}

template <class T>
struct problem {
    const task& of;
    std::vector<T> host_a, host_b;
    balm::vector<T> a, b, c;
    balm::multiply_by by;

    problem(const balm::context& where, const task& what, balm::multiply_by by_what)
        : of(what),
          host_a(numbers<T>(box_of(what.a).count(), 1)),
          host_b(numbers<T>(box_of(what.b).count(), 2)),
          a(where, host_a),
          b(where, host_b),
          c(where, what.as_product.product()),
          by(by_what) {}
    void run() {
        c = balm::einsum(of.subscripts, balm::view(a, box_of(of.a)), balm::view(b, box_of(of.b)), by);
    }
    std::string plan() const {
        return balm::describe_einsum(of.subscripts, balm::view(a, box_of(of.a)), balm::view(b, box_of(of.b)),
                                     by);
    }
    /// Checks some elements against sums in double precision; `subscripts` are "ik,kj->ij" or "ijk,kjl->il".
    bool is_right() {
        run();
        const auto got = c.to_host();
        const auto rows = static_cast<std::size_t>(of.as_product.rows),
                   columns = static_cast<std::size_t>(of.as_product.columns);
        const std::size_t middle = of.a.size() == 3 ? of.a[1] : 1, inner = of.b[0];
        for (std::size_t k = 0; k < rows * columns; k += rows * columns / 61) {
            const std::size_t row = k / columns, column = k % columns;
            double sum = 0;
            for (std::size_t j = 0; j < middle; ++j)
                for (std::size_t i = 0; i < inner; ++i)
                    sum += double{host_a[(row * middle + j) * inner + i]} *
                           double{host_b[(i * middle + j) * columns + column]};
            if (!(std::abs(static_cast<double>(got[k]) - sum) < 1e-6 * of.as_product.inner)) return false;
        }
        return true;
    }
};

template <class T>
comparison on_gpu(problem<T>& p, const balm::device& on, const peer::cuda_contract_functions& cuda,
                  void* theirs) {
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) p.run();
            on.finish();
        },
        [&](int count) {
            for (int k = 0; k < count; ++k) cuda.multiply(theirs);
            cuda.finish();
        },
        gpu_launches, gpu_samples);
}

template <class T>
void measure(benchmark::State& state, const balm::device& on, const task& what,
             balm::multiply_by by = balm::multiply_by::own_kernels) {
    const char* why = "OpenBLAS is not found (libopenblas.so.0)";
    const auto* const cuda = is_cpu(on)
                                 ? nullptr
                                 : peer::cuda_functions_on<peer::cuda_contract_functions>(
                                       on.info().pci_address.c_str(), "peer_cuda_contract_functions", why);
    if (is_cpu(on) ? openblas::found() == nullptr : cuda == nullptr) return state.SkipWithError(why);
    problem<T> p(balm::context({on}), what, by);
    const bool by_library = by == balm::multiply_by::vendor_library;
    if (by_library)
        if (const std::string plan = p.plan(); plan.find("Balm's") != std::string::npos)
            return state.SkipWithError(plan.c_str());
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        comparison made;
        if (is_cpu(on)) {
            std::vector<T> product(what.as_product.product());
            made = compare_in_pairs(
                [&] {
                    p.run();
                    on.finish();
                },
                [&] {
                    openblas::found()->multiply(what.as_product, p.host_a.data(), p.host_b.data(),
                                                product.data());
                },
                cpu_pairs);
        } else {
            const std::unique_ptr<void, void (*)(void*)> theirs(
                cuda->make(what.as_product, p.host_a.data(), p.host_b.data()), cuda->release);
            if (theirs == nullptr) return state.SkipWithError("cuBLAS is not found");
            made = on_gpu(p, on, *cuda, theirs.get());
        }
        report(state, made, by_library ? library_bar : is_cpu(on) ? cpu_bar : gpu_bar);
        const peer::matrix_product& of = what.as_product;
        state.counters["GFLOP/s"] = 2e-9 * of.rows * of.columns * of.inner / made.balm;
        state.counters["peer GFLOP/s"] = 2e-9 * of.rows * of.columns * of.inner / made.peer;
    }
}

task square_product(int n, bool is_double) {
    const auto size = static_cast<std::size_t>(n);
    return {"ik,kj->ij", {size, size}, {size, size}, {n, n, n, is_double}};
}

template <class T>
void register_by_library(const std::string& name, const task& what) {
    on_devices_that([](const balm::device& on) { return !is_cpu(on); }, name + ", by the vendor's library",
                    [=](benchmark::State& state, const balm::device& on) {
                        measure<T>(state, on, what, balm::multiply_by::vendor_library);
                    });
}

template <class T>
void register_product(const char* type, bool is_double, int gpu_size, int cpu_size) {
    const auto register_for = [&](bool of_cpus, int n) {
        on_devices_that([=](const balm::device& on) { return is_cpu(on) == of_cpus; },
                        fmt::format("matmul of {} x {}, {}", n, n, type),
                        [=](benchmark::State& state, const balm::device& on) {
                            measure<T>(state, on, square_product(n, is_double));
                        });
    };
    register_for(true, cpu_size);
    register_for(false, gpu_size);
}

void register_all() {
    register_product<float>("f32", false, 4096, 1024);
    register_product<float>("f32", false, 1024, 512);
    register_product<double>("f64", true, 4096, 1024);
    const std::string einsum = "einsum ijk,kjl->il of 256, 64, 256, 256, f32";
    const task of_einsum{"ijk,kjl->il", {256, 64, 256}, {256, 64, 256}, {256, 256, 64 * 256, false, 64}};
    on_every_device(einsum, [=](benchmark::State& state, const balm::device& on) {
        measure<float>(state, on, of_einsum);
    });
    register_by_library<float>("matmul of 4096 x 4096, f32", square_product(4096, false));
    register_by_library<double>("matmul of 4096 x 4096, f64", square_product(4096, true));
    register_by_library<float>(einsum, of_einsum);
    // Few rows: the product takes at least the time of reading all of b, 64 MiB.
    on_devices_that(
        [](const balm::device& on) { return !is_cpu(on); }, "matmul of 16 x 4096 and 4096 x 4096, f32",
        [](benchmark::State& state, const balm::device& on) {
            measure<float>(state, on, {"ik,kj->ij", {16, 4096}, {4096, 4096}, {16, 4096, 4096, false}});
        });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
