#pragma once
// What the tests of the backends share: every driver device present, arguments, random bytes, and kernels
// written by hand in both dialects.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "driver/cuda/nvrtc.hpp"
#include "runtime/backend.hpp"

namespace balm::test {

/// The available OpenCL and CUDA devices. Never destroyed, as the runtime's own list.
inline const std::vector<std::shared_ptr<runtime::driver_device>>& driver_devices() {
    static const auto* const devices = [] {
        auto* found = new std::vector<std::shared_ptr<runtime::driver_device>>;
        for (const runtime::discovery& part : {runtime::discover_opencl(), runtime::discover_cuda()}) {
            for (const std::string& note : part.notes) std::cout << "note: " << note << '\n';
            for (const runtime::discovered_platform& platform : part.platforms)
                for (const auto& device : platform.devices)
                    if (device->info().is_available) found->push_back(device);
        }
        return found;
    }();
    return *devices;
}

/// Runs the body once on every device; failures name it.
template <class Body>
void on_every_device(Body&& body) {
    if (driver_devices().empty()) GTEST_SKIP() << "no device";
    for (const auto& device : driver_devices()) {
        SCOPED_TRACE(std::string(to_string(device->info().api)) + " device " + device->info().name);
        body(*device);
    }
}

/// Whether kernels can be compiled for it; says so where not.
inline bool compiles(runtime::driver_device& device) {
    if (device.info().api != backend::cuda || cuda::nvrtc_available()) return true;
    std::cout << device.info().name << " is passed over. " << device.compiler() << '\n';
    return false;
}

/// A generator with a fresh seed, printed with any failure's output.
inline std::mt19937_64 fresh_random() {
    const std::uint64_t seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    return std::mt19937_64(seed);
}

inline std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
    return bytes;
}

template <class Value>
runtime::argument value_argument(const Value& value) {
    runtime::argument made;
    made.what = runtime::argument::kind::value;
    made.size = sizeof value;
    std::memcpy(made.bytes.data(), &value, sizeof value);
    return made;
}

inline runtime::argument memory_argument(runtime::memory of) {
    runtime::argument made;
    made.what = runtime::argument::kind::memory;
    made.size = sizeof of.handle;
    std::memcpy(made.bytes.data(), &of.handle, sizeof of.handle);
    return made;
}

inline runtime::argument local_argument(std::uint32_t bytes) {
    runtime::argument made;
    made.what = runtime::argument::kind::local;
    made.size = bytes;
    return made;
}

inline runtime::grid line(std::size_t global, std::size_t local) {
    runtime::grid made;
    made.global[0] = global;
    made.local[0] = local;
    return made;
}

/// Device memory that frees itself.
class device_memory {
public:
    device_memory(runtime::driver_device& on, std::size_t bytes) : on_(on), memory_(on.allocate(bytes)) {}
    ~device_memory() { on_.free(memory_); }
    device_memory(const device_memory&) = delete;
    device_memory& operator=(const device_memory&) = delete;
    runtime::memory get() const { return memory_; }

private:
    runtime::driver_device& on_;
    runtime::memory memory_;
};

/// One program, written by hand in both dialects.
struct two_sources {
    std::string opencl_c;
    std::string cuda_cpp;
    const std::string& for_device(const runtime::driver_device& device) const {
        return device.language() == runtime::dialect::cuda_cpp ? cuda_cpp : opencl_c;
    }
};

/// y[i] = a * x[i] + y[i] for i < n.
inline const two_sources saxpy_source{
    R"(
#pragma OPENCL FP_CONTRACT OFF
kernel void saxpy(uint n, float a, global const float* x, global float* y) {
    uint i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
)",
    R"(
extern "C" __global__ void saxpy(unsigned int n, float a, const float* x, float* y) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
)"};

/// Reverses each work-group's elements, and adds in its sum: two local arguments, int and then long.
inline const two_sources local_source{
    R"(
kernel void mirror(global int* x, local int* copy, local long* sum) {
    uint i = get_local_id(0), n = get_local_size(0);
    copy[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) { sum[0] = 0; for (uint k = 0; k < n; ++k) sum[0] += copy[k]; }
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = copy[n - 1 - i] + (int)sum[0];
}
)",
    R"(
extern __shared__ __align__(16) unsigned char local_bytes[];
extern "C" __global__ void mirror(int* x, unsigned int copy_at, unsigned int sum_at) {
    int* copy = (int*)(local_bytes + copy_at);
    long long* sum = (long long*)(local_bytes + sum_at);
    unsigned int i = threadIdx.x, n = blockDim.x;
    unsigned int at = blockIdx.x * n + i;
    copy[i] = x[at];
    __syncthreads();
    if (i == 0) { sum[0] = 0; for (unsigned int k = 0; k < n; ++k) sum[0] += copy[k]; }
    __syncthreads();
    x[at] = copy[n - 1 - i] + (int)sum[0];
}
)"};

/// A fault on line 4: an unknown name.
inline const two_sources broken_source{
    "\n\nkernel void broken(global int* x) {\n    x[0] = no_such_name;\n}\n",
    "\n\nextern \"C\" __global__ void broken(int* x) {\n    x[0] = no_such_name;\n}\n"};

}  // namespace balm::test
