#pragma once
// The types of values inside kernels: scalars, short vectors, structures, and pointers to any of these.

#include <cstddef>
#include <cstdint>

#include "balm/types.hpp"

namespace balm {

/// The address space of a pointer; `value`: not a pointer; `image`: an image, which is referred to by a
/// handle.
enum class space : std::uint8_t { value, global, local, constant, private_, image };

namespace trace {

/// The type of a value: a scalar, a short vector of scalars, a structure, or a pointer to one of these. Types
/// beyond scalars and their vectors refer to a table that lives as long as the program.
struct type {
    scalar element = scalar::nothing;
    std::uint8_t lanes = 1;
    space where = space::value;
    std::uint8_t is_const : 1 = 0;  ///< of a pointer: its target is read-only
    std::uint8_t is_packed : 1 =
        0;                        ///< of a vector in memory, or a pointer to one: aligned as its scalars are
    std::uint8_t unused : 6 = 0;  ///< no padding, so that equal types have equal bytes
    std::uint16_t aggregate = 0;  ///< a structure, or a pointer that is pointed to; 0: neither

    constexpr type() = default;
    constexpr type(scalar s, std::uint8_t lane_count = 1, space address = space::value)
        : element(s), lanes(lane_count), where(address) {}
    constexpr bool is_pointer() const { return where != space::value; }
    constexpr bool is_scalar() const { return !is_pointer() && lanes == 1 && aggregate == 0; }
    constexpr bool is_image() const { return where == space::image; }
    friend constexpr bool operator==(const type&, const type&) = default;
};

/// The type of an image with these elements. `aggregate` encodes the rest.
constexpr type image_type(type element, int dimensions, bool is_normalised) {
    element.where = space::image;
    element.aggregate = static_cast<std::uint16_t>(dimensions | (is_normalised ? 4 : 0));
    return element;
}
constexpr int image_dimensions(type image) { return image.aggregate & 3; }
/// Whether its integers are normalised, read as fractions.
constexpr bool is_normalised(type image) { return (image.aggregate & 4) != 0; }
/// The type of the value that reading an element yields.
constexpr type value_of_image(type image) {
    const bool as_f32 = is_normalised(image) || image.element == scalar::f16;
    return {as_f32 ? scalar::f32 : image.element, image.lanes};
}

/// The type of a pointer to `what`.
type pointer_to(type what, space where, bool is_const = false);
/// The type that a pointer points to.
type pointee(type pointer);
/// The size and the alignment of a type in memory, in bytes.
std::size_t size_of(type) noexcept;
std::size_t alignment_of(type) noexcept;

/// A member of a structure: `count` contiguous elements of a type (1 unless it is an array).
struct member {
    const char* name;
    type what;
    std::uint32_t offset;
    std::uint32_t count;
};

/// A structure with the layout of the host compiler. The arrays live as long as the program.
struct structure {
    const char* name;
    std::uint32_t size;
    std::uint32_t alignment;
    const member* members;
    std::uint32_t member_count;
};

/// The type of a structure: the same for equal descriptions. Throws trace_error if its members overlap.
type type_of_structure(const structure&);

}  // namespace trace
}  // namespace balm
