#include "emit/dialect.hpp"

#include <fmt/format.h>

#include "emit/cuda/dialect.hpp"
#include "emit/opencl/dialect.hpp"

namespace balm::emit {

const dialect& dialect_of(runtime::dialect of_driver) noexcept {
    switch (of_driver) {
        case runtime::dialect::cuda_cpp: return cuda::cuda_cpp();
        case runtime::dialect::opencl_ptx: return opencl::opencl_ptx();
        default: return opencl::opencl_c();
    }
}

std::string type_name(const dialect& d, scalar s, int lanes) {
    if (lanes > 1 && s == scalar::boolean) s = scalar::i8;
    std::string name(d.say.scalars[static_cast<std::size_t>(s)]);
    return lanes == 1 ? name : name + std::to_string(lanes);
}

helper_function make_helper(const dialect& d, const std::string& name, const std::string& result,
                            const std::string& parameters, const std::string& body) {
    return {name, fmt::format("{}{} {}({}) {{\n    {}\n}}\n", d.say.helper, result, name, parameters, body)};
}

}  // namespace balm::emit
