#pragma once
// The properties of device::getInfo: OpenCL names of fields of balm::device_info, on CUDA devices too.

#include "vexcl/detail/opencl.hpp"

#include <string>

#include <balm/device_info.hpp>

namespace vex {
namespace detail {

/// The property with the OpenCL name Name, in the type that OpenCL's C++ bindings use.
template <cl_device_info Name>
struct device_property {
    static_assert(
        Name != Name,
        "device::getInfo does not support this property; see device_property.hpp for those it does, "
        "and device::info() for Balm's");
};
#define VEX_DEVICE_PROPERTY(Name, Type, value)                             \
    template <>                                                            \
    struct device_property<Name> {                                         \
        static Type of(const balm::device_info& i) { return Type(value); } \
    };
VEX_DEVICE_PROPERTY(CL_DEVICE_NAME, std::string, i.name)
VEX_DEVICE_PROPERTY(CL_DEVICE_VENDOR, std::string, i.vendor)
VEX_DEVICE_PROPERTY(CL_DEVICE_VERSION, std::string, i.version)
VEX_DEVICE_PROPERTY(CL_DEVICE_OPENCL_C_VERSION, std::string, i.language_version)
VEX_DEVICE_PROPERTY(CL_DRIVER_VERSION, std::string, i.driver_version)
VEX_DEVICE_PROPERTY(CL_DEVICE_PROFILE, std::string, i.profile)
VEX_DEVICE_PROPERTY(CL_DEVICE_EXTENSIONS, std::string, i.extensions)
VEX_DEVICE_PROPERTY(CL_DEVICE_VENDOR_ID, cl_uint, i.vendor_id)
VEX_DEVICE_PROPERTY(CL_DEVICE_TYPE, cl_device_type,
                    i.type == balm::device_type::cpu           ? CL_DEVICE_TYPE_CPU
                    : i.type == balm::device_type::gpu         ? CL_DEVICE_TYPE_GPU
                    : i.type == balm::device_type::accelerator ? CL_DEVICE_TYPE_ACCELERATOR
                                                               : CL_DEVICE_TYPE_CUSTOM)
VEX_DEVICE_PROPERTY(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong, i.global_memory)
VEX_DEVICE_PROPERTY(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, i.global_cache)
VEX_DEVICE_PROPERTY(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint, i.global_cache_line)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, i.max_allocation)
VEX_DEVICE_PROPERTY(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, i.local_memory)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong, i.constant_memory)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, i.compute_units)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, i.max_clock)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t, i.max_work_group_size)
VEX_DEVICE_PROPERTY(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint, i.max_dimensions)
VEX_DEVICE_PROPERTY(CL_DEVICE_ADDRESS_BITS, cl_uint, i.address_bits)
VEX_DEVICE_PROPERTY(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, i.unified_memory)
VEX_DEVICE_PROPERTY(CL_DEVICE_IMAGE_SUPPORT, cl_bool, i.has_images)
VEX_DEVICE_PROPERTY(CL_DEVICE_AVAILABLE, cl_bool, i.is_available)
#undef VEX_DEVICE_PROPERTY

}  // namespace detail
}  // namespace vex
