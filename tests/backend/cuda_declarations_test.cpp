// Our declarations of the CUDA driver API against the toolkit's header, where that is installed: the same
// parameters, row by row, and the same values of the constants. All of it happens while compiling.

#include "backend/cuda/driver_api.hpp"

#if __has_include("/usr/local/cuda/include/cuda.h") && !defined(_WIN32)
#include "/usr/local/cuda/include/cuda.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace balm::cuda {

namespace {

// The same name for types of the same shape: enumerations become their underlying integer, pointers to
// structures become pointers to void.
template <class Type>
struct shape {
    using type = Type;
};
template <class Type>
requires std::is_enum_v<Type>
struct shape<Type> {
    using type = std::underlying_type_t<Type>;
};
template <class Type>
struct shape<const Type> {
    using type = const typename shape<Type>::type;
};
template <class Type>
struct shape<Type*> {
    using type = typename shape<Type>::type*;
};
template <class Type>
requires std::is_class_v<Type>
struct shape<Type> {
    using type = void;
};
template <class Result, class... Parameters>
struct shape<Result (*)(Parameters...)> {
    using type = typename shape<Result>::type (*)(typename shape<Parameters>::type...);
};

template <class Ours, class Theirs>
constexpr bool same_shape = std::is_same_v<typename shape<Ours>::type, typename shape<Theirs>::type>;

#define BALM_SAME_ROW(name, symbol, ...) \
    static_assert(same_shape<CUresult (*)(__VA_ARGS__), decltype(&::symbol)>, #symbol);
BALM_CUDA_DRIVER_TABLE(BALM_SAME_ROW)
#undef BALM_SAME_ROW

#define BALM_SAME_VALUE(name) \
    static_assert(static_cast<long long>(name) == static_cast<long long>(::name), #name)
BALM_SAME_VALUE(CUDA_ERROR_INVALID_VALUE);
BALM_SAME_VALUE(CUDA_ERROR_OUT_OF_MEMORY);
BALM_SAME_VALUE(CUDA_ERROR_DEINITIALIZED);
BALM_SAME_VALUE(CUDA_ERROR_NO_DEVICE);
BALM_SAME_VALUE(CUDA_ERROR_NOT_READY);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_INTEGRATED);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
BALM_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
BALM_SAME_VALUE(CU_POINTER_ATTRIBUTE_CONTEXT);
BALM_SAME_VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
BALM_SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_MANAGED);
BALM_SAME_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
BALM_SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
BALM_SAME_VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
BALM_SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
BALM_SAME_VALUE(CU_JIT_INFO_LOG_BUFFER);
BALM_SAME_VALUE(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
BALM_SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER);
BALM_SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
BALM_SAME_VALUE(CU_MEMORYTYPE_HOST);
BALM_SAME_VALUE(CU_MEMORYTYPE_DEVICE);
BALM_SAME_VALUE(CU_MEM_ATTACH_GLOBAL);
BALM_SAME_VALUE(CU_STREAM_NON_BLOCKING);
BALM_SAME_VALUE(CU_EVENT_DEFAULT);
BALM_SAME_VALUE(CU_EVENT_DISABLE_TIMING);
BALM_SAME_VALUE(CU_COMPUTEMODE_PROHIBITED);
#undef BALM_SAME_VALUE
static_assert(portable_host_memory == CU_MEMHOSTALLOC_PORTABLE);
static_assert(sizeof(CUuuid) == sizeof(::CUuuid));

#define BALM_SAME_PLACE(member)                                                           \
    static_assert(offsetof(CUDA_MEMCPY3D, member) == offsetof(::CUDA_MEMCPY3D, member) && \
                      sizeof(CUDA_MEMCPY3D::member) == sizeof(::CUDA_MEMCPY3D::member),   \
                  #member)
BALM_SAME_PLACE(srcXInBytes);
BALM_SAME_PLACE(srcY);
BALM_SAME_PLACE(srcZ);
BALM_SAME_PLACE(srcLOD);
BALM_SAME_PLACE(srcMemoryType);
BALM_SAME_PLACE(srcHost);
BALM_SAME_PLACE(srcDevice);
BALM_SAME_PLACE(srcArray);
BALM_SAME_PLACE(reserved0);
BALM_SAME_PLACE(srcPitch);
BALM_SAME_PLACE(srcHeight);
BALM_SAME_PLACE(dstXInBytes);
BALM_SAME_PLACE(dstY);
BALM_SAME_PLACE(dstZ);
BALM_SAME_PLACE(dstLOD);
BALM_SAME_PLACE(dstMemoryType);
BALM_SAME_PLACE(dstHost);
BALM_SAME_PLACE(dstDevice);
BALM_SAME_PLACE(dstArray);
BALM_SAME_PLACE(reserved1);
BALM_SAME_PLACE(dstPitch);
BALM_SAME_PLACE(dstHeight);
BALM_SAME_PLACE(WidthInBytes);
BALM_SAME_PLACE(Height);
BALM_SAME_PLACE(Depth);
#undef BALM_SAME_PLACE
static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(::CUDA_MEMCPY3D));

}  // namespace

// The comparison is the compilation of this file; the test only says that it took place.
TEST(C14_backend, declares_the_driver_api_as_the_toolkit_does) { SUCCEED(); }

}  // namespace balm::cuda

#endif
