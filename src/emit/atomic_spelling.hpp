#pragma once
// How a dialect spells an atomic operation: a function of its own where it has one, else a helper of ours
// that compares and exchanges until nobody came between.

#include <string>
#include <vector>

#include "emit/builtin_spelling.hpp"
#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

/// A function of (address of the element, values …) that gives the element as it was.
struct atomic_spelling {
    std::string name;
    std::vector<helper_function> helpers;
    std::string extension;  ///< of OpenCL, that the function belongs to; empty: none
};

/// The operation on elements of this type. `takes_ptx`: the compiler of OpenCL C takes PTX.
atomic_spelling spell(runtime::dialect, bool takes_ptx, ir::atomic_op, scalar element, space where);

/// The extension of OpenCL 1.2 that a device must have for the operation; empty: none.
std::string atomic_extension(ir::atomic_op, scalar element);

}  // namespace balm::emit
