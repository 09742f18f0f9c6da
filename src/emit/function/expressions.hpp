#pragma once
// Expressions: the text of a value, down to operands that have names.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/function/signature.hpp"
#include "emit/program_parts.hpp"
#include "emit/text.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

class expression_printer {
public:
    /// `samplers` are those of image parameters that have one.
    expression_printer(const ir::function& f, program_parts& parts, const value_names& names,
                       const std::map<std::uint64_t, std::string>& samplers)
        : f_(f), parts_(parts), names_(names), samplers_(samplers) {}

    /// The expression that computes the value, whether or not it has a name.
    text expression(ir::value_id);
    /// Operand k of v, in parentheses if it binds less tightly than required.
    std::string operand(ir::value_id v, std::size_t k, int least_precedence);
    /// Operand k where C's promotions make the suffix of a 64-bit literal unnecessary: as an index, or beside
    /// an operand that is not a literal.
    std::string plain_operand(ir::value_id v, std::size_t k, int least_precedence);
    /// Operand k in its memory form: truth values in lanes become bytes, an f32 that is stored as f16 its
    /// bits.
    std::string stored(ir::value_id v, std::size_t k);
    /// The element that a load or store accesses: `pointer[index]` and its shorter forms.
    text element(ir::value_id);
    /// The address of the element that an instruction accesses; of the whole vector, if it is a lane, which
    /// has no address in OpenCL C.
    std::string address_of_access(ir::value_id);
    /// The call for a streaming store; empty if it is a plain one.
    std::string streaming_store(ir::value_id);

    /// The operator of an inlined value that all dialects print as `left operator right`, else null.
    const char* plain_operator(ir::value_id) const;

private:
    const ir::instruction& at(ir::value_id v) const { return f_.code[v]; }
    std::string type_of(ir::type t) { return type_name(parts_, t); }
    const features& has() const { return parts_.language.has; }

    text use(ir::value_id);
    std::vector<std::string> operands_from(ir::value_id, std::size_t first, int least_precedence);
    text call(const std::string& function, ir::value_id);

    text element_of(ir::value_id pointer, ir::value_id user);
    text address(ir::value_id);
    /// The function for a streaming access, which is added to the program; empty if the access is a plain
    /// one.
    std::string streaming_function(ir::value_id);
    text loaded(ir::value_id);

    text place(const ir::instruction&) const;
    text called(ir::value_id);
    text atomic(ir::value_id);
    text sub_group(ir::value_id);
    text read_image(ir::value_id);
    text write_image(ir::value_id);

    // operators.cpp
    int neighbouring_lanes(ir::value_id composed, std::size_t k) const;
    /// The operands of a vector, in which neighbouring lanes of another one are printed as one.
    std::string composed_lanes(ir::value_id);
    text compose(ir::value_id);
    text swizzle(ir::value_id);
    text lane_indices(ir::value_id);
    text vector_select(ir::value_id);
    text vector_conversion(ir::value_id);
    text lane_wise(ir::value_id);
    text lanes_of_truth(ir::value_id);
    bool has_lanes(ir::value_id) const;
    bool has_vector_form(builtin, scalar) const;

    text scalar_select(ir::value_id);
    text conversion(ir::value_id);
    text narrow_place(ir::value_id);
    text row(ir::value_id);
    text infix(ir::value_id);
    bool is_small_shift(ir::value_id) const;

    const ir::function& f_;
    program_parts& parts_;
    const value_names& names_;
    const std::map<std::uint64_t, std::string>& samplers_;
};

}  // namespace balm::emit
