#include "ir/passes/reciprocals.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/passes/turns.hpp"

namespace balm::ir {

namespace {

using runtime::reciprocal_part;

/// The operand of conversions between integers.
value_id before_conversions(const function& f, value_id v) {
    while (f.code[v].op == opcode::convert) v = f.operand(v, 0);
    return v;
}

scalar element_of(const function& f, value_id v) { return f.code[v].result.element; }

class reciprocal_pass {
public:
    explicit reciprocal_pass(function& f) : f_(f), original_(f), top_(f, f.where) {}

    void run() {
        for (block& each : f_.blocks) {
            const block before = std::move(each);
            block after;
            for (const value_id v : before)
                if (is_concerned(v))
                    computed_.emplace(v, compute(v, after));
                else
                    after.push_back(v);
            each = std::move(after);
        }
        for (value_id& o : f_.operands)
            if (const auto found = computed_.find(o); found != computed_.end()) o = found->second;
        f_.blocks[0].insert(f_.blocks[0].begin(), top_.made.begin(), top_.made.end());
    }

private:
    /// The parameter whose value, converted at most once, is divided by; none if there is none.
    value_id divisor_parameter(value_id division) const {
        value_id d = f_.operand(division, 1);
        if (f_.code[d].op == opcode::convert) d = f_.operand(d, 0);
        const instruction& i = f_.code[d];
        if (i.op != opcode::parameter || !i.result.is_scalar() || !is_integer(i.result.element)) return none;
        const parameter& p = f_.parameters[i.bits];
        const bool is_argument =
            p.origin.from == runtime::origin::user || p.origin.from == runtime::origin::extent;
        return is_argument && p.use == access::value ? d : none;
    }
    bool is_concerned(value_id v) const {
        const instruction& i = f_.code[v];
        if (i.op != opcode::builtin || !i.result.is_scalar() || !is_integer(i.result.element) ||
            size_of(i.result.element) < 4)
            return false;
        const auto what = static_cast<builtin>(i.detail);
        if (what != builtin::div && what != builtin::rem) return false;
        const opcode dividend = f_.code[before_conversions(f_, f_.operand(v, 0))].op;
        return dividend != opcode::parameter && dividend != opcode::constant && divisor_parameter(v) != none;
    }

    // ---- parameters

    value_id part(value_id division, reciprocal_part which) {
        const value_id d = divisor_parameter(division);
        const parameter& of = f_.parameters[f_.code[d].bits];
        parameter p;
        p.what = type(scalar::u64);
        const bool is_shift = which == reciprocal_part::wide_shift || which == reciprocal_part::whole_shift;
        p.name = of.name + (is_shift ? "_shift" : "_reciprocal");
        p.origin = {runtime::origin::reciprocal, static_cast<std::uint16_t>(f_.code[d].bits), which,
                    of.what.element, element_of(f_, division)};
        const auto known = std::find_if(added_.begin(), added_.end(),
                                        [&](const auto& each) { return each.first == p.origin; });
        if (known != added_.end()) return known->second;
        const value_id made = top_.make(opcode::parameter, p.what, {}, 0, f_.parameters.size());
        added_.emplace_back(p.origin, made);
        f_.parameters.push_back(std::move(p));
        return made;
    }

    // ---- the arithmetic of one division

    value_id compute(value_id v, block& after) {
        const scalar type = element_of(f_, v);
        const value_id x = f_.operand(v, 0), d = f_.operand(v, 1);
        const bool is_narrow = size_of(type) == 4 || lies_in(original_, x, 0, 0xffffffff);
        b_ = std::make_unique<builder>(f_, f_.code[v].where);
        const bool may_be_negative = is_signed(type) && !is_count(x);
        const value_id quotient = !is_narrow        ? is_signed(type) ? wide(v, may_be_negative) : whole(v)
                                         : may_be_negative ? narrow(v, magnitude(x))
                                                    : narrow(v, as(x, scalar::u32));
        const bool divides = static_cast<builtin>(f_.code[v].detail) == builtin::div;
        // In as many bits as the remainder may have.
        const scalar word = is_narrow ? scalar::u32 : scalar::u64;
        const bool divisor_may_be_negative = is_signed(type) && !is_count(d);
        value_id result = as(quotient, word), factor = d;
        if (divides || may_be_negative) {
            if (may_be_negative || divisor_may_be_negative) {
                const value_id sign = sign_of(may_be_negative && divisor_may_be_negative
                                                  ? b_->apply(builtin::bit_xor, x, d, type)
                                              : may_be_negative ? x
                                                                : d,
                                              as_unsigned(type));
                result = with_sign(as(quotient, as_unsigned(type)), sign);
            }
        } else if (divisor_may_be_negative) {
            factor = magnitude(d);
        }
        if (!divides) {
            const scalar whole_word = element_of(f_, result);
            const value_id product = b_->apply(builtin::mul, result, as(factor, whole_word), whole_word);
            result = b_->apply(builtin::sub, as(x, whole_word), product, whole_word);
        }
        result = as(result, type);
        after.insert(after.end(), b_->made.begin(), b_->made.end());
        return result;
    }

