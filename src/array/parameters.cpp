#include "array/parameters.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

std::string parameter_name::spelled() const {
    const std::size_t letters = dimension == by_letter ? std::strlen(word) : 0;
    std::string name = letters > 0 ? std::string(1, word[number % letters]) : word;
    const std::size_t suffix = letters > 0 ? number / letters : number;
    if (suffix > 0) name += std::to_string(suffix);
    if (dimension >= 0) name += "_" + std::to_string(dimension);
    return name;
}

void parameter_list::declare(parameter_name name, trace::type type, trace::access use, space where,
                             const vector_state* vector) {
    declared_.push_back({name, recording_.parameter(type, use, where, name.spelled()), vector});
}
void parameter_list::value(parameter_name name, scalar type, std::uint64_t) {
    declare(name, type, trace::access::value);
}
void parameter_list::value(parameter_name name, trace::type type, const std::byte*) {
    declare(name, type, trace::access::value);
}
void parameter_list::memory(parameter_name name, trace::type element, trace::access use, runtime::storage&) {
    declare(name, element, use);
}
void parameter_list::vector(parameter_name name, const vector_state& v, trace::access use, space where) {
    declare(name, v.type(), use, where, &v);
}
void parameter_list::image(parameter_name name, const image_leaf& image) {
    declare(name, image.type, image.use);
}
void parameter_bindings::image(parameter_name, const image_leaf& image) {
    to_.arguments.push_back(
        runtime::argument::of(image.memory->native(), kernels::image_use_of(image.use), image.sampler));
    to_.reads.push_back(image.memory.get());
}

trace::node parameter_list::operator[](parameter_name name) const {
    const auto found = std::find_if(declared_.begin(), declared_.end(), [&](const declared& each) {
        return each.name.spelled() == name.spelled();
    });
    if (found == declared_.end()) throw std::logic_error("no parameter is declared as " + name.spelled());
    return found->node;
}

trace::node parameter_list::operator[](const vector_state& v) const { return (*this)[name_of(v)]; }

parameter_name parameter_list::name_of(const vector_state& v) const {
    const auto found = std::find_if(declared_.begin(), declared_.end(),
                                    [&](const declared& each) { return each.vector == &v; });
    if (found == declared_.end()) throw std::logic_error("a vector of the expression is not a parameter");
    return found->name;
}

}  // namespace balm::array
