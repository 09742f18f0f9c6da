#pragma once
// Programs and kernels: OpenCL C or a binary comes in, a cl_kernel with its own argument slots goes out.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/opencl/api.hpp"
#include "driver/opencl/launch_shapes.hpp"
#include "driver/opencl/launch_turns.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

class device;

class kernel final : public runtime::driver_kernel {
public:
    kernel(std::shared_ptr<device>, cl_program, const std::string& name, std::shared_ptr<launch_turns>,
           std::shared_ptr<launch_shapes>);
    std::size_t max_work_group_size() const override { return max_work_group_size_; }

    cl_kernel get() const { return kernel_.get(); }
    const std::string& name() const { return name_; }
    /// Null if launches may overlap.
    launch_turns* turns() const { return turns_.get(); }
    /// Null if launches compile nothing.
    launch_shapes* shapes() const { return shapes_.get(); }

    /// Holds the arguments of a launch until it is enqueued; the driver then keeps what it needs. Memory with
    /// an offset is passed as a sub-buffer.
    class bound_arguments {
    public:
        bound_arguments(kernel& of, std::span<const runtime::argument> list) : bound_arguments(of) {
            of.set_arguments(list);
        }
        bound_arguments(const bound_arguments&) = delete;
        bound_arguments& operator=(const bound_arguments&) = delete;
        ~bound_arguments() { of_.parts_.clear(); }

    private:
        explicit bound_arguments(kernel& of) : of_(of) {}
        kernel& of_;
    };

private:
    void set_arguments(std::span<const runtime::argument>);
    cl_mem part_of(const runtime::argument&);
    void find_address_spaces();
    void refuse_other_space(cl_uint parameter, runtime::argument::kind) const;

    std::shared_ptr<device> device_;
    std::string name_;
    std::shared_ptr<launch_turns> turns_;
    std::shared_ptr<launch_shapes> shapes_;
    owned_kernel kernel_;
    std::size_t max_work_group_size_ = 0;
    cl_uint parameter_count_ = 0;
    std::vector<cl_kernel_arg_address_qualifier> address_spaces_;  ///< of the parameters; empty if unknown
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

    /// `content` identifies the program for its launch turns.
    program(std::shared_ptr<device>, owned_program built, const std::string& options,
            std::string_view content);

private:
    std::shared_ptr<device> device_;
    owned_program program_;
    std::string options_;                    // which precede a binary; empty if that is machine code
    std::shared_ptr<launch_turns> turns_;    // null if launches may overlap
    std::shared_ptr<launch_shapes> shapes_;  // null if launches compile nothing
};

}  // namespace balm::opencl
