#pragma once
// The part of the CUDA driver API that Balm uses, declared here so that building needs no toolkit, and a
// table of its entry points, filled from the driver's library at run time. Names are the driver's own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace balm::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUarray = struct CUarray_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphConditionalHandle = std::uint64_t;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;

struct CUuuid {
    char bytes[16];
};

enum CUmemorytype : unsigned {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
};

/// The argument of cuMemcpy3DAsync: the header's CUDA_MEMCPY3D_v2.
struct CUDA_MEMCPY3D {
    std::size_t srcXInBytes;
    std::size_t srcY;
    std::size_t srcZ;
    std::size_t srcLOD;
    CUmemorytype srcMemoryType;
    const void* srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void* reserved0;
    std::size_t srcPitch;
    std::size_t srcHeight;
    std::size_t dstXInBytes;
    std::size_t dstY;
    std::size_t dstZ;
    std::size_t dstLOD;
    CUmemorytype dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void* reserved1;
    std::size_t dstPitch;
    std::size_t dstHeight;
    std::size_t WidthInBytes;
    std::size_t Height;
    std::size_t Depth;
};

enum CUarray_format : unsigned {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CU_AD_FORMAT_HALF = 0x10,
    CU_AD_FORMAT_FLOAT = 0x20,
};

/// Describes an image; a height or depth of 0 means fewer dimensions.
struct CUDA_ARRAY3D_DESCRIPTOR {
    std::size_t Width;
    std::size_t Height;
    std::size_t Depth;
    CUarray_format Format;
    unsigned NumChannels;
    unsigned Flags;
};
inline constexpr unsigned written_array = 2;  // CUDA_ARRAY3D_SURFACE_LDST, a macro of the header

enum CUresourcetype : unsigned { CU_RESOURCE_TYPE_ARRAY = 0 };

/// The memory behind a texture or surface object: always an array here.
struct CUDA_RESOURCE_DESC {
    CUresourcetype resType;
    union {
        struct {
            CUarray hArray;
        } array;
        int reserved[32];
    } res;
    unsigned flags;
};

enum CUaddress_mode : unsigned {
    CU_TR_ADDRESS_MODE_WRAP = 0,
    CU_TR_ADDRESS_MODE_CLAMP = 1,
    CU_TR_ADDRESS_MODE_MIRROR = 2,
    CU_TR_ADDRESS_MODE_BORDER = 3,
};

enum CUfilter_mode : unsigned {
    CU_TR_FILTER_MODE_POINT = 0,
    CU_TR_FILTER_MODE_LINEAR = 1,
};

inline constexpr unsigned texture_of_integers = 1;                // CU_TRSF_READ_AS_INTEGER, a macro, too
inline constexpr unsigned texture_of_normalised_coordinates = 2;  // CU_TRSF_NORMALIZED_COORDINATES

struct CUDA_TEXTURE_DESC {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    unsigned flags;
    unsigned maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
};

struct CUDA_RESOURCE_VIEW_DESC;

struct CUgraphEdgeData;

enum CUgraphNodeType : unsigned { CU_GRAPH_NODE_TYPE_CONDITIONAL = 13 };
enum CUgraphConditionalNodeType : unsigned { CU_GRAPH_COND_TYPE_WHILE = 1 };
inline constexpr unsigned CU_GRAPH_COND_ASSIGN_DEFAULT = 1;

struct CUDA_CONDITIONAL_NODE_PARAMS {
    CUgraphConditionalHandle handle;
    CUgraphConditionalNodeType type;
    unsigned size;
    CUgraph* phGraph_out;
    CUcontext ctx;
};

/// A node of a graph: always a conditional one here.
struct CUgraphNodeParams {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
    };
    long long reserved2;
};

static_assert(sizeof(CUdeviceptr) == sizeof(std::uintptr_t), "Balm's CUDA backend is for 64-bit systems");

enum CUresult : unsigned {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_READY = 600,
};

