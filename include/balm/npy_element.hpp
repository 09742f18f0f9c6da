#pragma once
// Element types of NumPy files, and how one element lies in memory.

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "balm/plain_element.hpp"
#include "balm/structure.hpp"

namespace balm {

/// Element types that NumPy files have: those of DLPack, and structures declared with BALM_STRUCT.
template <class T>
concept npy_element = plain_element<T> || structure_type<T>;

namespace detail {

struct npy_structure;
/// An element, or a member of one: numbers, or a structure.
struct npy_layout {
    npy_layout(const element_layout& numbers) : number(numbers) {}
    npy_layout(const npy_structure& members) : structure(&members) {}

    element_layout number;
    const npy_structure* structure = nullptr;  // lives as long as the program
};
/// A member; `extents` are those of an array.
struct npy_member {
    std::string name;
    std::size_t offset;
    npy_layout what;
    std::vector<std::size_t> extents;
};
struct npy_structure {
    std::string name;
    std::size_t bytes;
    std::vector<npy_member> members;
};

template <npy_element T>
npy_layout npy_layout_of();

/// Describes the members of a structure: a use of the fields that BALM_STRUCT declares.
struct npy_member_access {
    using pointer = npy_structure*;
    template <class T>
    struct field {
        field(npy_structure* of, int k) {
            npy_member& member = of->members[static_cast<std::size_t>(k)];
            member.what = npy_layout_of<std::remove_all_extents_t<T>>();
            add_extents<T>(member.extents);
        }

    private:
        template <class Array>
        static void add_extents(std::vector<std::size_t>& to) {
            if constexpr (std::is_array_v<Array>) {
                to.push_back(std::extent_v<Array>);
                add_extents<std::remove_extent_t<Array>>(to);
            }
        }
    };
};
template <structure_type S>
const npy_structure& npy_structure_of() {
    static const npy_structure& known = *new npy_structure([] {  // outlives static objects
        (void)type_of_element<S>();                              // refuses members that overlap
        constexpr const S* none = nullptr;
        const trace::structure& declared = balm_structure(none);
        npy_structure made{declared.name, sizeof(S), {}};
        for (std::size_t k = 0; k < declared.member_count; ++k)
            made.members.push_back(
                {declared.members[k].name, declared.members[k].offset, element_layout(), {}});
        [[maybe_unused]] const decltype(balm_fields_of(npy_member_access(), none)) fields(&made);
        return made;
    }());
    return known;
}
template <npy_element T>
npy_layout npy_layout_of() {
    if constexpr (structure_type<T>)
        return npy_structure_of<T>();
    else
        return layout_of<T>();
}

}  // namespace detail

}  // namespace balm
