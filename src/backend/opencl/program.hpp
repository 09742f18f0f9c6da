#pragma once
// Programs and kernels: OpenCL C or a binary comes in, a cl_kernel with its own argument slots goes out.

#include <memory>
#include <string>
#include <vector>

#include "backend/opencl/api.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class device;

class kernel final : public runtime::driver_kernel {
public:
    kernel(std::shared_ptr<device>, cl_program, const std::string& name);
    std::size_t max_work_group_size() const override { return max_work_group_size_; }

    cl_kernel get() const { return kernel_.get(); }
    const std::string& name() const { return name_; }
    /// Memory with an offset becomes a sub-buffer, which lives until let_go_of_parts().
    void set_arguments(std::span<const runtime::argument>);
    /// Once the launch is enqueued, which keeps what it needs.
    void let_go_of_parts() noexcept { parts_.clear(); }

private:
    cl_mem part_of(const runtime::argument&);

    std::shared_ptr<device> device_;
    std::string name_;
    owned_kernel kernel_;
    std::size_t max_work_group_size_ = 0;
    cl_uint parameter_count_ = 0;
    std::vector<owned_memory> parts_;
};

class program final : public runtime::driver_program {
public:
    static std::unique_ptr<program> from_source(std::shared_ptr<device>, const std::string& source,
                                                const std::string& options);
    static std::unique_ptr<program> from_binary(std::shared_ptr<device>, std::span<const std::byte>);

    std::unique_ptr<runtime::driver_kernel> make_kernel(const std::string& name) override;
    std::vector<std::byte> binary() override;
    bool binary_needs_launch() const override;

    program(std::shared_ptr<device> of, owned_program built)
        : device_(std::move(of)), program_(std::move(built)) {}

private:
    std::shared_ptr<device> device_;
    owned_program program_;
};

}  // namespace balm::opencl
