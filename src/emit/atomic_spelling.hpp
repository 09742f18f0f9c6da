#pragma once
// How a dialect spells an atomic operation: by its own function if it has one, else by a helper function with
// a compare-and-exchange loop.

#include <string>
#include <vector>

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// A function of (address of the element, values …) that returns the element's old value.
struct atomic_spelling {
    std::string name;
    std::vector<helper_function> helpers;
};

/// The operation on elements of this type.
atomic_spelling spell_atomic(const dialect&, ir::atomic_op, scalar element, space where);

}  // namespace balm::emit
