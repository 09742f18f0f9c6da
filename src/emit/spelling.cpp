// The tables of words, one a dialect.

#include "emit/spelling.hpp"

namespace balm::emit {

const spelling& spelling_of(runtime::dialect d) noexcept {
    static constexpr spelling opencl_c = {
        "kernel ",
        "__attribute__((reqd_work_group_size({0}, {1}, {2}))) ",
        "",
        // PoCL would put it into loops only after it has made vectors of those.
        "static inline __attribute__((always_inline)) ",
        "global ",
        "local ",
        "local ",
        "constant ",
        " = {0}",
        "restrict ",
        "L",
        "as_float(",
        "u)",
        "as_double(",
        "UL)",
        {"(long)get_global_id($)", "(long)get_local_id($)", "(long)get_group_id($)",
         "(long)get_global_size($)", "(long)get_local_size($)", "(long)get_num_groups($)", "0L",
         "(long)get_local_id(0)", "(long)get_local_size(0)", "(long)(get_local_id(0) / 32)"},
        {"(long)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
         "get_local_id(0))",
         "(long)(get_local_size(0) * get_local_size(1) * get_local_size(2))",
         "(long)(((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
         "get_local_id(0)) / 32)"},
        {"0", "1", "2"},
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "barrier(CLK_GLOBAL_MEM_FENCE);",
        "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        true,
        false,
    };
    static constexpr spelling cuda_cpp = {
        "extern \"C\" __global__ ",
        "__launch_bounds__({3}) ",
        "static __device__ inline ",
        "static __device__ inline ",
        "",
        "",
        "__shared__ ",
        "static __constant__ const ",
        " = {}",
        "__restrict__ ",
        "LL",
        "__int_as_float(",
        ")",
        "__longlong_as_double(",
        "LL)",
        {"(long long)blockIdx.$ * blockDim.$ + threadIdx.$", "(long long)threadIdx.$",
         "(long long)blockIdx.$", "(long long)gridDim.$ * blockDim.$", "(long long)blockDim.$",
         "(long long)gridDim.$", "0LL", "(long long)threadIdx.x", "(long long)blockDim.x",
         "(long long)(threadIdx.x / 32)"},
        {"(long long)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)",
         "(long long)(blockDim.x * blockDim.y * blockDim.z)",
         "(long long)(((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32)"},
        {"x", "y", "z"},
        "__syncthreads();",
        "__syncthreads();",
        "__syncthreads();",
        false,
        true,
    };
    return d == runtime::dialect::opencl_c ? opencl_c : cuda_cpp;
}

}  // namespace balm::emit
