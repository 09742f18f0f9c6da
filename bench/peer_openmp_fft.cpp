// FFTW behind the functions of peer_fft.hpp. Its libraries are opened at run time, so that no header is
// needed.

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "peer_fft.hpp"

namespace peer::fftw {

namespace {

/// fftw3.h, FFTW 3.3: what is used of it.
constexpr int forward_sign = -1;
constexpr unsigned measure = 0;

struct library {
    int (*init_threads)();
    void (*plan_with_threads)(int);
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
    found.is_there = get(found.init_threads, threads, "init_threads") &&
                     get(found.plan_with_threads, threads, "plan_with_nthreads") &&
                     get(found.plan, base, "plan_many_dft") && get(found.execute, base, "execute") &&
                     get(found.destroy, base, "destroy_plan");
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

}  // namespace peer::fftw
