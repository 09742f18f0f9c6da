#pragma once
// The types, constants and helper functions that a program's functions use, collected while these are
// printed: each once, in order of first use.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/dialect.hpp"
#include "emit/names.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

struct program_parts {
    explicit program_parts(const dialect& d) : language(d) {}

    const dialect& language;
    name_set names;                                             ///< of functions, types and constants
    std::map<std::uint64_t, std::string> types;                 ///< names of the declared types, by code
    std::map<std::uint64_t, std::vector<std::string>> members;  ///< names of structures' members, by code
    std::string type_text;                                      ///< declarations of types
    std::map<const ir::constant_data*, std::string> constants;  ///< their names
    std::string constant_text;
    std::vector<std::pair<std::string, std::string>> helpers;  ///< name, text
    std::map<const ir::function*, std::string> functions;      ///< printed names of callees
    std::set<const ir::function*> outlined;                    ///< callees that must not be inlined
    bool uses_f64 = false;
    bool meets_text_structures = false;  ///< a text accesses the same memory as other structure types
    std::set<std::string> extensions;    ///< language extensions to enable

    /// Adds the function if the program does not have it yet, and returns its name.
    std::string use(const helper_function&);
};

/// The name of a type for values; declares the type if the dialect lacks it.
std::string type_name(program_parts&, ir::type);
/// The type that represents another in memory: u8 for bool, u16 for f16.
ir::type in_memory(ir::type);
/// The name of constant data, which is declared on first use.
std::string constant_name(program_parts&, const ir::constant_data&);
/// Declares the structures and constants of a function, so that their names are known before any name inside
/// a function is chosen.
void declare_parts_of(program_parts&, const ir::function&);

/// "f32", "i32x4": a word for a scalar or vector type in the names of helper functions.
std::string type_word(ir::type);

}  // namespace balm::emit
