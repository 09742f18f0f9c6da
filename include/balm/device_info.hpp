#pragma once
// The properties of a device, known before it is initialised.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace balm {

/// The driver interface that accesses a device.
enum class backend : std::uint8_t { opencl, cuda, null };

/// The kind of processor.
enum class device_type : std::uint8_t { cpu, gpu, accelerator, other };

/// The name as written in messages and in `BALM_BACKEND`: "opencl", "cuda", "null".
const char* to_string(backend) noexcept;
/// The name as written in messages and in `BALM_TYPE`: "cpu", "gpu", "accelerator", "other".
const char* to_string(device_type) noexcept;

/// The kind of a device's global memory cache.
enum class cache_type : std::uint8_t { none, read_only, read_write };

/// The name: "none", "read only", "read and write".
const char* to_string(cache_type) noexcept;

/// Capabilities of the arithmetic in one floating-point type; all false if the device lacks the type.
struct float_support {
    bool denormals = false;  ///< subnormal numbers are kept, not flushed to zero
    bool infinities_and_nans = false;
    bool rounds_to_nearest = false;
    bool rounds_to_zero = false;
    bool rounds_to_infinity = false;
    bool fma = false;                       ///< fused multiply-add at full speed
    bool correctly_rounded_divide = false;  ///< f32 divide and sqrt round correctly on request
    bool in_software = false;               ///< basic operations are emulated
    friend bool operator==(const float_support&, const float_support&) = default;
};

/// Lanes of a vector of each element type; 0 if the device lacks the type.
struct vector_widths {
    std::uint32_t int8 = 0, int16 = 0, int32 = 0, int64 = 0;
    std::uint32_t float16 = 0, float32 = 0, float64 = 0;
    friend bool operator==(const vector_widths&, const vector_widths&) = default;
};

/// The largest images, in pixels, and the most image arguments of a kernel; 0: none, or no such limit (CUDA's
/// counts).
struct image_limits {
    std::array<std::size_t, 2> size_2d{};  ///< width, height
    std::array<std::size_t, 3> size_3d{};  ///< width, height, depth
    std::size_t buffer_size = 0;           ///< of a 1-dimensional image over a buffer
    std::size_t array_size = 0;            ///< images in an array of images
    std::uint32_t read_images = 0;
    std::uint32_t write_images = 0;
    std::uint32_t samplers = 0;
    std::size_t size_1d = 0;  ///< of a 1-dimensional image
    friend bool operator==(const image_limits&, const image_limits&) = default;
};

/// How a device can be partitioned into sub-devices; empty on CUDA.
struct partition_support {
    std::uint32_t max_sub_devices = 0;
    bool equally = false;
    bool by_counts = false;
    bool by_numa = false;  ///< by NUMA node; the others by shared cache of their level
    bool by_l4_cache = false;
    bool by_l3_cache = false;
    bool by_l2_cache = false;
    bool by_l1_cache = false;
    friend bool operator==(const partition_support&, const partition_support&) = default;
};

/// Memory with the same address on host and device: OpenCL's shared virtual memory, CUDA's managed memory.
struct shared_virtual_memory_support {
    bool allocations = false;  ///< dedicated, used in turns (OpenCL: coarse-grained; CUDA: managed)
    bool at_once = false;      ///< the same, used by host and device concurrently (fine-grained)
    bool all_memory = false;   ///< all host allocations
    bool atomics = false;      ///< atomic operations of host and device on the same word
    friend bool operator==(const shared_virtual_memory_support&,
                           const shared_virtual_memory_support&) = default;
};

