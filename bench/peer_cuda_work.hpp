#pragma once
// cuda_work_functions for any kind of work.

#include "peer_cuda_check.hpp"
#include "peer_work.hpp"

struct any_work {
    virtual ~any_work() = default;
    virtual void run() = 0;
    virtual void copy() = 0;

    static constexpr peer::cuda_work_functions functions() { return {run_it, copy_it, finish, release}; }

private:
    static void run_it(void* work) { static_cast<any_work*>(work)->run(); }
    static void copy_it(void* work) { static_cast<any_work*>(work)->copy(); }
    static void finish() {
        check(cudaGetLastError(), "a launch");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    static void release(void* work) { delete static_cast<any_work*>(work); }
};
