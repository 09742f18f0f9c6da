// cuRAND behind the functions of peer_random.hpp.

#include <curand.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "peer_random.hpp"

namespace {

void check(bool is_good, const char* what) {
    if (is_good) return;
    std::fprintf(stderr, "CUDA peer: %s failed\n", what);
    std::abort();
}

struct library {
    decltype(&curandCreateGenerator) create;
    decltype(&curandDestroyGenerator) destroy;
    decltype(&curandSetGeneratorOrdering) order;
    decltype(&curandGenerateUniform) uniform;
    decltype(&curandGenerateNormal) normal;
};

const library* curand() {
    static library found;
    static const bool is_there = [] {
        void* opened = nullptr;
        for (const char* name : {"libcurand.so.10", "libcurand.so", "/usr/local/cuda/lib64/libcurand.so.10"})
            if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
        if (opened == nullptr) return false;
        found.create = reinterpret_cast<decltype(found.create)>(dlsym(opened, "curandCreateGenerator"));
        found.destroy = reinterpret_cast<decltype(found.destroy)>(dlsym(opened, "curandDestroyGenerator"));
        found.order = reinterpret_cast<decltype(found.order)>(dlsym(opened, "curandSetGeneratorOrdering"));
        found.uniform = reinterpret_cast<decltype(found.uniform)>(dlsym(opened, "curandGenerateUniform"));
        found.normal = reinterpret_cast<decltype(found.normal)>(dlsym(opened, "curandGenerateNormal"));
        return found.create && found.destroy && found.order && found.uniform && found.normal;
    }();
    return is_there ? &found : nullptr;
}

struct numbers {
    curandGenerator_t generator;
    float* out;
    std::size_t n;
};
numbers& of(void* all) { return *static_cast<numbers*>(all); }

void* make(std::size_t n) {
    if (curand() == nullptr) return nullptr;
    auto* const m = new numbers{nullptr, nullptr, n};
    check(curand()->create(&m->generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) == CURAND_STATUS_SUCCESS,
          "curandCreateGenerator");
    // The fastest order that it has; an older cuRAND refuses the newer of the two.
    if (curand()->order(m->generator, CURAND_ORDERING_PSEUDO_DYNAMIC) != CURAND_STATUS_SUCCESS)
        check(curand()->order(m->generator, CURAND_ORDERING_PSEUDO_BEST) == CURAND_STATUS_SUCCESS,
              "curandSetGeneratorOrdering");
    check(cudaMalloc(&m->out, n * sizeof(float)) == cudaSuccess, "cudaMalloc");
    return m;
}

void uniform(void* all) {
    check(curand()->uniform(of(all).generator, of(all).out, of(all).n) == CURAND_STATUS_SUCCESS,
          "curandGenerateUniform");
}
void normal(void* all) {
    check(curand()->normal(of(all).generator, of(all).out, of(all).n, 0, 1) == CURAND_STATUS_SUCCESS,
          "curandGenerateNormal");
}
void finish() { check(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize"); }

void release(void* all) {
    check(curand()->destroy(of(all).generator) == CURAND_STATUS_SUCCESS, "curandDestroyGenerator");
    check(cudaFree(of(all).out) == cudaSuccess, "cudaFree");
    delete &of(all);
}

constexpr peer::cuda_random_functions functions{make, uniform, normal, finish, release};

}  // namespace

extern "C" const peer::cuda_random_functions* peer_cuda_random_functions() { return &functions; }