    bool is_count(value_id v) const { return lies_in(original_, v, 0, no_limit); }
    static scalar as_unsigned(scalar type) { return size_of(type) == 4 ? scalar::u32 : scalar::u64; }
    value_id as(value_id v, scalar type) {
        return element_of(f_, v) == type ? v : b_->make(opcode::convert, type, {v});
    }
    value_id constant(std::uint64_t bits) { return b_->constant(bits, scalar::u64); }
    value_id op(builtin what, value_id left, value_id right) {
        return b_->apply(what, left, right, scalar::u64);
    }
    /// All ones for negative numbers, else 0.
    value_id sign_of(value_id v, scalar in) {
        const scalar type = element_of(f_, v);
        const value_id last = b_->constant(8 * size_of(type) - 1, type);
        return as(b_->apply(builtin::shr, v, last, type), in);
    }
    /// Negated if the sign is all ones.
    value_id with_sign(value_id v, value_id sign) {
        const scalar type = element_of(f_, v);
        return b_->apply(builtin::sub, b_->apply(builtin::bit_xor, v, sign, type), sign, type);
    }
    value_id magnitude(value_id v) {
        const scalar type = as_unsigned(element_of(f_, v));
        return with_sign(as(v, type), sign_of(v, type));
    }

    /// The upper half of (x + 1) * reciprocal, for 32 bits of x. In halves: products of 32 bits are one
    /// instruction on GPUs, and CPUs have them for vectors.
    value_id narrow(value_id division, value_id x) {
        const value_id reciprocal = part(division, reciprocal_part::narrow), half = constant(32);
        const value_id low = op(builtin::bit_and, reciprocal, constant(0xffffffff));
        const value_id high = op(builtin::shr, reciprocal, half), from = as(x, scalar::u64);
        const value_id below = op(builtin::shr, op(builtin::add, op(builtin::mul, from, low), low), half);
        const value_id upper = op(builtin::add, op(builtin::mul, from, high), high);
        return op(builtin::shr, op(builtin::add, upper, below), half);
    }
    value_id wide(value_id division, bool may_be_negative) {
        const value_id x = f_.operand(division, 0);
        value_id next = none;  // |x| + 1
        if (may_be_negative) {
            const value_id sign = sign_of(x, scalar::u64);
            const value_id inverted = op(builtin::bit_xor, as(x, scalar::u64), sign);
            next = op(builtin::add, inverted, op(builtin::sub, constant(1), sign));
        } else {
            next = op(builtin::add, as(x, scalar::u64), constant(1));
        }
        const value_id product = op(builtin::mul_hi, part(division, reciprocal_part::wide), next);
        return op(builtin::shr, product, part(division, reciprocal_part::wide_shift));
    }
    value_id whole(value_id division) {
        const value_id x = f_.operand(division, 0), log2 = part(division, reciprocal_part::whole_shift);
        const value_id product = op(builtin::mul_hi, part(division, reciprocal_part::whole), x);
        const value_id first = op(builtin::min, log2, constant(1));
        const value_id rest = op(builtin::shr, op(builtin::sub, x, product), first);
        return op(builtin::shr, op(builtin::add, product, rest), op(builtin::sub, log2, first));
    }

    function& f_;
    const function original_;
    builder top_;  ///< the parameters
    std::unique_ptr<builder> b_;
    std::vector<std::pair<runtime::parameter_origin, value_id>> added_;
    std::map<value_id, value_id> computed_;  ///< instead of divisions
};

}  // namespace

function with_reciprocals(function kernel, std::uint64_t small_counts) {
    for (std::size_t k = 0; k < std::min<std::size_t>(kernel.parameters.size(), 64); ++k)
        kernel.parameters[k].is_small = (small_counts >> k & 1) != 0;
    const bool divides = std::any_of(kernel.code.begin(), kernel.code.end(), [](const instruction& i) {
        return i.op == opcode::builtin && (static_cast<builtin>(i.detail) == builtin::div ||
                                           static_cast<builtin>(i.detail) == builtin::rem);
    });
    if (divides && kernel.dimensions > 0) reciprocal_pass(kernel).run();
    return kernel;
}

}  // namespace balm::ir
