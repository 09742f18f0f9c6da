// What CUDA gives a program, as far as the prelude for texts uses it, on the host: one work-item after the
// other. Compiled by the test with a rewritten text, never with Balm itself.

#include <math.h>
#include <stdio.h>
#include <string.h>

#define __device__
#define __global__
#define __shared__ static
#define __constant__
#define __restrict__
#define __align__(n) alignas(n)

struct balm_host_index {
    unsigned x = 0, y = 0, z = 0;
};
static balm_host_index threadIdx, blockIdx, blockDim{1, 1, 1}, gridDim{1, 1, 1};

static void __syncthreads() {}
static void __threadfence() {}
static void __threadfence_block() {}

static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static float __fdividef(float a, float b) { return a / b; }
static float rsqrtf(float x) { return (float)(1 / ::sqrt((double)x)); }
static double rsqrt(double x) { return 1 / ::sqrt(x); }

template <class T, class F>
static T balm_host_atomic(T* p, F change) {
    const T before = *p;
    *p = change(before);
    return before;
}
#define BALM_HOST_ATOMIC(name, expression)                                  \
    template <class T>                                                      \
    static T name(T* p, T v) {                                              \
        return balm_host_atomic(p, [v](T old) -> T { return expression; }); \
    }
BALM_HOST_ATOMIC(atomicAdd, old + v)
BALM_HOST_ATOMIC(atomicSub, old - v)
BALM_HOST_ATOMIC(atomicMin, v < old ? v : old)
BALM_HOST_ATOMIC(atomicMax, v > old ? v : old)
BALM_HOST_ATOMIC(atomicAnd, old& v)
BALM_HOST_ATOMIC(atomicOr, old | v)
BALM_HOST_ATOMIC(atomicXor, old ^ v)
BALM_HOST_ATOMIC(atomicExch, (static_cast<void>(old), v))
template <class T>
static T atomicCAS(T* p, T a, T b) {
    return balm_host_atomic(p, [a, b](T old) -> T { return old == a ? b : old; });
}
