#pragma once
// Conversion to elements of a given type: of the right-hand side of an assignment to a vector, and of
// arguments of device functions.

#include <concepts>
#include <type_traits>
#include <utility>

#include "balm/expression/recorded.hpp"

namespace balm::detail {

/// Constructs a value of T as the kernel language initialises a variable of that type.
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

/// Whether converting numbers to elements of T would narrow. The kernel language checks operands that are not
/// numbers.
template <class A, class T>
constexpr bool narrows() {
    if constexpr (are_scalars<A>() && scalar_type<T>)
        return kind_of(scalar_of<own_element_of<A>>) > kind_of(scalar_of<T>);
    else
        return false;
}
/// The tape that is assigned to a vector of T.
template <class T, class A>
array::tape_handle assigned(A&& a) {
    using element = typename array_element<T>::type;
    static_assert(
        !narrows<A, element>(),
        "Balm: assigning this would narrow (floating to integer, integer to bool); write cast<T>(…)");
    if constexpr (!array_value<A>) {
        array::tape list;
        if constexpr (std::same_as<T, half> && scalar_type<std::remove_cvref_t<A>>)
            append_host<element>(list, static_cast<float>(half(a)));  // rounded once
        else
            append_host<element>(list, a);
        return list;
    } else if constexpr (std::same_as<element_of<A>, element> || (scalar_type<element> && are_scalars<A>())) {
        return begin<array_scalar<A>()>(static_cast<A&&>(a));
    } else {
        return recorded<compose_operation<element>>(static_cast<A&&>(a)).tape();
    }
}

}  // namespace balm::detail
