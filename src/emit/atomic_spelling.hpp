#pragma once
// How a dialect spells an atomic operation: a function of its own where it has one, else a helper of ours
// that compares and exchanges until nobody came between.

#include <string>
#include <vector>

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// A function of (address of the element, values …) that gives the element as it was.
struct atomic_spelling {
    std::string name;
    std::vector<helper_function> helpers;
};

/// The operation on elements of this type.
atomic_spelling spell_atomic(const dialect&, ir::atomic_op, scalar element, space where);

}  // namespace balm::emit
