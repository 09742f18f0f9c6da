// Chooses a device and builds kernels. In: HPCE_SELECT_PLATFORM, HPCE_SELECT_DEVICE, HPCE_CL_SRC_DIR. Out:
// OpenCL objects, and lines on stderr that report what was found.

#include "opencl.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace heat_trail {
namespace {

constexpr cl_int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR of the ICD loader

// The number in an environment variable, which must be below `count`; 0 if it is not set.
std::size_t selected(const char* variable, std::size_t count) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return 0;
    const std::string_view digits = text;
    const char* end = digits.data() + digits.size();
    std::size_t number = 0;
    const auto [stop, fault] = std::from_chars(digits.data(), end, number);
    if (fault != std::errc{} || stop != end || number >= count)
        throw std::runtime_error(
            fmt::format("{} is \"{}\", not one of the numbers listed above", variable, digits));
    return number;
}

cl::Platform choose_platform() {
    std::vector<cl::Platform> platforms;
    try {
        cl::Platform::get(&platforms);
    } catch (const cl::Error& fault) {
        if (fault.err() != no_platform) throw;
    }
    if (platforms.empty())
        throw std::runtime_error(
            "no OpenCL platform is installed (for the CPU: the package pocl-opencl-icd)");
    std::cerr << fmt::format("Found {} platforms\n", platforms.size());
    for (std::size_t i = 0; i < platforms.size(); ++i)
        std::cerr << fmt::format(" Platform {} : {}\n", i, platforms[i].getInfo<CL_PLATFORM_VENDOR>());
    const std::size_t choice = selected("HPCE_SELECT_PLATFORM", platforms.size());
    std::cerr << fmt::format("Choosing platform {}\n", choice);
    return platforms[choice];
}

std::filesystem::path source_directory() {
    const char* directory = std::getenv("HPCE_CL_SRC_DIR");
    return directory != nullptr ? std::filesystem::path(directory) : heat::program_directory();
}

std::string read_source(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!(text << file.rdbuf()))
        throw std::runtime_error(fmt::format(
            "the kernels \"{}\" cannot be read; HPCE_CL_SRC_DIR names their folder", path.string()));
    return text.str();
}

}  // namespace

cl::Device choose_device() {
    const cl::Platform platform = choose_platform();
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (devices.empty()) throw std::runtime_error("the chosen OpenCL platform has no device");
    std::cerr << fmt::format("Found {} devices\n", devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i)
        std::cerr << fmt::format(" Device {} : {}\n", i, devices[i].getInfo<CL_DEVICE_NAME>());
    const std::size_t choice = selected("HPCE_SELECT_DEVICE", devices.size());
    std::cerr << fmt::format("Choosing device {}\n", choice);
    return devices[choice];
}

cl::Kernel load_kernel(const cl::Context& context, const cl::Device& device, const std::string& file_name,
                       const std::string& kernel_name) {
    const std::filesystem::path path = source_directory() / file_name;
    cl::Program program(context, read_source(path));
    try {
        program.build(device);
    } catch (const cl::BuildError&) {
        std::cerr << fmt::format("Log for device {}:\n\n{}\n\n", device.getInfo<CL_DEVICE_NAME>(),
                                 program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device));
        throw std::runtime_error(
            fmt::format("the kernels \"{}\" do not compile; the log above says why", path.string()));
    }
    try {
        return {program, kernel_name.c_str()};
    } catch (const cl::Error& fault) {
        if (fault.err() != CL_INVALID_KERNEL_NAME) throw;
        throw std::runtime_error(fmt::format("\"{}\" has no kernel {}", path.string(), kernel_name));
    }
}

int run_opencl_stage(CLI::App& app, int argc, char** argv, const heat::step_function& step) {
    return heat::run_stage(app, argc, argv, [&](heat::world& world, float dt, unsigned n) {
        try {
            step(world, dt, n);
        } catch (const cl::Error& fault) {
            throw std::runtime_error(
                fmt::format("OpenCL's {} failed with error {}", fault.what(), fault.err()));
        }
    });
}

}  // namespace heat_trail
