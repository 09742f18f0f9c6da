#pragma once
// A fake CUDA driver, built as libcuda.so.1. By default it has two devices that work, in the host's memory.
// BALM_FAKE_CUDA asks for a machine on which devices are only looked at: any other call fails and prints
// its name on stderr.
//
//     BALM_FAKE_CUDA=no_device    cuInit fails, as where the driver is there but no GPU
//     BALM_FAKE_CUDA=empty        the driver counts no devices
//     BALM_FAKE_CUDA=broken       counting fails
//     BALM_FAKE_CUDA=half         the first of two devices cannot be had
//     BALM_FAKE_CUDA=two          an integrated GPU, then a discrete one

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "driver/cuda/driver_api.hpp"
#include "fake_drivers/faults.hpp"
#include "fake_drivers/stream.hpp"

namespace balm::cuda {

struct CUstream_st : test::driver_object {
    test::stream commands;
    std::unique_ptr<std::vector<std::function<void()>>> captured{};  ///< null: commands are added
};

inline constexpr auto unknown_error = static_cast<CUresult>(999);

/// Whether it is to be told and to fail, since devices are only looked at.
bool is_forbidden(const char* call);

/// A call that nothing but its body can make fail, and only with a code that it returns.
template <class Body>
CUresult safe_call(const char* name, Body&& body) {
    const test::in_driver inside;
    if (is_forbidden(name)) return unknown_error;
    if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return CUDA_SUCCESS;
    } else {
        return body();
    }
}

/// One that tests may have fail.
template <class Body>
CUresult call(const char* name, Body&& body, CUresult failure = unknown_error) {
    const test::in_driver inside;
    if (test::driver_call_fails(name)) return failure;
    return safe_call(name, body);
}

/// One that tests may have find no memory.
template <class Body>
CUresult allocating_call(const char* name, Body&& body) {
    return call(name, body, CUDA_ERROR_OUT_OF_MEMORY);
}

}  // namespace balm::cuda
