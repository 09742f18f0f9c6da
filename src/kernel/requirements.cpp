#include "kernel/requirements.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "balm/error.hpp"
#include "emit/atomic_spelling.hpp"

namespace balm::kernels {

namespace {

/// Of a CUDA device, "9.0" -> 9.
int compute_capability(const device_info& device) {
    int major = 0;
    std::from_chars(device.version.data(), device.version.data() + device.version.size(), major);
    return major;
}

bool has_extension(const device_info& device, const std::string& name) {
    return (" " + device.extensions + " ").find(" " + name + " ") != std::string::npos;
}

class check {
public:
    check(const ir::function& kernel, const device_info& device) : kernel_(kernel), device_(device) {}

    void function_(const ir::function& f) const {
        for (const ir::parameter& p : f.parameters) {
            type_(p.what.element, f.where);
            if (p.what.is_image()) image_(p, f.where);
        }
        for (const ir::block& b : f.blocks)
            for (ir::value_id v : b) {
                const ir::instruction& i = f.code[v];
                type_(i.result.element, i.where);
                if (i.op == ir::opcode::atomic) atomic_(static_cast<ir::atomic_op>(i.detail), i);
            }
    }

    void local_arrays_() const {
        constexpr std::size_t cuda_limit = 48 << 10;  // of arrays whose size is part of the program
        const std::size_t bytes = kernel_.local_bytes;
        if (device_.api == backend::cuda && bytes > cuda_limit)
            refuse(
                kernel_.where,
                fmt::format("has local arrays of {} bytes; CUDA allows {} to a LocalArray. Take the memory "
                            "as a Local parameter, which is sized at the launch and may have {} on '{}'",
                            bytes, cuda_limit, device_.local_memory, device_.name));
    }

private:
    [[noreturn]] void refuse(const ir::source_line& where, const std::string& what) const {
        throw usage_error(fmt::format("{}kernel '{}' {}",
                                      where.file ? fmt::format("{}:{}: ", where.file, where.line) : "",
                                      kernel_.name, what));
    }
    void type_(scalar s, const ir::source_line& where) const {
        if (s == scalar::f64 && !device_.has_double)
            refuse(where,
                   fmt::format("computes in double precision, which '{}' lacks; compute with float and "
                               "Float, or choose a device with double precision "
                               "(balm::filter::double_precision)",
                               device_.name));
    }
    void image_(const ir::parameter& p, const ir::source_line& where) const {
        if (!device_.has_images)
            refuse(where,
                   fmt::format("takes an image, and '{}' has none; take a buffer, or choose a device with "
                               "balm::filter::images",
                               device_.name));
        const bool writes_planes = p.use == trace::access::out_image && image_dimensions(p.what) == 3;
        if (writes_planes && device_.api == backend::opencl &&
            !has_extension(device_, "cl_khr_3d_image_writes"))
            refuse(where, fmt::format(
                              "writes an image of 3 dimensions, for which '{}' lacks cl_khr_3d_image_writes; "
                              "write a buffer and copy it to the image (copy_to)",
                              device_.name));
    }
    void atomic_(ir::atomic_op what, const ir::instruction& i) const {
        const std::string extension = emit::atomic_extension(what, i.result.element);
        if (extension.empty()) return;
        if (device_.api == backend::opencl && !has_extension(device_, extension))
            refuse(
                i.where,
                fmt::format("has an atomic operation ({}) on 64-bit elements ({}), for which '{}' lacks {}; "
                            "use 32-bit elements or another device",
                            ir::to_string(what), to_string(i.result.element), device_.name, extension));
        const bool adds_f64 = what == ir::atomic_op::add && i.result.element == scalar::f64;
        if (device_.api == backend::cuda && adds_f64 && compute_capability(device_) < 6)
            refuse(i.where, fmt::format("adds atomically to elements of type double, which takes compute "
                                        "capability 6.0; '{}' has {}. Use float elements or OpenCL "
                                        "(BALM_BACKEND=opencl)",
                                        device_.name, device_.version));
    }

    const ir::function& kernel_;
    const device_info& device_;
};

}  // namespace

void check_requirements(const ir::function& kernel, const device_info& device) {
    const check each(kernel, device);
    for (const ir::function* f : ir::with_callees(kernel)) each.function_(*f);
    each.local_arrays_();
}

}  // namespace balm::kernels
