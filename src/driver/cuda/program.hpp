#pragma once
// Programs and kernels: a cubin or PTX comes in, a CUfunction with its launch parameters goes out.

#include <memory>
#include <string>
#include <vector>

#include "driver/cuda/context.hpp"
#include "driver/cuda/image.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

/// A loaded CUmodule; kernels share it with their program.
class module {
public:
    /// Loads a cubin, or PTX that ends in a zero byte. Throws build_error with the driver's log.
    module(std::shared_ptr<context>, std::span<const std::byte> image);
    module(const module&) = delete;
    module& operator=(const module&) = delete;
    ~module();

    CUmodule get() const { return module_; }
    context& owner() const { return *context_; }

private:
    std::shared_ptr<context> context_;
    CUmodule module_ = nullptr;
};

/// The limits of local memory per work-group, static and dynamic together.
struct local_limits {
    std::uint32_t plain = 0;   ///< by default
    std::uint32_t opt_in = 0;  ///< after setting CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
};

class kernel final : public runtime::driver_kernel {
public:
    kernel(std::shared_ptr<const module>, const std::string& name, local_limits);
    std::size_t max_work_group_size() const override { return max_work_group_size_; }

    CUfunction get() const { return function_; }
    const std::string& name() const { return name_; }

    /// The arguments in the form that cuLaunchKernel takes. They point into the arguments and into this
    /// kernel, and remain valid until either changes.
    struct parameters {
        void** list = nullptr;
        unsigned local_bytes = 0;
    };

    /// An image becomes an image_argument; a local argument becomes an unsigned int, its offset in dynamic
    /// local memory, a multiple of 16 bytes.
    parameters bind(std::span<const runtime::argument>);

    /// Raises the driver's limit of dynamic local memory if necessary.
    void allow_local(unsigned bytes);

private:
    int attribute(CUfunction_attribute) const;

    std::shared_ptr<const module> module_;
    std::string name_;
    CUfunction function_ = nullptr;
    std::size_t max_work_group_size_ = 0;
    unsigned allowed_local_ = 0;  // dynamic bytes that a launch may have now
    unsigned most_local_ = 0;     // … and at most
    std::vector<void*> list_;     // reused, so that launches do not allocate
    std::vector<unsigned> local_offsets_;
    std::vector<CUdeviceptr> addresses_;
    std::vector<image_argument> images_;
};

class program final : public runtime::driver_program {
public:
    program(std::shared_ptr<context>, std::vector<std::byte> image, local_limits);

    std::unique_ptr<runtime::driver_kernel> make_kernel(const std::string& name) override;
    std::vector<std::byte> binary() override { return image_; }
    bool binary_needs_launch() const override { return false; }

private:
    std::vector<std::byte> image_;
    std::shared_ptr<const module> module_;
    local_limits local_limits_;
};

}  // namespace balm::cuda
