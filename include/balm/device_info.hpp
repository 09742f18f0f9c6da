#pragma once
// What is known of a device before anything is started on it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace balm {

/// The driver interface through which a device is reached.
enum class backend : std::uint8_t { opencl, cuda, null };

/// What kind of processor a device is.
enum class device_type : std::uint8_t { cpu, gpu, accelerator, other };

/// The name as written in messages and in `BALM_BACKEND`: "opencl", "cuda", "null".
const char* to_string(backend) noexcept;
/// The name as written in messages and in `BALM_TYPE`: "cpu", "gpu", "accelerator", "other".
const char* to_string(device_type) noexcept;

/// The properties of one device. Sizes are in bytes, clock in MHz, timer resolution in nanoseconds.
/// A field that a backend cannot answer is zero, false or empty.
struct device_info {
    std::string name;
    std::string vendor;
    std::string platform;          ///< OpenCL's platform name, or "CUDA"
    std::string platform_version;  ///< as the platform words it
    std::string version;           ///< "OpenCL 1.2 …", or the compute capability ("9.0")
    std::string language_version;  ///< "OpenCL C 1.2 …", or the NVRTC version
    std::string driver_version;
    std::string extensions;  ///< separated by spaces
    backend api = backend::null;
    device_type type = device_type::other;
    std::array<std::uint8_t, 16> uuid{};  ///< the same through every backend; zero when unknown
    std::string pci_address;              ///< "0000:18:00.0", empty when unknown

    std::uint64_t global_memory = 0;
    std::uint64_t local_memory = 0;     ///< per work-group
    std::uint64_t constant_memory = 0;  ///< largest constant buffer
    std::uint64_t max_allocation = 0;
    std::uint64_t global_cache = 0;
    std::uint32_t global_cache_line = 0;
    std::uint32_t compute_units = 0;
    std::uint32_t max_clock = 0;
    std::uint32_t address_bits = 0;
    std::uint32_t memory_alignment = 0;  ///< of a buffer's start
    std::uint32_t timer_resolution = 0;
    std::uint32_t max_parameter_bytes = 0;
    std::size_t max_work_group_size = 0;
    std::array<std::size_t, 3> max_work_item_sizes{};
    std::array<std::size_t, 3> max_group_counts{};  ///< SIZE_MAX where there is no limit
    std::uint32_t sub_group_size = 0;  ///< of the hardware; 0: none, and kernels' sub-groups are emulated
    bool little_endian = true;
    bool error_correction = false;
    bool unified_memory = false;
    bool has_double = false;
    bool has_half = false;
    bool has_images = false;
    bool has_fma = false;                       ///< fused multiply-add at full speed
    bool has_correctly_rounded_divide = false;  ///< f32 divide and sqrt can be asked to round correctly
    bool is_available = true;
};

}  // namespace balm
