// Vectors as text. Only the elements that are shown are read from the device.

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>
#include <span>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/short_vector.hpp"
#include "balm/vector.hpp"
#include "ir/passes/aggregate.hpp"
#include "ir/with_type.hpp"

namespace balm::array {

namespace {

constexpr std::size_t most_shown =
    20;  ///< up to here all are shown; of more, the first and last `shown_at_ends`
constexpr std::size_t shown_at_ends = 5;

void print_scalar(std::ostream& to, scalar type, const std::byte* at) {
    if (type == scalar::f16) {
        half value;
        std::memcpy(&value, at, sizeof value);
        to << value;
        return;
    }
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, at, sizeof value);
        if constexpr (sizeof(T) == 1 && !std::same_as<T, bool>)
            to << static_cast<int>(value);  // a number, not a character
        else
            to << value;
    });
}

void print_element(std::ostream& to, trace::type type, const std::byte* at);

/// `count` contiguous elements between these brackets.
void print_list(std::ostream& to, char open, char close, trace::type type, const std::byte* at,
                std::size_t count) {
    to << open;
    for (std::size_t k = 0; k < count; ++k) {
        if (k > 0) to << ", ";
        print_element(to, type, at + k * trace::size_of(type));
    }
    to << close;
}

void print_element(std::ostream& to, trace::type type, const std::byte* at) {
    if (type.aggregate != 0) {
        const trace::structure& described = ir::structure_of(type);
        to << '{';
        for (const trace::member& m : std::span(described.members, described.member_count)) {
            if (&m != described.members) to << ", ";
            to << m.name << ": ";
            if (m.count == 1)
                print_element(to, m.what, at + m.offset);
            else
                print_list(to, '{', '}', m.what, at + m.offset, m.count);
        }
        to << '}';
    } else if (type.lanes > 1) {
        print_list(to, '(', ')', type.element, at, type.lanes);
    } else {
        print_scalar(to, type.element, at);
    }
}

/// `n` elements, beginning at `first`. If not all are shown, the last ones are at `last`.
std::ostream& print_ends(std::ostream& to, trace::type type, const std::byte* first, const std::byte* last,
                         std::size_t n) {
    const auto show = [&](const std::byte* from, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            if (k > 0) to << ", ";
            print_element(to, type, from + k * trace::size_of(type));
        }
    };
    to << '{';
    if (n <= most_shown) {
        show(first, n);
        return to << '}';
    }
    show(first, shown_at_ends);
    to << ", …, ";
    show(last, shown_at_ends);
    return to << "} (" << n << " elements)";
}

}  // namespace

}  // namespace balm::array

namespace balm {

std::ostream& half::write(std::ostream& to, half value) { return to << static_cast<float>(value); }

std::ostream& detail::print_lanes(std::ostream& to, scalar of, std::uint8_t lanes, const void* at) {
    array::print_element(to, trace::type(of, lanes), static_cast<const std::byte*>(at));
    return to;
}

}  // namespace balm

namespace balm::array {

std::ostream& print(std::ostream& to, const vector_state* x) {
    if (x == nullptr) return to << "{}";
    const std::size_t n = x->size(), ends = n > most_shown ? shown_at_ends : n;
    // All elements are read before any is printed: a device error leaves no partial list behind.
    std::vector<std::byte> elements(2 * ends * x->element_size());
    std::byte* const last = elements.data() + ends * x->element_size();
    if (n > 0) read(*x, 0, elements.data(), ends);
    if (ends < n) read(*x, n - ends, last, ends);
    return print_ends(to, x->type(), elements.data(), last, n);
}
std::ostream& print(std::ostream& to, trace::type type, const void* elements, std::size_t n) {
    const auto* const first = static_cast<const std::byte*>(elements);
    return print_ends(to, type, first, first + (n - std::min(n, shown_at_ends)) * trace::size_of(type), n);
}

}  // namespace balm::array
