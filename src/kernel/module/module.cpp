// The parts of balm/module.hpp that need no templates: checks of a definition, and constants on the host and
// in kernels.

#include "balm/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "balm/error.hpp"
#include "emit/names.hpp"
#include "kernel/module/module_state.hpp"

namespace balm::detail {

namespace {

/// Throws usage_error for an empty handle.
const ir::constant_data& constant_of(const given_constant& constant) {
    if (constant) return *constant;
    throw usage_error(
        "a constant that belongs to no module is used: assign it the result of m.constant<T>(…) in a "
        "module's definition");
}

}  // namespace

std::shared_ptr<module_state> make_module() { return std::make_shared<module_state>(); }

given_constant add_constant(module_state& of, std::string_view name, trace::type element, std::size_t count) {
    if (!emit::is_identifier(name))
        throw usage_error(
            fmt::format("'{}' is not a valid name for a constant: use a C identifier, or omit the name "
                        "(m.constant<T>(n))",
                        name));
    if (count == 0 || count > std::numeric_limits<std::size_t>::max() / 2 / size_of(element))
        throw usage_error(
            fmt::format("the constant '{}' was requested with {} elements of {} bytes; a constant needs at "
                        "least 1 element, and its size must not overflow",
                        name, count, size_of(element)));
    ir::constant_data data{std::string(name), element, {}, count};
    of.constants.push_back(std::make_shared<const ir::constant_data>(std::move(data)));
    return of.constants.back();
}

void check_constants(const module_state& of, const ir::function& f) {
    for (const auto& data : f.given)
        if (!of.knows(*data))
            throw usage_error(
                fmt::format("'{}' reads the constant '{}', which belongs neither to the module nor to a "
                            "module that it links; link the constant's module first, with m.link(…)",
                            f.name, data->name));
}

void add_kernel(module_state& to, const std::shared_ptr<const ir::function>& kernel) {
    check_constants(to, *kernel);
    to.kernels.push_back(kernel);
}

void set_options(module_state& of, compile_options wanted) { of.options = std::move(wanted); }

void add_link(module_state& to, const std::shared_ptr<module_state>& other) {
    if (!other)
        throw usage_error(
            "a module is linked before it is defined; define it before the module that links it");
    if (other->fault) std::rethrow_exception(other->fault);
    if (!other->is_defined)
        throw usage_error(
            "a module is linked while it is still being defined, by itself or by a module that it links: "
            "links must not form a cycle; move shared code into a third module");
    const bool is_known = std::find(to.links.begin(), to.links.end(), other) != to.links.end();
    if (!is_known) to.links.push_back(other);
}

void end_definition(module_state& of) { of.is_defined = true; }

void fail_definition(module_state& of) { of.fault = std::current_exception(); }

std::shared_ptr<instance_state> instance_on(module_state& of, const balm::device& device) {
    return of.instance_on(device.state());
}

std::shared_ptr<instance_state> linked_instance(const instance_state& from, const module_state& other) {
    if (auto found = from.linked(other)) return found;
    throw usage_error(
        "a program requests a module that its own module does not link; link it in the definition, with "
        "m.link(…)");
}

balm::device device_of(const instance_state& instance) { return balm::device(instance.device()); }

void write_constant(const instance_state& on, const given_constant& constant, const void* from,
                    std::size_t count) {
    const ir::constant_data& data = constant_of(constant);
    if (count != data.given_count)
        throw usage_error(
            fmt::format("the constant '{}' has {} element{}, but is set to {}; the counts must be equal",
                        data.name, data.given_count, data.given_count == 1 ? "" : "s", count));
    runtime::storage& memory = on.memory_of(data);
    on.device()->default_queue().enqueue_write(memory, 0, from, static_cast<std::size_t>(data.given_bytes()),
                                               nullptr);
}

void read_constant(const instance_state& on, const given_constant& constant, void* to) {
    const ir::constant_data& data = constant_of(constant);
    on.device()->default_queue().read(to, on.memory_of(data), 0,
                                      static_cast<std::size_t>(data.given_bytes()));
}

std::size_t constant_size(const given_constant& constant) noexcept {
    return constant ? static_cast<std::size_t>(constant->given_count) : 0;
}

trace::node constant_node(const given_constant& constant) {
    constant_of(constant);
    return trace::constant_array(constant);
}

}  // namespace balm::detail