enum CUdevice_attribute : unsigned {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUpointer_attribute : unsigned {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
};

enum CUfunction_attribute : unsigned {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUjit_option : unsigned {
    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

inline constexpr unsigned portable_host_memory = 1;  // CU_MEMHOSTALLOC_PORTABLE, a macro of the header
inline constexpr unsigned CU_MEM_ATTACH_GLOBAL = 1;
inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_STREAM_CAPTURE_MODE_RELAXED = 2;
inline constexpr unsigned CU_EVENT_DEFAULT = 0;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr int CU_COMPUTEMODE_PROHIBITED = 2;

// Name, symbol in the library, parameters. The symbols' versions are those of CUDA 11, which every later
// driver exports too; a test compares the rows with the toolkit's header if there is one.
#define BALM_CUDA_DRIVER_TABLE(ROW)                                                                          \
    ROW(cuInit, cuInit, unsigned)                                                                            \
    ROW(cuDriverGetVersion, cuDriverGetVersion, int*)                                                        \
    ROW(cuGetErrorName, cuGetErrorName, CUresult, const char**)                                              \
    ROW(cuGetErrorString, cuGetErrorString, CUresult, const char**)                                          \
    ROW(cuDeviceGet, cuDeviceGet, CUdevice*, int)                                                            \
    ROW(cuDeviceGetCount, cuDeviceGetCount, int*)                                                            \
    ROW(cuDeviceGetName, cuDeviceGetName, char*, int, CUdevice)                                              \
    ROW(cuDeviceGetUuid, cuDeviceGetUuid, CUuuid*, CUdevice)                                                 \
    ROW(cuDeviceTotalMem, cuDeviceTotalMem_v2, std::size_t*, CUdevice)                                       \
    ROW(cuDeviceGetAttribute, cuDeviceGetAttribute, int*, CUdevice_attribute, CUdevice)                      \
    ROW(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, char*, int, CUdevice)                                      \
    ROW(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                            \
    ROW(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, CUdevice)                                   \
    ROW(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*)                   \
    ROW(cuCtxGetCurrent, cuCtxGetCurrent, CUcontext*)                                                        \
    ROW(cuCtxSetCurrent, cuCtxSetCurrent, CUcontext)                                                         \
    ROW(cuCtxGetDevice, cuCtxGetDevice, CUdevice*)                                                           \
    ROW(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, int*, CUdevice, CUdevice)                              \
    ROW(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, CUcontext, unsigned)                                   \
    ROW(cuMemAlloc, cuMemAlloc_v2, CUdeviceptr*, std::size_t)                                                \
    ROW(cuMemAllocManaged, cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned)                           \
    ROW(cuMemFree, cuMemFree_v2, CUdeviceptr)                                                                \
    ROW(cuMemGetAddressRange, cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)              \
    ROW(cuPointerGetAttribute, cuPointerGetAttribute, void*, CUpointer_attribute, CUdeviceptr)               \
    ROW(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, std::size_t, CUstream)            \
    ROW(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, std::size_t, CUstream)                  \
    ROW(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)            \
    ROW(cuMemcpyPeerAsync, cuMemcpyPeerAsync, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t,   \
        CUstream)                                                                                            \
    ROW(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D*, CUstream)                                 \
    ROW(cuArray3DCreate, cuArray3DCreate_v2, CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*)                       \
    ROW(cuArrayDestroy, cuArrayDestroy, CUarray)                                                             \
    ROW(cuTexObjectCreate, cuTexObjectCreate, CUtexObject*, const CUDA_RESOURCE_DESC*,                       \
        const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC*)                                            \
    ROW(cuTexObjectDestroy, cuTexObjectDestroy, CUtexObject)                                                 \
    ROW(cuSurfObjectCreate, cuSurfObjectCreate, CUsurfObject*, const CUDA_RESOURCE_DESC*)                    \
    ROW(cuSurfObjectDestroy, cuSurfObjectDestroy, CUsurfObject)                                              \
    ROW(cuMemHostAlloc, cuMemHostAlloc, void**, std::size_t, unsigned)                                       \
    ROW(cuMemFreeHost, cuMemFreeHost, void*)                                                                 \
    ROW(cuMemsetD8Async, cuMemsetD8Async, CUdeviceptr, unsigned char, std::size_t, CUstream)                 \
    ROW(cuMemsetD16Async, cuMemsetD16Async, CUdeviceptr, unsigned short, std::size_t, CUstream)              \
    ROW(cuMemsetD32Async, cuMemsetD32Async, CUdeviceptr, unsigned, std::size_t, CUstream)                    \
    ROW(cuStreamCreate, cuStreamCreate, CUstream*, unsigned)                                                 \
    ROW(cuStreamDestroy, cuStreamDestroy_v2, CUstream)                                                       \
    ROW(cuStreamGetCtx, cuStreamGetCtx, CUstream, CUcontext*)                                                \
    ROW(cuStreamSynchronize, cuStreamSynchronize, CUstream)                                                  \
    ROW(cuStreamWaitEvent, cuStreamWaitEvent, CUstream, CUevent, unsigned)                                   \
    ROW(cuStreamBeginCapture, cuStreamBeginCapture_v2, CUstream, unsigned)                                   \
    ROW(cuStreamEndCapture, cuStreamEndCapture, CUstream, CUgraph*)                                          \
    ROW(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long) \
    ROW(cuGraphLaunch, cuGraphLaunch, CUgraphExec, CUstream)                                                 \
    ROW(cuGraphDestroy, cuGraphDestroy, CUgraph)                                                             \
    ROW(cuGraphExecDestroy, cuGraphExecDestroy, CUgraphExec)                                                 \
    ROW(cuEventCreate, cuEventCreate, CUevent*, unsigned)                                                    \
    ROW(cuEventDestroy, cuEventDestroy_v2, CUevent)                                                          \
    ROW(cuEventRecord, cuEventRecord, CUevent, CUstream)                                                     \
    ROW(cuEventQuery, cuEventQuery, CUevent)                                                                 \
    ROW(cuEventSynchronize, cuEventSynchronize, CUevent)                                                     \
    ROW(cuEventElapsedTime, cuEventElapsedTime, float*, CUevent, CUevent)                                    \
    ROW(cuModuleLoadDataEx, cuModuleLoadDataEx, CUmodule*, const void*, unsigned, CUjit_option*, void**)     \
    ROW(cuModuleUnload, cuModuleUnload, CUmodule)                                                            \
    ROW(cuModuleGetFunction, cuModuleGetFunction, CUfunction*, CUmodule, const char*)                        \
    ROW(cuFuncGetAttribute, cuFuncGetAttribute, int*, CUfunction_attribute, CUfunction)                      \
    ROW(cuFuncSetAttribute, cuFuncSetAttribute, CUfunction, CUfunction_attribute, int)                       \
    ROW(cuLaunchKernel, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,        \
        unsigned, unsigned, CUstream, void**, void**)

// What drivers since CUDA 12.3 have: loops in graphs.
#define BALM_CUDA_LOOP_TABLE(ROW)                                                                           \
    ROW(cuGraphCreate, cuGraphCreate, CUgraph*, unsigned)                                                   \
    ROW(cuGraphConditionalHandleCreate, cuGraphConditionalHandleCreate, CUgraphConditionalHandle*, CUgraph, \
        CUcontext, unsigned, unsigned)                                                                      \
    ROW(cuGraphAddNode, cuGraphAddNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*,                       \
        const CUgraphEdgeData*, std::size_t, CUgraphNodeParams*)                                            \
    ROW(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, CUstream, CUgraph, const CUgraphNode*,    \
        const CUgraphEdgeData*, std::size_t, unsigned)

/// The entry points, each under its unversioned name.
struct driver_api {
#define BALM_CUDA_MEMBER(name, symbol, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
    BALM_CUDA_DRIVER_TABLE(BALM_CUDA_MEMBER)
    BALM_CUDA_LOOP_TABLE(BALM_CUDA_MEMBER)
#undef BALM_CUDA_MEMBER
};

/// The driver as found on this machine.
struct driver_library {
    driver_api api;
    bool is_ready = false;           ///< opened, complete, and cuInit succeeded
    bool has_loops = false;          ///< also the entry points for loops in graphs
    int version = 0;                 ///< the newest CUDA it supports, as 1000 major + 10 minor; 0 if none
    std::vector<std::string> notes;  ///< why it is not ready: each library tried, or cuInit's error
};

/// Opens the driver and calls cuInit, once per process. Creates no context. Never unloaded: its threads and
/// exit handlers outlive static objects.
const driver_library& load_driver();

/// The entry points; to be called only if load_driver() is ready.
inline const driver_api& driver() { return load_driver().api; }

}  // namespace balm::cuda
