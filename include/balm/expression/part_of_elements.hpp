#pragma once
// Lanes and members of the elements of a vector or view: expressions that can be assigned to.
//
//     balm::lane<2>(position) += dt * balm::lane<2>(velocity);
//     balm::field<&particle::mass>(particles) = 1.f;

#include <concepts>
#include <type_traits>
#include <utility>

#include "balm/builtin.hpp"
#include "balm/expression/assigned.hpp"
#include "balm/expression/operators.hpp"

namespace balm {

namespace detail {

/// Views that can be assigned to, and parts of the elements of assignable arrays.
template <class A>
inline constexpr bool is_view_of_places = false;
template <class T>
inline constexpr bool is_view_of_places<view<T>> = !std::is_const_v<T>;
/// Arrays whose lanes and members can be assigned to: the above, and non-const vectors.
template <class A>
concept place = is_view_of_places<std::remove_cvref_t<A>> ||
    (is_vector<std::remove_cvref_t<A>>&& std::is_lvalue_reference_v<A> &&
     !std::is_const_v<std::remove_reference_t<A>>);

/// A Double as the Float that becomes a half in memory.
struct half_operation : named_operation {
    static constexpr const char* name = "half";
    static dsl::Var<float> on(const dsl::Var<double>& a) {
        return dsl::Var<float>(trace::rounded_for_half(trace::read(a.node())));
    }
};

/// A handle to the same elements; copying a vector would copy its elements.
template <class T>
vector<T> place_of(const vector<T>& x) {
    return vector<T>(x.state());
}
template <class A>
A place_of(const A& x) {
    return x;
}

}  // namespace detail

/// The result of `balm::lane<K>(v)`, `balm::lanes<K, L>(v)` and `balm::field<&S::member>(v)`: a part, of type
/// T, of each element of a vector or view. It is an expression and a handle: assigning to it changes that
/// part of each element, and leaves the rest unchanged.
template <class Place, class T>
class [[nodiscard(
    "Balm: an expression computes nothing until it is assigned: y = lane<0>(v)")]] part_of_elements
    : public expr<T> {
public:
    /// Use lane, lanes or field.
    part_of_elements(expr<T> value, Place of, const array::operation& replace, bool is_half)
        : expr<T>(std::move(value)), of_(std::move(of)), replace_(&replace), is_half_(is_half) {}
    part_of_elements(const part_of_elements& other)
        : expr<T>(other),
          of_(detail::place_of(other.of_)),
          replace_(other.replace_),
          is_half_(other.is_half_) {}
    part_of_elements(part_of_elements &&) noexcept = default;
    ~part_of_elements() = default;

    /// Replaces this part of each element, in one kernel. Throws usage_error if the sizes differ.
    template <class A>
    requires array_operand<A> || std::same_as<std::remove_cvref_t<A>, T> part_of_elements& operator=(A&& a) {
        using element = detail::element_of<Place>;
        static_assert(!detail::narrows<A, T>(),
                      "Balm: assigning this would narrow (floating to integer, integer to bool); write "
                      "cast<T>(…)");
        array::tape_handle value;
        append_value(*value, detail::per_element(static_cast<A&&>(a)));
        array::tape_handle list = detail::begin<scalar::nothing>(of_);
        list->append_assigned(std::move(*value));
        list->push_operation(*replace_, detail::array_type<element>(), 2, builtin::count);
        of_ = expr<element>(std::move(list));
        return *this;
    }
    part_of_elements& operator=(const part_of_elements& other) { return *this = expr<T>(other); }
    template <detail::host_elements A>
    BALM_REFUSED(BALM_HOST_ELEMENTS)
    part_of_elements& operator=(const A& a);
    template <dsl::detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    part_of_elements& operator=(A value);

#define BALM_COMPOUND(symbol, id)                                                                   \
    template <class A>                                                                              \
    requires array_operands<expr<T>, A> part_of_elements& operator symbol(A&& a) {                  \
        return *this = apply<builtin::id>(static_cast<const expr<T>&>(*this), static_cast<A&&>(a)); \
    }                                                                                               \
    template <detail::host_elements A>                                                              \
    BALM_REFUSED(BALM_HOST_ELEMENTS)                                                                \
    part_of_elements& operator symbol(const A& a);
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

private:
    template <class A>
    void append_value(array::tape & list, const A& a) const {
        if constexpr (std::same_as<T, float> && array_value<A> && detail::are_scalars<A>())
            if constexpr (std::same_as<detail::element_of<A>, double>)
                if (is_half_) return list.append(detail::recorded<detail::half_operation>(a).tape());
        detail::append_as<T>(list, a);
    }

    Place of_;
    const array::operation* replace_;
    bool is_half_;  ///< in memory
};

namespace detail {

template <class Place, class T>
inline constexpr bool is_expr<part_of_elements<Place, T>> = true;
template <class Place, class T>
inline constexpr bool is_part_of_elements<part_of_elements<Place, T>> = true;
template <class Place, class T>
inline constexpr bool is_view_of_places<part_of_elements<Place, T>> = true;

/// The part that operation `Read` extracts from each element, in memory a Stored. If the elements can be
/// assigned to, operation `Replace` does so.
template <class Read, class Replace, class Stored, class A>
auto part_of(A&& a) {
    if constexpr (place<A>) {
        auto value = recorded<Read>(a);
        using T = typename decltype(value)::value_type;
        return part_of_elements<decltype(place_of(a)), T>(
            std::move(value), place_of(a), recorder<Replace, element_of<A>, T>::operation,
            std::same_as<Stored, half> || is_half_vector<Stored>);
    } else {
        return recorded<Read>(static_cast<A&&>(a));
    }
}

}  // namespace detail

}  // namespace balm
