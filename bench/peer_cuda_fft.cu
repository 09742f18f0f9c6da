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
        found.destroy = reinterpret_cast<decltype(found.destroy)>(dlsym(opened, "cufftDestroy"));
        return found.plan && found.single && found.twice && found.destroy;
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

}  // namespace

extern "C" const peer::cuda_fft_functions* peer_cuda_fft_functions() { return &functions; }
