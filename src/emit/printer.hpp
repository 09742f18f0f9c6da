#pragma once
// IR -> text. In: a lowered kernel and the dialect of its device. Out: source for the device's compiler, as a
// person would write it. One walker serves all dialects, which are tables (emit/dialect.hpp).

#include <string>

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

struct printed {
    /// The whole source of a kernel: a line of provenance, the helper functions it needs, the device
    /// functions it calls, the kernel.
    std::string text;
    /// The kernel's name in the source: its own, unless a dialect reserves it or a text that the kernel calls
    /// contains it as a word. In OpenCL, a kernel given as OpenCL C keeps its name, whatever it is.
    std::string kernel_name;
};
printed print_program(const ir::function& kernel, const dialect&);

inline std::string print(const ir::function& kernel, const dialect& language) {
    return print_program(kernel, language).text;
}
inline std::string print(const ir::function& kernel, runtime::dialect of_driver) {
    return print(kernel, dialect_of(of_driver));
}

}  // namespace balm::emit
