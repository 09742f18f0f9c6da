// The list behind an expression: appending, and the hash of its structure, kept up to date as it grows.

#include <fmt/format.h>

#include "array/vector_state.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "ir/ir.hpp"

namespace balm {

namespace detail {

void array_scalar_does_not_fit(scalar type) {
    throw usage_error(fmt::format("a host value does not fit the element type {} that it is combined with",
                                  to_string(type)));
}

void array_scalar_wraps(scalar type, std::uint64_t value) {
    throw usage_error(fmt::format(
        "the host value {0} takes the element type {1} that it is combined with, and is beyond its "
        "range: cast<std::uint{2}_t>(x) makes the elements unsigned, cast<std::int64_t>(x) wide",
        value, to_string(type), 8 * size_of(type)));
}

}  // namespace detail

namespace array {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio (Knuth, TAOCP 3, 6.4)
    return hash ^ hash >> 32;
}

/// What of a step belongs to the structure: constants do, scalars' values and vectors' identities do not.
std::uint64_t structure_of(const step& s) {
    return static_cast<std::uint64_t>(s.what) | static_cast<std::uint64_t>(s.type) << 8 |
           std::uint64_t{s.detail} << 16 | std::uint64_t{s.arity} << 32;
}

std::int64_t common_size(std::int64_t a, std::int64_t b) {
    if (a < 0 || b < 0) return a < 0 ? b : a;
    if (a != b) throw usage_error(fmt::format("an expression combines {} elements with {}", a, b));
    return a;
}

}  // namespace

void program::push(const step& s) {
    if (steps.size() >= 60000)
        throw usage_error("an expression of 60,000 operations; assign parts of it to vectors");
    hash = mix(hash, structure_of(s));
    if (s.what == step::kind::constant) hash = mix(hash, s.bits);
    steps.push_back(s);
}

void program::push_vector(std::shared_ptr<vector_state> v, scalar type) {
    if (v) size = common_size(size, static_cast<std::int64_t>(v->size()));
    push_leaf(step::kind::vector, std::move(v), type);
}

void program::push_memory(std::shared_ptr<vector_state> v, scalar type) {
    push_leaf(step::kind::memory, std::move(v), type);
}

void program::push_leaf(step::kind what, std::shared_ptr<vector_state> v, scalar type) {
    if (!v) throw usage_error("an expression uses a vector that has no elements yet");
    step s;
    s.what = what;
    s.type = type;
    s.leaf = static_cast<std::uint16_t>(vectors.size());
    vectors.push_back(std::move(v));
    push(s);
}

void program::push_image(image_leaf image) {
    step s;
    s.what = step::kind::image;
    s.leaf = static_cast<std::uint16_t>(images.size());
    // Which elements and dimensions, and how it is used: 4 + 3 + 3 + 4 bits.
    s.detail = static_cast<std::uint16_t>(static_cast<unsigned>(image.type.element) | image.type.lanes << 4 |
                                          image.type.aggregate << 7 | static_cast<unsigned>(image.use) << 10);
    images.push_back(std::move(image));
    push(s);
}

void program::push_value(step::kind what, scalar type, std::uint64_t bits) {
    step s;
    s.what = what;
    s.type = type;
    s.bits = bits;
    if (what == step::kind::index) s.detail = bits % 4 == 0;
    push(s);
}

void program::push_call(std::shared_ptr<const ir::function> function, scalar type, std::uint16_t arity) {
    step s;
    s.what = step::kind::call;
    s.type = type;
    s.arity = arity;
    s.leaf = static_cast<std::uint16_t>(functions.size());
    hash = mix(hash, function->identity.low);
    functions.push_back(std::move(function));
    push(s);
}

void program::append(const program& other) {
    size = common_size(size, other.size);
    const auto first_vector = static_cast<std::uint16_t>(vectors.size());
    const auto first_function = static_cast<std::uint16_t>(functions.size());
    const auto first_image = static_cast<std::uint16_t>(images.size());
    vectors.append(other.vectors.begin(), other.vectors.end());
    images.insert(images.end(), other.images.begin(), other.images.end());
    functions.append(other.functions.begin(), other.functions.end());
    for (step s : other.steps) {
        if (s.what == step::kind::vector || s.what == step::kind::memory)
            s.leaf = static_cast<std::uint16_t>(s.leaf + first_vector);
        if (s.what == step::kind::image) s.leaf = static_cast<std::uint16_t>(s.leaf + first_image);
        if (s.what == step::kind::call) {
            s.leaf = static_cast<std::uint16_t>(s.leaf + first_function);
            hash = mix(hash, functions[s.leaf]->identity.low);
        }
        push(s);
    }
}

}  // namespace array
}  // namespace balm
