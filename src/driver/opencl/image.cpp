// Images and samplers of a device.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "balm/error.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device.hpp"

namespace balm::opencl {

namespace {

cl_channel_type channel_type(const runtime::image_description& d) {
    switch (d.element) {
        case scalar::i8: return d.is_normalised ? CL_SNORM_INT8 : CL_SIGNED_INT8;
        case scalar::u8: return d.is_normalised ? CL_UNORM_INT8 : CL_UNSIGNED_INT8;
        case scalar::i16: return d.is_normalised ? CL_SNORM_INT16 : CL_SIGNED_INT16;
        case scalar::u16: return d.is_normalised ? CL_UNORM_INT16 : CL_UNSIGNED_INT16;
        case scalar::i32: return CL_SIGNED_INT32;
        case scalar::u32: return CL_UNSIGNED_INT32;
        case scalar::f16: return CL_HALF_FLOAT;
        default: return CL_FLOAT;
    }
}

cl_image_format format_of(const runtime::image_description& d) {
    const cl_channel_order orders[] = {CL_R, CL_R, CL_RG, CL_RGBA, CL_RGBA};
    return {orders[d.lanes], channel_type(d)};
}

cl_mem_object_type type_of(const runtime::image_description& d) {
    return d.dimensions == 1   ? CL_MEM_OBJECT_IMAGE1D
           : d.dimensions == 2 ? CL_MEM_OBJECT_IMAGE2D
                               : CL_MEM_OBJECT_IMAGE3D;
}

cl_addressing_mode mode_of(address_mode mode) {
    switch (mode) {
        case address_mode::clamp_to_border: return CL_ADDRESS_CLAMP;
        case address_mode::repeat: return CL_ADDRESS_REPEAT;
        case address_mode::mirrored_repeat: return CL_ADDRESS_MIRRORED_REPEAT;
        case address_mode::clamp_to_edge: break;
    }
    return CL_ADDRESS_CLAMP_TO_EDGE;
}

}  // namespace

bool device::has_images_of(const runtime::image_description& wanted) {
    // PoCL 3.1 lists them as supported, but reads do not return the written values.
    if (is_pocl() && wanted.element == scalar::f16 && wanted.lanes == 1) return false;
    cl_uint count = 0;
    check(loader().clGetSupportedImageFormats(context(), CL_MEM_READ_WRITE, type_of(wanted), 0, nullptr,
                                              &count),
          "clGetSupportedImageFormats", "the supported image formats", name());
    std::vector<cl_image_format> formats(count);
    check(loader().clGetSupportedImageFormats(context(), CL_MEM_READ_WRITE, type_of(wanted), count,
                                              formats.data(), nullptr),
          "clGetSupportedImageFormats", "the supported image formats", name());
    const cl_image_format own = format_of(wanted);
    return std::any_of(formats.begin(), formats.end(), [&](const cl_image_format& each) {
        return each.image_channel_order == own.image_channel_order &&
               each.image_channel_data_type == own.image_channel_data_type;
    });
}

runtime::memory device::allocate_image(const runtime::image_description& wanted) {
    const cl_image_format format = format_of(wanted);
    cl_image_desc described{};
    described.image_type = type_of(wanted);
    described.image_width = wanted.size[0];
    described.image_height = wanted.size[1];
    described.image_depth = wanted.size[2];
    const std::string words = fmt::format("an image of {} x {} x {} elements of {} bytes", wanted.size[0],
                                          wanted.size[1], wanted.size[2], wanted.element_bytes());
    cl_int code = CL_SUCCESS;
    cl_mem made = loader().clCreateImage(context(), CL_MEM_READ_WRITE, &format, &described, nullptr, &code);
    switch (code) {
        case CL_SUCCESS: return {std::bit_cast<std::uintptr_t>(made)};
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        case CL_OUT_OF_RESOURCES:
        case CL_OUT_OF_HOST_MEMORY:
            throw out_of_memory_error(fmt::format("clCreateImage failed with {} ({}) for {} on device '{}'.",
                                                  error_name(code), code, words, name()));
        default: fail(code, "clCreateImage", words, name());
    }
}

cl_sampler device::sampler_of(const sampler& wanted) {
    cl_context owner = context();
    const std::lock_guard lock(context_mutex_);
    for (const auto& [known, made] : samplers_)
        if (known == wanted) return made.get();
    cl_int code = CL_SUCCESS;
    owned_sampler made(loader().clCreateSampler(
        owner, wanted.coordinates == image_coordinates::normalised, mode_of(wanted.address),
        wanted.filter == image_filter::linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code));
    check(code, "clCreateSampler", "a sampler", name());
    samplers_.emplace_back(wanted, std::move(made));
    return samplers_.back().second.get();
}

}  // namespace balm::opencl
