// Every other entry point of the driver: called while devices are only looked at, it is told and fails. Weak,
// so that devices.cpp answers for those that may be called.

#include <cstdio>

#include "backend/cuda/driver_api.hpp"

using namespace balm::cuda;

#define BALM_FORBIDDEN(name, symbol, ...)                                   \
    extern "C" __attribute__((weak)) CUresult symbol(__VA_ARGS__) {         \
        std::fputs("the fake CUDA driver was asked " #symbol "\n", stderr); \
        return static_cast<CUresult>(999);                                  \
    }
BALM_CUDA_DRIVER_TABLE(BALM_FORBIDDEN)
#undef BALM_FORBIDDEN
