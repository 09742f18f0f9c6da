#pragma once
// A function's names and signature, and the pointers that the function computes from its arguments before its
// statements.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emit/names.hpp"
#include "emit/program_parts.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// The names in one function: the user's if there are any, else a word for the kind of value.
class value_names {
public:
    /// No name hides one of `around`.
    value_names(const ir::function& f, const name_set& around)
        : f_(f), names_(f.code.size()), taken_(around) {}

    /// The name of a value; empty if it has none yet.
    const std::string& operator[](ir::value_id v) const { return names_[v]; }
    bool has(ir::value_id v) const { return !names_[v].empty(); }
    const std::string& declare(ir::value_id v) { return names_[v] = unique(word_for(v)); }
    void set(ir::value_id v, const std::string& name) { names_[v] = name; }
    std::string unique(std::string_view word) { return taken_.unique(word); }

private:
    std::string word_for(ir::value_id) const;

    const ir::function& f_;
    std::vector<std::string> names_;
    name_set taken_;
};

struct signature {
    std::string text;                               ///< up to its closing parenthesis
    std::vector<std::string> pointers;              ///< statements
    std::map<std::uint64_t, std::string> samplers;  ///< of image parameters that have one
};

/// Names the parameters.
signature print_signature(const ir::function&, const std::string& printed_name, program_parts&, value_names&);

}  // namespace balm::emit
