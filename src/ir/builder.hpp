#pragma once
// Makes instructions, for the passes after the trace.

#include <initializer_list>
#include <span>
#include <vector>

#include "ir/ir.hpp"

namespace balm::ir {

/// Adds instructions of one C++ line to a function, and collects them for one of its blocks.
class builder {
public:
    builder(function& f, source_line where) : f_(f), where_(where) {}

    value_id make(opcode op, type result, std::initializer_list<value_id> operands, std::uint16_t detail = 0,
                  std::uint64_t bits = 0) {
        return make(op, result, std::span(operands.begin(), operands.size()), detail, bits);
    }
    value_id make(opcode op, type result, std::span<const value_id> operands, std::uint16_t detail = 0,
                  std::uint64_t bits = 0) {
        instruction i;
        i.op = op;
        i.result = result;
        i.detail = detail;
        i.bits = bits;
        i.where = where_;
        made.push_back(f_.add(i, operands));
        return made.back();
    }
    /// Appends a copy of an instruction, with each operand replaced by instead(operand).
    template <class Instead>
    value_id copy(value_id v, const Instead& instead) {
        const auto own = f_.operands_of(v);
        std::vector<value_id> operands(own.begin(), own.end());
        for (value_id& o : operands) o = instead(o);
        const instruction i = f_.code[v];
        made.push_back(f_.add(i, operands));
        return made.back();
    }
    value_id place_(place p, std::uint64_t dimension = 0) {
        return make(opcode::place, scalar::i64, {}, static_cast<std::uint16_t>(p), dimension);
    }
    value_id constant(std::uint64_t bits, scalar type = scalar::i64) {
        return make(opcode::constant, type, {}, 0, bits);
    }
    value_id apply(builtin b, value_id left, value_id right, scalar result = scalar::i64) {
        return make(opcode::builtin, result, {left, right}, static_cast<std::uint16_t>(b));
    }
    type type_of(value_id v) const { return f_.code[v].result; }

    block made;

private:
    function& f_;
    source_line where_;
};

}  // namespace balm::ir
