#include "kernel/launch/requirements.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "balm/error.hpp"

namespace balm::kernels {

namespace {

/// "9.0" -> 9
int major_version(const device_info& device) {
    int major = 0;
    std::from_chars(device.version.data(), device.version.data() + device.version.size(), major);
    return major;
}

bool has_extension(const device_info& device, const std::string& name) {
    return (" " + device.extensions + " ").find(" " + name + " ") != std::string::npos;
}

class check {
public:
    check(const ir::function& kernel, const emit::dialect& language, const device_info& device)
        : kernel_(kernel), language_(language), device_(device) {}

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
        const std::size_t bytes = kernel_.local_bytes, most = language_.has.most_local_array;
        if (bytes > most)
            refuse(kernel_.where,
                   fmt::format("has local arrays of {} bytes; {} allows at most {} for LocalArray. Use a "
                               "Local parameter instead: it is sized at launch, up to {} bytes on '{}'",
                               bytes, language_.name, most, device_.local_memory, device_.name));
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
            refuse(where, fmt::format("takes an image, but '{}' does not support images; use a buffer, or "
                                      "choose a device with balm::filter::images",
                                      device_.name));
        const std::string extension = language_.image_extension ? language_.image_extension(p) : "";
        if (!extension.empty() && !has_extension(device_, extension))
            refuse(where, fmt::format("writes a 3-dimensional image, for which '{}' lacks {}; write to a "
                                      "buffer and copy it to the image (copy_to)",
                                      device_.name, extension));
    }
    void atomic_(ir::atomic_op what, const ir::instruction& i) const {
        const scalar element = i.result.element;
        const std::string extension =
            language_.atomic_extension ? language_.atomic_extension(what, element) : "";
        if (!extension.empty() && !has_extension(device_, extension))
            refuse(i.where, fmt::format("uses an atomic operation ({}) on 64-bit elements ({}), for which "
                                        "'{}' lacks {}; use 32-bit elements or another device",
                                        ir::to_string(what), to_string(element), device_.name, extension));
        const bool adds_f64 = what == ir::atomic_op::add && element == scalar::f64;
        const int least = language_.has.version_that_adds_f64;
        if (least != 0 && adds_f64 && major_version(device_) < least)
            refuse(i.where,
                   fmt::format("uses an atomic add on double, which needs compute capability {}.0 or later; "
                               "'{}' has {}. Use float elements or OpenCL (BALM_BACKEND=opencl)",
                               least, device_.name, device_.version));
    }

    const ir::function& kernel_;
    const emit::dialect& language_;
    const device_info& device_;
};

}  // namespace

void check_requirements(const ir::function& kernel, const emit::dialect& language,
                        const device_info& device) {
    const check each(kernel, language, device);
    for (const ir::function* f : ir::with_callees(kernel)) each.function_(*f);
    each.local_arrays_();
}

}  // namespace balm::kernels
