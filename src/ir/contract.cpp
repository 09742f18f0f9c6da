// Fuses a * b + c. In: a simplified function. Out: the same with `fma` where a product is used once, by an
// addition or subtraction of the same block. It is done here, once, so that every device rounds alike:
// the compilers are told to contract nothing.

#include "ir/ir.hpp"

namespace balm::ir {

namespace {

class contraction {
public:
    explicit contraction(function& f) : f_(f), uses_(f.code.size(), 0) {}

    void run() {
        count(0);
        block_(0);
    }

private:
    void count(block_id b) {
        for (value_id v : f_.blocks[b]) {
            for (value_id o : f_.operands_of(v))
                if (o != none) ++uses_[o];
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) count(inner);
        }
    }
    bool is(value_id v, builtin what) const {
        return f_.code[v].op == opcode::builtin && f_.code[v].detail == static_cast<std::uint16_t>(what);
    }
    bool is_product(value_id v, const std::vector<bool>& here) const {
        return v < here.size() && here[v] && is(v, builtin::mul) && uses_[v] == 1;
    }
    value_id negated(value_id v, block& after) {
        instruction i;
        i.op = opcode::builtin;
        i.detail = static_cast<std::uint16_t>(builtin::neg);
        i.result = f_.code[v].result;
        i.where = f_.code[v].where;
        const value_id id = f_.add(i, {&v, 1});
        after.push_back(id);
        return id;
    }

    void block_(block_id b) {
        const block before = std::move(f_.blocks[b]);
        std::vector<bool> here(f_.code.size(), false);
        block after;
        for (value_id v : before) {
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) block_(inner);
            const bool adds = is(v, builtin::add);
            if ((adds || is(v, builtin::sub)) && is_floating(f_.code[v].result.element)) {
                const value_id left = f_.operand(v, 0), right = f_.operand(v, 1);
                if (is_product(left, here)) {
                    fuse(v, left, f_.operand(left, 0), adds ? right : negated(right, after), after);
                } else if (is_product(right, here)) {
                    const value_id factor = f_.operand(right, 0);
                    fuse(v, right, adds ? factor : negated(factor, after), left, after);
                }
            }
            if (v < here.size()) here[v] = true;
            after.push_back(v);
        }
        f_.blocks[b] = std::move(after);
    }

    /// Turns v into fma(factor, the product's other factor, addend), and drops the product.
    void fuse(value_id v, value_id product, value_id factor, value_id addend, block& after) {
        const value_id operands[] = {factor, f_.operand(product, 1), addend};
        std::erase(after, product);
        instruction i = f_.code[v];
        i.detail = static_cast<std::uint16_t>(builtin::fma);
        i.first_operand = static_cast<std::uint32_t>(f_.operands.size());
        i.operand_count = 3;
        f_.operands.insert(f_.operands.end(), std::begin(operands), std::end(operands));
        f_.code[v] = i;
    }

    function& f_;
    std::vector<int> uses_;
};

}  // namespace

void contract(function& f) { contraction(f).run(); }

}  // namespace balm::ir
