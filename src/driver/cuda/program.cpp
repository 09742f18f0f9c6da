#include "driver/cuda/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "driver/cuda/check.hpp"

namespace balm::cuda {

namespace {

constexpr std::uint64_t local_alignment = 16;

bool is_elf(std::span<const std::byte> image) {
    constexpr std::array magic{std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
    return image.size() >= magic.size() && std::equal(magic.begin(), magic.end(), image.begin());
}

}  // namespace

module::module(std::shared_ptr<context> of, std::span<const std::byte> image) :context_(std::move(of)) {
    const current_context current(*context_);
    std::array<char, 8192> information{}, errors{};
    std::array options{CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // The driver takes sizes as the values of pointers.
    const auto as_pointer = [](std::size_t size) { return std::bit_cast<void*>(size); };
    std::array<void*, 4> values{information.data(), as_pointer(information.size() - 1), errors.data(),
                                as_pointer(errors.size() - 1)};
    const CUresult code = driver().cuModuleLoadDataEx(
        &module_, image.data(), static_cast<unsigned>(options.size()), options.data(), values.data());
    if (code != CUDA_SUCCESS)
        throw build_error(fmt::format(
            "cuModuleLoadDataEx failed with {} for a {} of {} bytes on device '{}' (driver: CUDA {}.{}). "
            "The driver's log:\n{}{}",
            error_text(driver(), code), is_elf(image) ? "cubin" : "PTX text", image.size(),
            context_->device_name(), load_driver().version / 1000, load_driver().version % 1000 / 10,
            errors.data(), information.data()));
}

module::~module() {
    if (runtime::is_forked()) return;
    const current_context current(*context_);
    driver().cuModuleUnload(module_);
}

kernel::kernel(std::shared_ptr<const module> from, const std::string& name, local_limits limits)
    : module_(std::move(from)), name_(name) {
    const current_context current(module_->owner());
    check(driver().cuModuleGetFunction(&function_, module_->get(), name_.c_str()), "cuModuleGetFunction",
          fmt::format("kernel '{}'", name_), module_->owner().device_name());
    max_work_group_size_ = static_cast<std::size_t>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    const auto taken = static_cast<unsigned>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    allowed_local_ = limits.plain - std::min(limits.plain, taken);
    most_local_ = limits.opt_in - std::min(limits.opt_in, taken);
}

int kernel::attribute(CUfunction_attribute what) const {
    int value = 0;
    check(driver().cuFuncGetAttribute(&value, what, function_), "cuFuncGetAttribute",
          fmt::format("kernel '{}'", name_), module_->owner().device_name());
    return value;
}

kernel::parameters kernel::bind(std::span<const runtime::argument> arguments) {
    using kind = runtime::argument::kind;
    list_.resize(arguments.size());
    local_offsets_.resize(arguments.size());
    addresses_.resize(arguments.size());
    images_.resize(arguments.size());
    std::uint64_t local_bytes = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const runtime::argument& given = arguments[i];
        if (given.what == kind::local) {
            const std::uint64_t alignment = std::max<std::uint64_t>(local_alignment, given.alignment);
            local_bytes = (local_bytes + alignment - 1) / alignment * alignment;
            local_offsets_[i] = static_cast<unsigned>(local_bytes);
            local_bytes += given.size;
            list_[i] = &local_offsets_[i];
        } else if (given.what == kind::memory) {
            addresses_[i] = given.memory_handle().handle + given.offset();
            list_[i] = &addresses_[i];
        } else if (given.what == kind::image) {
            images_[i] = image::of(given.memory_handle()).as_argument(given.use, given.sampler);
            list_[i] = &images_[i];
        } else {
            list_[i] = const_cast<void*>(given.value());  // the driver reads only
        }
        if (local_bytes > std::numeric_limits<unsigned>::max())
            throw device_error(
                fmt::format("Kernel '{}' requests {} bytes of local memory on device '{}', which allows at "
                            "most {} for this kernel.",
                            name_, local_bytes, module_->owner().device_name(), most_local_));
    }
    return {list_.data(), static_cast<unsigned>(local_bytes)};
}

void kernel::allow_local(unsigned bytes) {
    if (bytes <= allowed_local_) return;
    if (bytes > most_local_)
        throw device_error(
            fmt::format("Kernel '{}' requests {} bytes of local memory on device '{}', which allows at most "
                        "{} for this kernel.",
                        name_, bytes, module_->owner().device_name(), most_local_));
    // The maximum at once: kernels of one program share the function, and none may lower another's limit.
    check(driver().cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(most_local_)),
          "cuFuncSetAttribute", fmt::format("{} bytes of local memory for kernel '{}'", most_local_, name_),
          module_->owner().device_name());
    allowed_local_ = most_local_;
}

program::program(std::shared_ptr<context> of, std::vector<std::byte> image, local_limits limits)
    : image_(std::move(image)), local_limits_(limits) {
    if (!is_elf(image_) && (image_.empty() || image_.back() != std::byte{0}))
        image_.push_back(std::byte{0});  // PTX is text, and cuModuleLoadDataEx takes no length
    module_ = std::make_shared<module>(std::move(of), image_);
}

std::unique_ptr<runtime::driver_kernel> program::make_kernel(const std::string& name) {
    return std::make_unique<kernel>(module_, name, local_limits_);
}

}  // namespace balm::cuda
