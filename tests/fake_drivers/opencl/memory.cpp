// Buffers, images and shared virtual memory of the fake OpenCL.

#include <algorithm>
#include <cstdlib>

#include "fake_drivers/opencl/objects.hpp"

namespace {

using namespace balm::test;

constexpr std::size_t alignment = 128;

std::byte* allocate(std::size_t bytes) {
    void* made = nullptr;
    if (::posix_memalign(&made, alignment, bytes) != 0) return nullptr;
    std::memset(made, 0xcd, bytes);
    return static_cast<std::byte*>(made);
}

/// Memory that nobody else gives.
cl_mem make_memory(cl_context in, cl_mem_flags flags, std::size_t bytes) {
    auto* const made = new _cl_mem;
    made->context = reference(in);
    made->flags = flags;
    made->size = bytes;
    made->bytes = allocate(bytes);
    made->is_owner = true;
    return made;
}

std::size_t element_bytes(const cl_image_format& of) {
    const std::size_t lanes = of.image_channel_order == CL_RGBA ? 4 : of.image_channel_order == CL_RG ? 2 : 1;
    switch (of.image_channel_data_type) {
        case CL_FLOAT:
        case CL_SIGNED_INT32:
        case CL_UNSIGNED_INT32: return 4 * lanes;
        default: return lanes;
    }
}

/// Shared virtual memory, which is known by its address.
struct shared_block : driver_object {
    std::byte* bytes = nullptr;
};
std::vector<shared_block*>& shared_blocks() {
    static auto* const made = new std::vector<shared_block*>;
    return *made;
}

}  // namespace

_cl_mem::~_cl_mem() {
    if (is_owner) std::free(bytes);
    for (auto at = at_end.rbegin(); at != at_end.rend(); ++at) at->first(this, at->second);
}

extern "C" {

cl_mem CL_API_CALL clCreateBuffer(cl_context in, cl_mem_flags flags, size_t bytes, void* host, cl_int* code) {
    return making_call(__func__, code, [&](cl_int& own) -> cl_mem {
        if (bytes == 0) own = CL_INVALID_BUFFER_SIZE;
        if (bytes == 0) return nullptr;
        if ((flags & CL_MEM_USE_HOST_PTR) == 0) return make_memory(in, flags, bytes);
        auto* const made = new _cl_mem;
        made->context = reference(in);
        made->flags = flags;
        made->bytes = static_cast<std::byte*>(host);
        made->size = bytes;
        return made;
    });
}
cl_mem CL_API_CALL clCreateSubBuffer(cl_mem of, cl_mem_flags, cl_buffer_create_type, const void* region,
                                     cl_int* code) {
    return making_call(__func__, code, [&](cl_int& own) -> cl_mem {
        const auto& part = *static_cast<const cl_buffer_region*>(region);
        if (part.origin + part.size > of->size) own = CL_INVALID_VALUE;
        if (part.origin % alignment != 0) own = CL_MISALIGNED_SUB_BUFFER_OFFSET;
        if (own != CL_SUCCESS) return nullptr;
        auto* const made = new _cl_mem;
        made->context = of->context;
        made->whole = reference(of);
        made->flags = of->flags;
        made->bytes = of->bytes + part.origin;
        made->size = part.size;
        return made;
    });
}
cl_int CL_API_CALL clGetSupportedImageFormats(cl_context, cl_mem_flags, cl_mem_object_type, cl_uint count,
                                              cl_image_format* formats, cl_uint* total) {
    return call(__func__, [&] {
        if (total != nullptr) *total = 1;
        if (formats != nullptr && count > 0) *formats = {CL_R, CL_FLOAT};
    });
}
cl_mem CL_API_CALL clCreateImage(cl_context in, cl_mem_flags flags, const cl_image_format* format,
                                 const cl_image_desc* described, void*, cl_int* code) {
    return making_call(__func__, code, [&](cl_int&) {
        const std::array<std::size_t, 3> elements{described->image_width,
                                                  std::max<std::size_t>(described->image_height, 1),
                                                  std::max<std::size_t>(described->image_depth, 1)};
        const std::size_t each = element_bytes(*format);
        cl_mem made = make_memory(in, flags, elements[0] * elements[1] * elements[2] * each);
        made->type = described->image_type;
        made->elements = elements;
        made->element_bytes = each;
        return made;
    });
}
cl_sampler CL_API_CALL clCreateSampler(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode,
                                       cl_int* code) {
    return making_call(__func__, code, [](cl_int&) { return new _cl_sampler; });
}
cl_int CL_API_CALL clReleaseSampler(cl_sampler gone) { return release(gone); }

cl_int CL_API_CALL clRetainMemObject(cl_mem of) {
    return call(__func__, [&] { ++of->references; });
}
cl_int CL_API_CALL clReleaseMemObject(cl_mem gone) { return release(gone); }
cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem of, void(CL_CALLBACK* notify)(cl_mem, void*),
                                                    void* data) {
    return call(__func__, [&] { of->at_end.emplace_back(notify, data); });
}
cl_int CL_API_CALL clGetMemObjectInfo(cl_mem of, cl_mem_info what, size_t size, void* to, size_t* needed) {
    return call(__func__, [&] {
        const auto tell = [&](const auto& value) { return answer(value, size, to, needed); };
        switch (what) {
            case CL_MEM_TYPE: return tell(of->type);
            case CL_MEM_FLAGS: return tell(of->flags);
            case CL_MEM_SIZE: return tell(of->size);
            case CL_MEM_CONTEXT: return tell(of->context.get());
            case CL_MEM_ASSOCIATED_MEMOBJECT: return tell(of->whole.get());
            default: return CL_INVALID_VALUE;
        }
    });
}

// Of OpenCL 2.0: the library looks for them by their names.
void* CL_API_CALL clSVMAlloc(cl_context, cl_bitfield, size_t bytes, cl_uint) {
    return making_call(__func__, nullptr, [&](cl_int&) -> void* {
        auto* const made = new shared_block;
        made->bytes = allocate(bytes);
        shared_blocks().push_back(made);
        return made->bytes;
    });
}
void CL_API_CALL clSVMFree(cl_context, void* gone) {
    const in_driver inside;
    std::erase_if(shared_blocks(), [&](shared_block* each) {
        if (each->bytes != gone) return false;
        std::free(each->bytes);
        delete each;
        return true;
    });
}

}  // extern "C"