/// The properties of one device. Sizes are in bytes, clock in MHz, timer resolution in nanoseconds. A field
/// that a backend cannot query is zero, false or empty.
struct device_info {
    std::string name;
    std::string vendor;
    std::string platform;          ///< OpenCL's platform name, or "CUDA"
    std::string platform_version;  ///< as the platform reports it
    std::string version;           ///< "OpenCL 1.2 …", or the compute capability ("9.0")
    std::string language_version;  ///< "OpenCL C 1.2 …", or CUDA's C++
    std::string driver_version;
    std::string profile;           ///< "FULL_PROFILE" or "EMBEDDED_PROFILE"; OpenCL only
    std::string extensions;        ///< separated by spaces; OpenCL only
    std::string built_in_kernels;  ///< separated by semicolons; OpenCL only
    std::uint32_t vendor_id = 0;   ///< usually that of the PCI bus: 0x10de is NVIDIA
    backend api = backend::null;
    device_type type = device_type::other;
    std::array<std::uint8_t, 16> uuid{};  ///< the same on every backend; zero if unknown
    std::string pci_address;              ///< "0000:18:00.0", empty if unknown

    std::uint64_t global_memory = 0;
    std::uint64_t max_allocation = 0;
    std::uint64_t local_memory = 0;            ///< per work-group
    bool has_own_local_memory = false;         ///< local memory is dedicated, not part of global memory
    std::uint64_t constant_memory = 0;         ///< largest constant buffer
    std::uint32_t max_constant_arguments = 0;  ///< of a kernel; OpenCL only
    std::uint32_t max_parameter_bytes = 0;     ///< of all arguments of a kernel
    std::uint64_t global_cache = 0;
    std::uint32_t global_cache_line = 0;
    cache_type global_cache_type = cache_type::none;
    std::uint32_t memory_alignment = 0;  ///< of a buffer's start
    std::uint32_t type_alignment = 0;    ///< the smallest that suits every type; OpenCL only
    std::uint64_t printf_buffer = 0;     ///< of printf in text kernels; OpenCL only
    bool unified_memory = false;         ///< host and device share the same memory
    bool error_correction = false;
    shared_virtual_memory_support shared_virtual_memory;

    std::uint32_t compute_units = 0;
    std::uint32_t max_clock = 0;
    std::uint32_t address_bits = 0;
    bool little_endian = true;
    std::uint32_t timer_resolution = 0;

    std::uint32_t max_dimensions = 0;  ///< of a grid
    std::size_t max_work_group_size = 0;
    std::array<std::size_t, 3> max_work_item_sizes{};
    std::array<std::size_t, 3> max_group_counts{};  ///< SIZE_MAX: no limit
    std::size_t max_groups = SIZE_MAX;              ///< the same for the product of all dimensions
    std::uint32_t sub_group_size = 0;               ///< of the hardware; 0: none, sub-groups are emulated
    vector_widths preferred_vectors;                ///< lanes that perform best
    vector_widths native_vectors;                   ///< lanes of the hardware's instructions

    bool has_double = false;
    bool has_half = false;
    bool has_images = false;
    bool has_fma = false;                       ///< fused multiply-add at full speed
    bool has_correctly_rounded_divide = false;  ///< f32 divide and sqrt round correctly on request
    float_support half_arithmetic;
    float_support single_arithmetic;
    float_support double_arithmetic;
    image_limits images;

    bool has_compiler = false;  ///< the driver compiles (CUDA: PTX; C++ also needs NVRTC)
    bool has_linker = false;
    bool runs_native_kernels = false;      ///< host functions, enqueued like kernels; OpenCL only
    bool has_out_of_order_queues = false;  ///< OpenCL only
    bool has_profiling = false;            ///< commands have device timestamps
    partition_support partition;
    bool is_available = true;

    /// Whether `extensions` contains exactly this name.
    bool has_extension(std::string_view name) const noexcept;
    /// The uuid as the drivers' own tools print it, "8-4-4-4-12" digits; empty if unknown.
    std::string uuid_text() const;
};

/// Whether these are the same card, offered by the drivers of two backends. Contexts take a card once,
/// through the first backend that their filter accepts.
bool is_same_card(const device_info&, const device_info&) noexcept;

}  // namespace balm
