#include "driver/opencl/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "balm/error.hpp"
#include "driver/build_failure.hpp"
#include "driver/joined_options.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device.hpp"

namespace balm::opencl {

namespace {

std::string quoted(const char* what, const std::string& name) { return fmt::format("{} '{}'", what, name); }

std::string build_log(cl_program of, cl_device_id id) {
    std::size_t size = 0;
    if (loader().clGetProgramBuildInfo(of, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS)
        return {};
    std::string log(size, '\0');
    if (loader().clGetProgramBuildInfo(of, id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS)
        return {};
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

/// PoCL 3.1 assembles a binary in 256 MiB, and does not check that it got them (pocl_binary.c). Throws
/// out_of_memory_error unless the address space has twice as much: other threads may take some meanwhile.
void check_room_of_pocl(const std::string& device_name) {
    void* volatile const room = std::malloc(std::size_t{512} << 20);
    std::free(room);
    if (room == nullptr)
        throw out_of_memory_error(
            fmt::format("A program's binary was not fetched from device '{}': PoCL needs more address space "
                        "for it than the process has left (ulimit -v).",
                        device_name));
}

std::string_view text_of(std::span<const std::byte> binary) {
    return {reinterpret_cast<const char*>(binary.data()), binary.size()};
}

}  // namespace

kernel::kernel(std::shared_ptr<device> of, cl_program from, const std::string& name,
               std::shared_ptr<launch_turns> turns, std::shared_ptr<launch_shapes> shapes)
    : device_(std::move(of)), name_(name), turns_(std::move(turns)), shapes_(std::move(shapes)) {
    cl_int code = CL_SUCCESS;
    kernel_ = owned_kernel(loader().clCreateKernel(from, name_.c_str(), &code));
    if (code != CL_SUCCESS) fail(code, "clCreateKernel", quoted("kernel", name_), device_->name());
    code = loader().clGetKernelWorkGroupInfo(kernel_.get(), device_->id(), CL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof max_work_group_size_, &max_work_group_size_, nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelWorkGroupInfo", quoted("kernel", name_), device_->name());
    // NVIDIA's driver returns 256, even for a kernel that it compiled for larger work-groups.
    std::size_t compiled_for[3] = {0, 0, 0};
    code = loader().clGetKernelWorkGroupInfo(kernel_.get(), device_->id(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                             sizeof compiled_for, compiled_for, nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelWorkGroupInfo", quoted("kernel", name_), device_->name());
    max_work_group_size_ =
        std::max(max_work_group_size_, compiled_for[0] * compiled_for[1] * compiled_for[2]);
    code = loader().clGetKernelInfo(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof parameter_count_,
                                    &parameter_count_, nullptr);
    if (code != CL_SUCCESS) fail(code, "clGetKernelInfo", quoted("kernel", name_), device_->name());
    find_address_spaces();
}

/// A driver may not know the address spaces of a program that was loaded from a binary.
void kernel::find_address_spaces() {
    address_spaces_.resize(parameter_count_);
    for (cl_uint k = 0; k < parameter_count_; ++k) {
        cl_kernel_arg_address_qualifier& space = address_spaces_[k];
        if (loader().clGetKernelArgInfo(kernel_.get(), k, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space,
                                        &space, nullptr) != CL_SUCCESS)
            return address_spaces_.clear();
    }
}

/// In a kernel given as text, an #if may select other parameters than those that its definition was compared
/// with. Drivers do not check: PoCL reads through a number, and writes a pointer where a number is expected.
void kernel::refuse_other_space(cl_uint parameter, runtime::argument::kind what) const {
    using kind = runtime::argument::kind;
    if (parameter >= address_spaces_.size() || what == kind::image) return;
    const auto space = address_spaces_[parameter];
    const bool is_memory = space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    const bool fits = what == kind::memory  ? is_memory
                      : what == kind::local ? space == CL_KERNEL_ARG_ADDRESS_LOCAL
                                            : space == CL_KERNEL_ARG_ADDRESS_PRIVATE;
    if (fits) return;
    constexpr const char* words[] = {"a value", "device memory", "local memory", "an image"};
    throw usage_error(
        fmt::format("parameter {} of kernel '{}' is {} on device '{}', but {} in its C++ signature; a "
                    "preprocessor condition selects different parameters on this device",
                    parameter + 1, name_,
                    is_memory                              ? "device memory"
                    : space == CL_KERNEL_ARG_ADDRESS_LOCAL ? "local memory"
                                                           : "a value",
                    device_->name(), words[static_cast<std::size_t>(what)]));
}

cl_mem kernel::part_of(const runtime::argument& given) {
    const auto whole = std::bit_cast<cl_mem>(given.memory_handle().handle);
    std::size_t bytes = 0;
    cl_int code = loader().clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    if (code == CL_SUCCESS) {
        const cl_buffer_region region{given.offset(), bytes - given.offset()};
        owned_memory part(loader().clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
        if (code == CL_SUCCESS) parts_.push_back(std::move(part));
    }
    if (code != CL_SUCCESS)
        fail(code, "clCreateSubBuffer",
             fmt::format("the sub-buffer at byte {}, an argument of kernel '{}'", given.offset(), name_),
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
        parameter_count_)  // only the driver has parsed all of a kernel given as text
        throw usage_error(
            fmt::format("kernel '{}' takes {} arguments on device '{}', but is launched with {}", name_,
                        parameter_count_, device_->name(), arguments.size()));
    cl_uint next = 0;
    const auto set = [&](std::size_t size, const void* value) {
        const cl_uint i = next++;
        const cl_int code = loader().clSetKernelArg(kernel_.get(), i, size, value);
        if (code != CL_SUCCESS)
            fail(code, "clSetKernelArg", fmt::format("argument {} ({} bytes) of kernel '{}'", i, size, name_),
                 device_->name());
    };
    for (const runtime::argument& given : arguments) {
        refuse_other_space(next, given.what);
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
    const std::string_view head = of->source_head();
    const char* texts[] = {head.data(), source.data()};
    const std::size_t lengths[] = {head.size(), source.size()};
    cl_int code = CL_SUCCESS;
    owned_program built(loader().clCreateProgramWithSource(of->context(), 2, texts, lengths, &code));
    check(code, "clCreateProgramWithSource", "a program", of->name());
    constexpr backend_support::replacement replacements[] = {
        {"cl-fast-relaxed-math", "cl-fp32-correctly-rounded-divide-sqrt"},
        {"cl-unsafe-math-optimizations", "cl-fp32-correctly-rounded-divide-sqrt"}};
    const std::string all_options =
        backend_support::joined_options(of->compile_options(), options, replacements);
    cl_device_id id = of->id();
    code = loader().clBuildProgram(built.get(), 1, &id, all_options.c_str(), nullptr, nullptr);
    if (code != CL_SUCCESS)
        backend_support::fail_build(
            fmt::format("clBuildProgram failed with {} ({}) on device '{}' with options '{}'.",
                        error_name(code), code, of->name(), all_options),
            build_log(built.get(), id), source);
    return std::make_unique<program>(std::move(of), std::move(built), all_options,
                                     all_options + '\n' + source);
}

std::unique_ptr<program> program::from_binary(std::shared_ptr<device> of, std::span<const std::byte> binary) {
    cl_device_id id = of->id();
    std::string options;
    if (of->is_nvidia()) {
        const auto end = std::find(binary.begin(), binary.end(), std::byte{0});
        if (end == binary.end())
            throw build_error("the program binary does not begin with its build options");
        options = text_of(std::span(binary.begin(), end));
        binary = std::span(end + 1, binary.end());
    }
    const std::size_t size = binary.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int status = CL_SUCCESS;
    cl_int code = CL_SUCCESS;
    owned_program built(
        loader().clCreateProgramWithBinary(of->context(), 1, &id, &size, &bytes, &status, &code));
    if (code == CL_SUCCESS) code = status;
    if (code != CL_SUCCESS)
        throw build_error(fmt::format(
            "clCreateProgramWithBinary failed with {} ({}) for a binary of {} bytes on device '{}'.",
            error_name(code), code, size, of->name()));
    code = loader().clBuildProgram(built.get(), 1, &id, options.empty() ? nullptr : options.c_str(), nullptr,
                                   nullptr);
    if (code != CL_SUCCESS)
        backend_support::fail_build(
            fmt::format("clBuildProgram failed with {} ({}) for a binary of {} bytes on device '{}'.",
                        error_name(code), code, size, of->name()),
            build_log(built.get(), id));
    return std::make_unique<program>(std::move(of), std::move(built), options, text_of(binary));
}

// NVIDIA's binaries are PTX, which is assembled when they are loaded: unless the options are passed again, a
// limit on registers or optimisation is lost (a sort of 2^28 u32 on an H100: 8.1 ms instead of 6.2).
program::program(std::shared_ptr<device> of, owned_program built, const std::string& options,
                 std::string_view content)
    : device_(std::move(of)),
      program_(std::move(built)),
      options_(device_->is_nvidia() ? options : ""),
      turns_(device_->launches_in_turn() ? launch_turns::of(content) : nullptr),
      shapes_(device_->is_pocl() ? std::make_shared<launch_shapes>() : nullptr) {}

std::unique_ptr<runtime::driver_kernel> program::make_kernel(const std::string& name) {
    return std::make_unique<kernel>(device_, program_.get(), name, turns_, shapes_);
}

std::vector<std::byte> program::binary() {
    if (device_->is_pocl()) check_room_of_pocl(device_->name());
    std::size_t size = 0;
    check(loader().clGetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
          "clGetProgramInfo", "the size of a program's binary", device_->name());
    const std::size_t before = options_.empty() ? 0 : options_.size() + 1;
    std::vector<std::byte> bytes(before + size);
    std::memcpy(bytes.data(), options_.c_str(), before);
    std::byte* to = bytes.data() + before;
    check(loader().clGetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof to, &to, nullptr),
          "clGetProgramInfo", "a program's binary", device_->name());
    if (turns_ != nullptr) launch_turns::share(turns_, text_of(std::span(bytes).subspan(before)));
    return bytes;
}

bool program::binary_needs_launch() const { return device_->is_pocl(); }

}  // namespace balm::opencl
