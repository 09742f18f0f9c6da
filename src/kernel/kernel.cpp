// The parts of kernels, device functions and their parameters that need no templates: errors, out of line.

#include "balm/kernel.hpp"

#include <fmt/format.h>

#include <cstring>

#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "kernel/trace/tracer.hpp"

namespace balm::detail {

bound_argument bind_value(const void* bytes, std::size_t size) {
    bound_argument bound;
    bound.size = static_cast<std::uint32_t>(size);
    if (size <= bound.bytes.size()) {
        std::memcpy(bound.bytes.data(), bytes, size);
    } else {
        const auto* first = static_cast<const std::byte*>(bytes);
        bound.long_value = std::make_shared<const std::vector<std::byte>>(first, first + size);
    }
    return bound;
}

bound_argument bind_local(std::size_t count, std::size_t element_size, std::size_t alignment) {
    if (count == 0 || count > UINT32_MAX / element_size)
        throw usage_error(
            fmt::format("local memory for {} elements of {} bytes was requested; the size must be at least 1 "
                        "element and less than 4 GiB",
                        count, element_size));
    bound_argument bound;
    bound.what = bound_argument::kind::local;
    bound.size = static_cast<std::uint32_t>(count * element_size);
    bound.alignment = static_cast<std::uint32_t>(alignment);
    return bound;
}

bound_argument bind_image(const std::shared_ptr<runtime::storage>& memory, const sampler& through) {
    bound_argument bound;
    bound.what = bound_argument::kind::image;
    bound.memory = memory;
    bound.sampler = through;
    return bound;
}

void argument_does_not_fit(scalar type, scalar given, std::uint64_t value) {
    throw usage_error(fmt::format("the argument {} does not fit its parameter, which has the type {}",
                                  trace::words_of(given, value), to_string(type)));
}

std::shared_ptr<const ir::constant_data> make_constant_data(std::string_view name, scalar element,
                                                            std::vector<std::uint64_t> bits) {
    constexpr std::size_t most_bytes = 64 << 10;  // constant memory that every device has
    if (bits.empty() || bits.size() * size_of(element) > most_bytes)
        throw usage_error(
            fmt::format("the constant array '{}' has {} elements of {} bytes: a constant array has at least "
                        "1 element and at most {} bytes; pass more as a buffer",
                        name, bits.size(), size_of(element), most_bytes));
    return std::make_shared<const ir::constant_data>(
        ir::constant_data{std::string(name), element, std::move(bits)});
}

void called_outside_of_kernels(const ir::function& f) {
    throw usage_error(
        fmt::format("the function '{}' is called outside a kernel with host values only: call it in a kernel "
                    "or another function, or in a vector expression with at least one vector argument",
                    f.name));
}

void undefined_function() {
    throw trace_error(
        "a device function is called before it is defined. If it calls itself: devices have no recursion; "
        "write "
        "it with WHILE or range");
}

}  // namespace balm::detail
