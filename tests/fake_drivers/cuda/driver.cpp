// Memory, images, streams, events and programs of the fake CUDA driver.

#include "fake_drivers/cuda/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_drivers/kernels.hpp"

namespace balm::cuda {

using test::driver_object;
using test::stream;

struct CUgraph_st : driver_object {
    explicit CUgraph_st(std::vector<std::function<void()>> of) : commands(std::move(of)) {}
    std::vector<std::function<void()>> commands;
};
struct CUgraphExec_st : CUgraph_st {
    using CUgraph_st::CUgraph_st;
};
struct CUevent_st : driver_object {
    test::command_handle recorded;  // null: nothing yet
};
struct CUfunc_st {
    const test::known_kernel* known;
};
struct CUmod_st : driver_object {
    explicit CUmod_st(const void* image) : text(static_cast<const char*>(image)) {}
    std::string text;
    std::map<std::string, CUfunc_st> functions{};
};
struct CUarray_st : driver_object {
    CUDA_ARRAY3D_DESCRIPTOR described{};
    std::vector<std::byte> bytes{};
    std::size_t rows() const { return std::max<std::size_t>(described.Height, 1); }
    std::size_t planes() const { return std::max<std::size_t>(described.Depth, 1); }
};

namespace {

/// Memory of any kind, counted by an object in front of it.
struct alignas(512) block : driver_object {};

void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    if (::posix_memalign(&memory, alignof(block), sizeof(block) + bytes) != 0) return nullptr;
    void* const given = new (memory) block + 1;
    std::memset(given, 0xcd, bytes);
    return given;
}

// The driver waits for all work before it frees anything.
void free_after_all(void* memory) {
    stream::run_all();
    block* const freed = static_cast<block*>(memory) - 1;
    freed->~block();
    std::free(freed);
}
template <class Object>
void delete_after_all(Object* gone) {
    stream::run_all();
    delete gone;
}

void* host(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

void allocate_on_device(CUdeviceptr* made, std::size_t bytes) {
    *made = reinterpret_cast<CUdeviceptr>(allocate(bytes));
}

template <class Work>
test::command_handle enqueue(CUstream to, Work&& work) {
    if (to->captured != nullptr) {
        to->captured->push_back(std::forward<Work>(work));
        return nullptr;
    }
    test::command_handle added = to->commands.add(std::forward<Work>(work));
    to->commands.flush();
    return added;
}

CUresult copy(const char* name, CUstream on, void* to, const void* from, std::size_t bytes) {
    return call(name, [&] { enqueue(on, [=] { std::memmove(to, from, bytes); }); });
}

template <class Word>
CUresult set(const char* name, CUdeviceptr to, Word value, std::size_t count, CUstream on) {
    return call(name, [&] {
        enqueue(on, [=] {
            for (std::size_t i = 0; i < count; ++i)
                std::memcpy(host(to + i * sizeof value), &value, sizeof value);
        });
    });
}

/// One side of a copy of a box.
struct box_side {
    CUmemorytype where;
    std::byte* memory;
    CUarray array;
    std::size_t x, y, z, pitch, height;

    std::byte* row(std::size_t dy, std::size_t dz) const {
        if (where != CU_MEMORYTYPE_ARRAY) return memory + x + ((z + dz) * height + y + dy) * pitch;
        const std::size_t bytes = array->bytes.size() / array->rows() / array->planes();
        return array->bytes.data() + x + ((z + dz) * array->rows() + y + dy) * bytes;
    }
};
box_side target_of(const CUDA_MEMCPY3D& c) {
    void* const memory = c.dstMemoryType == CU_MEMORYTYPE_HOST ? c.dstHost : host(c.dstDevice);
    return {c.dstMemoryType, static_cast<std::byte*>(memory),
            c.dstArray,      c.dstXInBytes,
            c.dstY,          c.dstZ,
            c.dstPitch,      c.dstHeight};
}
box_side source_of(const CUDA_MEMCPY3D& c) {
    void* const memory =
        c.srcMemoryType == CU_MEMORYTYPE_HOST ? const_cast<void*>(c.srcHost) : host(c.srcDevice);
    return {c.srcMemoryType, static_cast<std::byte*>(memory),
            c.srcArray,      c.srcXInBytes,
            c.srcY,          c.srcZ,
            c.srcPitch,      c.srcHeight};
}

/// Textures and surfaces, which are known by numbers.
CUresult make_number(const char* name, unsigned long long* made) {
    return allocating_call(name, [&] { *made = reinterpret_cast<unsigned long long>(new driver_object); });
}
CUresult delete_number(const char* name, unsigned long long gone) {
    return safe_call(name, [&] { delete reinterpret_cast<driver_object*>(gone); });
}

}  // namespace

extern "C" {

// ---- memory ----

CUresult cuMemAlloc_v2(CUdeviceptr* made, std::size_t bytes) {
    return allocating_call(__func__, [&] { allocate_on_device(made, bytes); });
}
CUresult cuMemAllocManaged(CUdeviceptr* made, std::size_t bytes, unsigned) {
    return allocating_call(__func__, [&] { allocate_on_device(made, bytes); });
}
CUresult cuMemHostAlloc(void** made, std::size_t bytes, unsigned) {
    return allocating_call(__func__, [&] { *made = allocate(bytes); });
}
CUresult cuMemFree_v2(CUdeviceptr freed) {
    return safe_call(__func__, [&] { free_after_all(host(freed)); });
}
CUresult cuMemFreeHost(void* freed) {
    return safe_call(__func__, [&] { free_after_all(freed); });
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr*, std::size_t*, CUdeviceptr) {
    return safe_call(__func__, [] { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuPointerGetAttribute(void*, CUpointer_attribute, CUdeviceptr) {
    return safe_call(__func__, [] { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream on) {
    return copy(__func__, on, host(to), from, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream on) {
    return copy(__func__, on, to, host(from), bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream on) {
    return copy(__func__, on, host(to), host(from), bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes,
                           CUstream on) {
    return copy(__func__, on, host(to), host(from), bytes);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream on) {
    return call(__func__, [&] {
        enqueue(on, [c = *given] {
            for (std::size_t z = 0; z < c.Depth; ++z)
                for (std::size_t y = 0; y < c.Height; ++y)
                    std::memmove(target_of(c).row(y, z), source_of(c).row(y, z), c.WidthInBytes);
        });
    });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream on) {
    return set(__func__, to, value, count, on);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream on) {
    return set(__func__, to, value, count, on);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream on) {
    return set(__func__, to, value, count, on);
}

// ---- images ----

CUresult cuArray3DCreate_v2(CUarray* made, const CUDA_ARRAY3D_DESCRIPTOR* described) {
    return allocating_call(__func__, [&] {
        const std::size_t element =
            described->NumChannels * (described->Format == CU_AD_FORMAT_FLOAT ? 4 : 1);
        auto array = std::make_unique<CUarray_st>();
        array->described = *described;
        array->bytes.resize(described->Width * array->rows() * array->planes() * element);
        *made = array.release();
    });
}
CUresult cuArrayDestroy(CUarray gone) {
    return safe_call(__func__, [&] { delete_after_all(gone); });
}
CUresult cuTexObjectCreate(CUtexObject* made, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,
                           const CUDA_RESOURCE_VIEW_DESC*) {
    return make_number(__func__, made);
}
CUresult cuTexObjectDestroy(CUtexObject gone) { return delete_number(__func__, gone); }
CUresult cuSurfObjectCreate(CUsurfObject* made, const CUDA_RESOURCE_DESC*) {
    return make_number(__func__, made);
}
CUresult cuSurfObjectDestroy(CUsurfObject gone) { return delete_number(__func__, gone); }

// ---- streams and events ----

CUresult cuStreamCreate(CUstream* made, unsigned) {
    return allocating_call(__func__, [&] { *made = new CUstream_st; });
}
CUresult cuStreamDestroy_v2(CUstream gone) {
    return safe_call(__func__, [&] { delete gone; });
}
CUresult cuStreamGetCtx(CUstream, CUcontext*) {
    return safe_call(__func__, [] { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamSynchronize(CUstream of) {
    return call(__func__, [&] { of->commands.flush_and_run(); });
}
CUresult cuStreamWaitEvent(CUstream on, CUevent waited, unsigned) {
    return call(__func__, [&] {
        if (waited->recorded != nullptr)
            enqueue(on, [wanted = waited->recorded] { stream::wait_for(*wanted); });
    });
}
CUresult cuStreamBeginCapture_v2(CUstream of, unsigned) {
    return call(__func__, [&] { of->captured = std::make_unique<std::vector<std::function<void()>>>(); });
}
CUresult cuStreamEndCapture(CUstream of, CUgraph* made) {
    return call(__func__, [&] { *made = new CUgraph_st(std::move(*std::exchange(of->captured, nullptr))); });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph of, unsigned long long) {
    return allocating_call(__func__, [&] { *made = new CUgraphExec_st(of->commands); });
}
CUresult cuGraphLaunch(CUgraphExec launched, CUstream on) {
    return call(__func__, [&] {
        for (const std::function<void()>& each : launched->commands) enqueue(on, each);
    });
}
CUresult cuGraphDestroy(CUgraph gone) {
    return safe_call(__func__, [&] { delete gone; });
}
CUresult cuGraphExecDestroy(CUgraphExec gone) {
    return safe_call(__func__, [&] { delete gone; });
}
CUresult cuEventCreate(CUevent* made, unsigned) {
    return allocating_call(__func__, [&] { *made = new CUevent_st; });
}
CUresult cuEventDestroy_v2(CUevent gone) {
    return safe_call(__func__, [&] { delete gone; });
}
CUresult cuEventRecord(CUevent recorded, CUstream on) {
    return call(__func__, [&] { recorded->recorded = enqueue(on, [] {}); });
}
CUresult cuEventQuery(CUevent asked) {
    return safe_call(__func__, [&] {
        return asked->recorded == nullptr || stream::poll(*asked->recorded) ? CUDA_SUCCESS
                                                                            : CUDA_ERROR_NOT_READY;
    });
}
CUresult cuEventSynchronize(CUevent waited) {
    return call(__func__, [&] {
        if (waited->recorded != nullptr) stream::wait_for(*waited->recorded);
    });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
    return call(__func__, [&] {
        const auto nanoseconds = static_cast<std::int64_t>(to->recorded->ended - from->recorded->ended);
        *milliseconds = 1e-6f * static_cast<float>(nanoseconds);
    });
}

// ---- programs ----

CUresult cuModuleLoadDataEx(CUmodule* made, const void* image, unsigned, CUjit_option*, void**) {
    return call(__func__, [&] { *made = new CUmod_st(image); });
}
CUresult cuModuleUnload(CUmodule gone) {
    return safe_call(__func__, [&] { delete_after_all(gone); });
}
CUresult cuModuleGetFunction(CUfunction* found, CUmodule of, const char* name) {
    return call(__func__, [&] {
        if (of->text.find(name) == std::string::npos) return unknown_error;
        *found = &of->functions.try_emplace(name, CUfunc_st{test::find_kernel(name)}).first->second;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute what, CUfunction) {
    return call(__func__, [&] { *value = what == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0; });
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
    return call(__func__, [] {});
}
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned local_x,
                        unsigned local_y, unsigned local_z, unsigned, CUstream on, void** given, void**) {
    return call(__func__, [&] {
        const test::known_kernel* const known = function->known;
        const std::size_t items = std::size_t{x} * y * z * local_x * local_y * local_z;
        std::array<std::uint64_t, 2> parameters{};
        for (std::size_t k = 0; known != nullptr && k < parameters.size(); ++k)
            std::memcpy(&parameters[k], given[k], known->parameter_bytes[k]);
        enqueue(on, [=] {
            if (known != nullptr) known->run(items, parameters);
        });
    });
}

}  // extern "C"

}  // namespace balm::cuda
