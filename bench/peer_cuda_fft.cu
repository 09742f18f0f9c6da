// cuFFT behind the functions of peer_fft.hpp.

#include <cufft.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "peer_fft.hpp"

namespace {

void check(bool is_good, const char* what) {
    if (is_good) return;
    std::fprintf(stderr, "CUDA peer: %s failed\n", what);
    std::abort();
}

struct library {
    decltype(&cufftPlanMany) plan;
    decltype(&cufftExecC2C) single;
    decltype(&cufftExecZ2Z) twice;
    decltype(&cufftExecR2C) forward_real;
    decltype(&cufftExecC2R) inverse_real;
    decltype(&cufftDestroy) destroy;
};

const library* cufft() {
    static library found;
    static const bool is_there = [] {
        void* opened = nullptr;
        for (const char* name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so",
                                 "/usr/local/cuda/lib64/libcufft.so"})
            if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
        if (opened == nullptr) return false;
        found.plan = reinterpret_cast<decltype(found.plan)>(dlsym(opened, "cufftPlanMany"));
        found.single = reinterpret_cast<decltype(found.single)>(dlsym(opened, "cufftExecC2C"));
        found.twice = reinterpret_cast<decltype(found.twice)>(dlsym(opened, "cufftExecZ2Z"));
        found.forward_real = reinterpret_cast<decltype(found.forward_real)>(dlsym(opened, "cufftExecR2C"));
        found.inverse_real = reinterpret_cast<decltype(found.inverse_real)>(dlsym(opened, "cufftExecC2R"));
        found.destroy = reinterpret_cast<decltype(found.destroy)>(dlsym(opened, "cufftDestroy"));
        return found.plan && found.single && found.twice && found.forward_real && found.inverse_real &&
               found.destroy;
    }();
    return is_there ? &found : nullptr;
}

struct transform {
    cufftHandle plan;
    bool is_double;
    void* data;
};
transform& of(void* all) { return *static_cast<transform*>(all); }

void* make(const peer::fft_problem& p) {
    if (cufft() == nullptr) return nullptr;
    auto* const made = new transform{0, p.is_double, nullptr};
    int extents[3] = {p.extents[0], p.extents[1], p.extents[2]};
    const int apart = static_cast<int>(p.count() / static_cast<std::size_t>(p.batch));
    check(cufft()->plan(&made->plan, p.dimensions, extents, nullptr, 1, apart, nullptr, 1, apart,
                        p.is_double ? CUFFT_Z2Z : CUFFT_C2C, p.batch) == CUFFT_SUCCESS,
          "cufftPlanMany");
    const std::size_t bytes = p.count() * (p.is_double ? 16 : 8);
    check(cudaMalloc(&made->data, bytes) == cudaSuccess, "cudaMalloc");
    check(cudaMemset(made->data, 0, bytes) == cudaSuccess, "cudaMemset");
    return made;
}

void forward(void* all) {
    transform& t = of(all);
    const cufftResult done = t.is_double
                                 ? cufft()->twice(t.plan, static_cast<cufftDoubleComplex*>(t.data),
                                                  static_cast<cufftDoubleComplex*>(t.data), CUFFT_FORWARD)
                                 : cufft()->single(t.plan, static_cast<cufftComplex*>(t.data),
                                                   static_cast<cufftComplex*>(t.data), CUFFT_FORWARD);
    check(done == CUFFT_SUCCESS, "cufftExec");
}
void finish() { check(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize"); }

void release(void* all) {
    check(cufft()->destroy(of(all).plan) == CUFFT_SUCCESS, "cufftDestroy");
    check(cudaFree(of(all).data) == cudaSuccess, "cudaFree");
    delete &of(all);
}

constexpr peer::cuda_fft_functions functions{make, forward, finish, release};

// ---- real transforms

__global__ void multiply(cufftComplex* a, const cufftComplex* b, int count, float scale) {
    for (int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); k < count;
         k += static_cast<int>(gridDim.x * blockDim.x)) {
        const cufftComplex x = a[k], y = b[k];
        a[k] = {(x.x * y.x - x.y * y.y) * scale, (x.x * y.y + x.y * y.x) * scale};
    }
}

struct spectral_work {
    bool is_convolution;
    int count;
    cufftHandle there, back;
    float *a, *b, *result;
    cufftComplex *a_spectrum, *b_spectrum;
};
template <class T>
void allocate(T*& to, std::size_t count) {
    check(cudaMalloc(&to, count * sizeof(T)) == cudaSuccess, "cudaMalloc");
    check(cudaMemset(to, 0, count * sizeof(T)) == cudaSuccess, "cudaMemset");
}

void* make_spectral(const peer::spectral_problem& p) {
    if (cufft() == nullptr) return nullptr;
    auto* const made = new spectral_work{p.is_convolution, static_cast<int>(p.padded)};
    const auto plan = [&](cufftHandle& to, cufftType type) {
        check(cufft()->plan(&to, 1, &made->count, nullptr, 1, made->count, nullptr, 1, made->count, type,
                            1) == CUFFT_SUCCESS,
              "cufftPlanMany");
    };
    plan(made->there, CUFFT_R2C);
    plan(made->back, CUFFT_C2R);
    for (float** each : {&made->a, &made->b, &made->result}) allocate(*each, p.padded);
    for (cufftComplex** each : {&made->a_spectrum, &made->b_spectrum}) allocate(*each, p.padded / 2 + 1);
    return made;
}
void run_spectral(void* all) {
    spectral_work& w = *static_cast<spectral_work*>(all);
    check(cufft()->forward_real(w.there, w.a, w.a_spectrum) == CUFFT_SUCCESS, "cufftExecR2C");
    if (!w.is_convolution) return;
    check(cufft()->forward_real(w.there, w.b, w.b_spectrum) == CUFFT_SUCCESS, "cufftExecR2C");
    const int count = w.count / 2 + 1;
    multiply<<<(count + 255) / 256, 256>>>(w.a_spectrum, w.b_spectrum, count,
                                           1 / static_cast<float>(w.count));
    check(cudaGetLastError() == cudaSuccess, "a launch");
    check(cufft()->inverse_real(w.back, w.a_spectrum, w.result) == CUFFT_SUCCESS, "cufftExecC2R");
}
void release_spectral(void* all) {
    spectral_work* const w = static_cast<spectral_work*>(all);
    for (const cufftHandle each : {w->there, w->back})
        check(cufft()->destroy(each) == CUFFT_SUCCESS, "cufftDestroy");
    for (float* each : {w->a, w->b, w->result}) check(cudaFree(each) == cudaSuccess, "cudaFree");
    for (cufftComplex* each : {w->a_spectrum, w->b_spectrum})
        check(cudaFree(each) == cudaSuccess, "cudaFree");
    delete w;
}

constexpr peer::cuda_spectral_functions spectral_functions{make_spectral, run_spectral, finish,
                                                           release_spectral};

}  // namespace

extern "C" const peer::cuda_spectral_functions* peer_cuda_spectral_functions() { return &spectral_functions; }

extern "C" const peer::cuda_fft_functions* peer_cuda_fft_functions() { return &functions; }
