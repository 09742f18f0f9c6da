#pragma once
// What the passes after the trace make instructions with.

#include <initializer_list>

#include "ir/ir.hpp"

namespace balm::ir {

/// Adds instructions of one C++ line to a function, and collects them for one of its blocks.
class builder {
public:
    builder(function& f, source_line where) : f_(f), where_(where) {}

    value_id make(opcode op, type result, std::initializer_list<value_id> operands, std::uint16_t detail = 0,
                  std::uint64_t bits = 0) {
        instruction i;
        i.op = op;
        i.result = result;
        i.detail = detail;
        i.bits = bits;
        i.where = where_;
        const value_id id = f_.add(i, {operands.begin(), operands.size()});
        made.push_back(id);
        return id;
    }
    value_id place_(place p, std::uint64_t dimension = 0) {
        return make(opcode::place, scalar::i64, {}, static_cast<std::uint16_t>(p), dimension);
    }
    value_id constant(std::uint64_t bits) { return make(opcode::constant, scalar::i64, {}, 0, bits); }
    value_id apply(builtin b, value_id left, value_id right, scalar result = scalar::i64) {
        return make(opcode::builtin, result, {left, right}, static_cast<std::uint16_t>(b));
    }

    block made;

private:
    function& f_;
    source_line where_;
};

}  // namespace balm::ir
