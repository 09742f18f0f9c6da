// Fuses a * b + c. In: a simplified function. Out: the same with `fma` where a product is used once, by an
// addition or subtraction of the same block. Doing it here makes every device round alike: the compilers must
// not contract.

#include "ir/ir.hpp"

namespace balm::ir {

namespace {

class contraction {
public:
    explicit contraction(function& f)
        : f_(f), uses_(f.code.size(), 0), home_(f.code.size(), none), is_fused_(f.code.size(), false) {}

    void run() {
        survey(0);
        for (block_id b = 0; b < f_.blocks.size(); ++b) block_(b);
    }

private:
    void survey(block_id b) {
        for (value_id v : f_.blocks[b]) {
            home_[v] = b;
            for (value_id o : f_.operands_of(v))
                if (o != none) ++uses_[o];
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) survey(inner);
        }
    }
    bool is(value_id v, builtin what) const {
        return f_.code[v].op == opcode::builtin && f_.code[v].detail == static_cast<std::uint16_t>(what);
    }
    /// Whether v is a product that the sum may take: both are of one statement.
    bool is_product(value_id v, value_id sum, block_id b) const {
        return is(v, builtin::mul) && uses_[v] == 1 && home_[v] == b && f_.code[v].bits == f_.code[sum].bits;
    }
    bool is_sum(value_id v) const {
        return (is(v, builtin::add) || is(v, builtin::sub)) && is_floating(f_.code[v].result.element);
    }
    value_id negated(value_id v) {
        instruction i;
        i.op = opcode::builtin;
        i.detail = static_cast<std::uint16_t>(builtin::neg);
        i.result = f_.code[v].result;
        i.where = f_.code[v].where;
        const value_id id = f_.add(i, {&v, 1});
        after_.push_back(id);
        return id;
    }

    void block_(block_id b) {
        block& order = f_.blocks[b];
        after_.clear();
        bool any = false;
        for (value_id v : order) {
            any = (is_sum(v) && contract(v, b)) || any;
            after_.push_back(v);
        }
        if (!any) return;
        // Values made here (negations) have ids beyond the end of is_fused_.
        std::erase_if(after_, [&](value_id v) { return v < is_fused_.size() && is_fused_[v]; });
        order.assign(after_.begin(), after_.end());
    }

    /// Turns the sum v into fma if possible; returns whether it did.
    bool contract(value_id v, block_id b) {
        const value_id left = f_.operand(v, 0), right = f_.operand(v, 1);
        const bool adds = is(v, builtin::add);
        if (is_product(left, v, b)) {
            fuse(v, left, f_.operand(left, 0), adds ? right : negated(right));
        } else if (is_product(right, v, b)) {
            const value_id factor = f_.operand(right, 0);
            fuse(v, right, adds ? factor : negated(factor), left);
        } else {
            return false;
        }
        return true;
    }

    /// Turns v into fma(factor, the product's other factor, addend), and drops the product.
    void fuse(value_id v, value_id product, value_id factor, value_id addend) {
        const value_id operands[] = {factor, f_.operand(product, 1), addend};
        is_fused_[product] = true;
        f_.code[v].detail = static_cast<std::uint16_t>(builtin::fma);
        f_.set_operands(v, operands);
    }

    function& f_;
    std::vector<std::uint32_t> uses_;
    std::vector<block_id> home_;
    std::vector<bool> is_fused_;  ///< products that were fused and are removed
    block after_;
};

}  // namespace

void contract(function& f) { contraction(f).run(); }

}  // namespace balm::ir
