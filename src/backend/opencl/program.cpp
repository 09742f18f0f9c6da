#include "backend/opencl/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backend/joined_options.hpp"
#include "backend/numbered_source.hpp"
#include "backend/opencl/check.hpp"
#include "backend/opencl/device.hpp"
#include "balm/error.hpp"

namespace balm::opencl {

namespace {

std::string quoted(const char* what, const std::string& name) { return fmt::format("{} '{}'", what, name); }

std::string build_log(cl_program of, cl_device_id id) {
    std::size_t size = 0;
    if (clGetProgramBuildInfo(of, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string log(size, '\0');
    if (clGetProgramBuildInfo(of, id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS)
        return {};
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log.empty() ? "(the compiler gave no log)" : log;
}

}  // namespace

kernel::kernel(std::shared_ptr<device> of, cl_program from, const std::string& name)
    : device_(std::move(of)), name_(name) {
    cl_int code = CL_SUCCESS;
    kernel_ = owned_kernel(clCreateKernel(from, name_.c_str(), &code));
    if (code != CL_SUCCESS) fail(code, "clCreateKernel", quoted("kernel", name_), device_->name());
    code = clGetKernelWorkGroupInfo(kernel_.get(), device_->id(), CL_KERNEL_WORK_GROUP_SIZE,
                                    sizeof max_work_group_size_, &max_work_group_size_, nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelWorkGroupInfo", quoted("kernel", name_), device_->name());
    // NVIDIA's driver answers 256, also for a kernel that it compiled for larger work-groups.
    std::size_t compiled_for[3] = {0, 0, 0};
    code = clGetKernelWorkGroupInfo(kernel_.get(), device_->id(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                    sizeof compiled_for, compiled_for, nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelWorkGroupInfo", quoted("kernel", name_), device_->name());
    max_work_group_size_ =
        std::max(max_work_group_size_, compiled_for[0] * compiled_for[1] * compiled_for[2]);
    code = clGetKernelInfo(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof parameter_count_, &parameter_count_,
                           nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelInfo", quoted("kernel", name_), device_->name());
}

cl_mem kernel::part_of(const runtime::argument& given) {
    const auto whole = std::bit_cast<cl_mem>(given.memory_handle().handle);
    std::size_t bytes = 0;
    cl_int code = clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    if (code == CL_SUCCESS) {
        const cl_buffer_region region{given.offset(), bytes - given.offset()};
        parts_.emplace_back(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    }
    if (code != CL_SUCCESS)
        fail(code, "clCreateSubBuffer",
             fmt::format("memory from byte {} on, an argument of kernel '{}'", given.offset(), name_),
             device_->name());
    return parts_.back().get();
}

void kernel::set_arguments(std::span<const runtime::argument> arguments) {
    using kind = runtime::argument::kind;
    // A sampled image is two parameters.
    const auto sampled = std::count_if(arguments.begin(), arguments.end(), [](const runtime::argument& each) {
        return each.what == kind::image && each.use == runtime::image_use::sampled;
    });
    if (arguments.size() + static_cast<std::size_t>(sampled) !=
        parameter_count_)  // a kernel given as text, which only the driver has read to the end
        throw usage_error(
            fmt::format("kernel '{}' takes {} arguments on device '{}', but is launched with {}", name_,
                        parameter_count_, device_->name(), arguments.size()));
    cl_uint next = 0;
    const auto set = [&](std::size_t size, const void* value) {
        const cl_uint i = next++;
        const cl_int code = clSetKernelArg(kernel_.get(), i, size, value);
        if (code != CL_SUCCESS)
            fail(code, "clSetKernelArg", fmt::format("argument {} ({} bytes) of kernel '{}'", i, size, name_),
                 device_->name());
    };
    for (const runtime::argument& given : arguments) {
        if (given.what == kind::local) {
            set(given.size, nullptr);
        } else if (given.what == kind::memory && given.offset() != 0) {
            cl_mem part = part_of(given);
            set(sizeof part, &part);
        } else {
            const bool is_value = given.what == kind::value;
            set(is_value ? given.size : sizeof(cl_mem), given.value());
        }
        if (given.what == kind::image && given.use == runtime::image_use::sampled) {
            cl_sampler through = device_->sampler_of(given.sampler);
            set(sizeof through, &through);
        }
    }
}

std::unique_ptr<program> program::from_source(std::shared_ptr<device> of, const std::string& source,
                                              const std::string& options) {
    const char* text = source.data();
    const std::size_t length = source.size();
    cl_int code = CL_SUCCESS;
    owned_program built(clCreateProgramWithSource(of->context(), 1, &text, &length, &code));
    check(code, "clCreateProgramWithSource", "a program", of->name());
    constexpr backend_support::replacement replacements[] = {
        {"cl-fast-relaxed-math", "cl-fp32-correctly-rounded-divide-sqrt"},
        {"cl-unsafe-math-optimizations", "cl-fp32-correctly-rounded-divide-sqrt"}};
    const std::string all_options =
        backend_support::joined_options(of->compile_options(), options, replacements);
    cl_device_id id = of->id();
    code = clBuildProgram(built.get(), 1, &id, all_options.c_str(), nullptr, nullptr);
    if (code != CL_SUCCESS)
        throw build_error(fmt::format(
            "clBuildProgram failed with {} ({}) on device '{}' with options '{}'. The compiler's log:\n"
            "{}\nThe source:\n{}",
            error_name(code), code, of->name(), all_options, build_log(built.get(), id),
            backend_support::numbered_source(source)));
    return std::make_unique<program>(std::move(of), std::move(built));
}

std::unique_ptr<program> program::from_binary(std::shared_ptr<device> of, std::span<const std::byte> binary) {
    cl_device_id id = of->id();
    const std::size_t size = binary.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int status = CL_SUCCESS;
    cl_int code = CL_SUCCESS;
    owned_program built(clCreateProgramWithBinary(of->context(), 1, &id, &size, &bytes, &status, &code));
    if (code == CL_SUCCESS) code = status;
    if (code != CL_SUCCESS)
        throw build_error(fmt::format(
            "clCreateProgramWithBinary failed with {} ({}) for a binary of {} bytes on device '{}'.",
            error_name(code), code, size, of->name()));
    code = clBuildProgram(built.get(), 1, &id, nullptr, nullptr, nullptr);
    if (code != CL_SUCCESS)
        throw build_error(fmt::format(
            "clBuildProgram failed with {} ({}) for a binary of {} bytes on device '{}'. The log:\n{}",
            error_name(code), code, size, of->name(), build_log(built.get(), id)));
    return std::make_unique<program>(std::move(of), std::move(built));
}

std::unique_ptr<runtime::driver_kernel> program::make_kernel(const std::string& name) {
    return std::make_unique<kernel>(device_, program_.get(), name);
}

std::vector<std::byte> program::binary() {
    std::size_t size = 0;
    check(clGetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
          "clGetProgramInfo", "the size of a program's binary", device_->name());
    std::vector<std::byte> bytes(size);
    std::byte* to = bytes.data();
    check(clGetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), "clGetProgramInfo",
          "a program's binary", device_->name());
    return bytes;
}

bool program::binary_needs_launch() const { return device_->is_pocl(); }

}  // namespace balm::opencl
