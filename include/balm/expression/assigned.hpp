#pragma once
// What becomes an element of a given type: the right side of an assignment to a vector, an argument of a
// device function.

#include <concepts>
#include <type_traits>
#include <utility>

#include "balm/expression/recorded.hpp"

namespace balm::detail {

/// A value of T, made as the kernel language makes a variable of it.
template <class T>
struct compose_operation : named_operation {
    static constexpr const char* name = "compose";
    template <class... A>
    static dsl::Var<T> on(const A&... a) {
        return dsl::Var<T>(a...);
    }
};

template <class T, class A>
void append_as(array::tape& list, const A& a) {
    if constexpr (!array_value<A>) {
        append_host<T>(list, a);
    } else if constexpr (std::same_as<element_of<A>, T>) {
        append<scalar::nothing>(list, a);
    } else {
        list.append(recorded<compose_operation<T>>(a).tape());
    }
}

/// Whether a number is of a greater kind than the elements; what is no number is for the kernel language to
/// say.
template <class A, class T>
constexpr bool narrows() {
    if constexpr (are_scalars<A>() && scalar_type<T>)
        return kind_of(scalar_of<own_element_of<A>>) > kind_of(scalar_of<T>);
    else
        return false;
}
/// What is assigned to elements of a vector of T.
template <class T, class A>
array::tape_handle assigned(A&& a) {
    using element = typename array_element<T>::type;
    static_assert(
        !narrows<A, element>(),
        "Balm: assigning this would narrow (floating to integer, integer to bool); write cast<T>(…)");
    if constexpr (!array_value<A>) {
        array::tape list;
        append_host<element>(list, a);
        return list;
    } else if constexpr (std::same_as<element_of<A>, element> || (scalar_type<element> && are_scalars<A>())) {
        return begin<array_scalar<A>()>(static_cast<A&&>(a));
    } else {
        return recorded<compose_operation<element>>(static_cast<A&&>(a)).tape();
    }
}

}  // namespace balm::detail
