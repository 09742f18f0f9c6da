// FFTW behind the functions of peer_fft.hpp. Its libraries are opened at run time, so no header is needed.

#include <dlfcn.h>

#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "peer_fft.hpp"

namespace peer::fftw {

namespace {

/// The part of fftw3.h (FFTW 3.3) that is used here.
constexpr int forward_sign = -1;
constexpr unsigned measure = 0;
constexpr int cosine_of_type_2 = 5;  // FFTW_REDFT10

struct library {
    int (*init_threads)();
    void (*plan_with_threads)(int);
    void* (*forward_real)(int n, float* in, void* out, unsigned flags);
    void* (*inverse_real)(int n, void* in, float* out, unsigned flags);
    void* (*real_to_real)(int n, float* in, float* out, int kind, unsigned flags);
    void* (*plan)(int rank, const int* n, int batch, void* in, const int* in_embed, int in_stride,
                  int in_apart, void* out, const int* out_embed, int out_stride, int out_apart, int sign,
                  unsigned flags);
    void (*execute)(const void*);
    void (*destroy)(void*);
    bool is_there = false;
};

library open(const std::string& letter) {
    library found{};
    void* const threads = dlopen(("libfftw3" + letter + "_threads.so.3").c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const base = dlopen(("libfftw3" + letter + ".so.3").c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (threads == nullptr || base == nullptr) return found;
    const auto get = [&](auto& to, void* from, const char* name) {
        void* const symbol = dlsym(from, ("fftw" + letter + "_" + name).c_str());
        std::memcpy(&to, &symbol, sizeof symbol);
        return symbol != nullptr;
    };
    found.is_there =
        get(found.init_threads, threads, "init_threads") &&
        get(found.plan_with_threads, threads, "plan_with_nthreads") &&
        get(found.plan, base, "plan_many_dft") && get(found.forward_real, base, "plan_dft_r2c_1d") &&
        get(found.inverse_real, base, "plan_dft_c2r_1d") && get(found.real_to_real, base, "plan_r2r_1d") &&
        get(found.execute, base, "execute") && get(found.destroy, base, "destroy_plan");
    if (found.is_there) {
        found.init_threads();
        found.plan_with_threads(static_cast<int>(std::thread::hardware_concurrency()));
    }
    return found;
}
const library& of_precision(bool is_double) {
    static const library single = open("f"), twice = open("");
    return is_double ? twice : single;
}

struct transform {
    const library& from;
    void* data;
    void* plan;
};

}  // namespace

void* make(const fft_problem& p) {
    const library& from = of_precision(p.is_double);
    if (!from.is_there) return nullptr;
    const std::size_t bytes = p.count() * (p.is_double ? 16 : 8);
    void* const data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    const int apart = static_cast<int>(p.count() / static_cast<std::size_t>(p.batch));
    void* const plan = from.plan(p.dimensions, p.extents, p.batch, data, nullptr, 1, apart, data, nullptr, 1,
                                 apart, forward_sign, measure);
    std::memset(data, 0, bytes);
    return new transform{from, data, plan};
}
void forward(void* all) {
    const transform& t = *static_cast<transform*>(all);
    t.from.execute(t.plan);
}
void release(void* all) {
    transform* const t = static_cast<transform*>(all);
    t->from.destroy(t->plan);
    std::free(t->data);
    delete t;
}

namespace {

using complex_floats = std::vector<std::complex<float>>;

struct spectral_work {
    const library& from;
    bool is_convolution;
    std::vector<float> a, b, result;
    complex_floats a_spectrum, b_spectrum;
    std::vector<void*> plans;
};

}  // namespace

void* make_spectral(const spectral_problem& p) {
    const library& from = of_precision(false);
    if (!from.is_there) return nullptr;
    const std::size_t n = p.padded;
    const int count = static_cast<int>(n);
    auto* const made = new spectral_work{from,
                                         p.is_convolution,
                                         std::vector<float>(n),
                                         std::vector<float>(n),
                                         std::vector<float>(n),
                                         complex_floats(n / 2 + 1),
                                         complex_floats(n / 2 + 1),
                                         {}};
    if (p.is_convolution)
        made->plans = {from.forward_real(count, made->a.data(), made->a_spectrum.data(), measure),
                       from.forward_real(count, made->b.data(), made->b_spectrum.data(), measure),
                       from.inverse_real(count, made->a_spectrum.data(), made->result.data(), measure)};
    else
        made->plans = {
            from.real_to_real(count, made->a.data(), made->result.data(), cosine_of_type_2, measure)};
    for (std::size_t k = 0; k < n; ++k) made->a[k] = made->b[k] = static_cast<float>(k % 1009) * 0.001f;
    return made;
}
void run_spectral(void* all) {
    spectral_work& w = *static_cast<spectral_work*>(all);
    w.from.execute(w.plans[0]);
    if (!w.is_convolution) return;
    w.from.execute(w.plans[1]);
    const auto count = static_cast<std::ptrdiff_t>(w.a_spectrum.size());
    const float scale = 1 / static_cast<float>(w.a.size());
    std::complex<float>* const a = w.a_spectrum.data();
    const std::complex<float>* const b = w.b_spectrum.data();
#pragma omp parallel for
    for (std::ptrdiff_t k = 0; k < count; ++k)
        a[k] = {(a[k].real() * b[k].real() - a[k].imag() * b[k].imag()) * scale,
                (a[k].real() * b[k].imag() + a[k].imag() * b[k].real()) * scale};
    w.from.execute(w.plans[2]);
}
void release_spectral(void* all) {
    spectral_work* const w = static_cast<spectral_work*>(all);
    for (void* plan : w->plans) w->from.destroy(plan);
    delete w;
}

}  // namespace peer::fftw
