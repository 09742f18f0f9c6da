#include "emit/outlining.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace balm::emit {

namespace {

/// Weights are about instructions. A call takes some dozens, so a function that is less than ten times as
/// large is inlined.
constexpr double elementary_weight = 32, least_function = 512, least_inlined = 16384;
/// Compilers unroll loops of up to so many iterations.
constexpr std::uint64_t most_unrolled = 64;

/// The iterations of a loop as far as the compiler unrolls it.
double unrolled(const ir::function& f, ir::value_id loop) {
    const auto is_constant = [&](std::size_t k) {
        return f.code[f.operand(loop, k)].op == ir::opcode::constant;
    };
    if (!is_constant(0) || !is_constant(1) || !is_constant(2)) return 1;
    const auto at = [&](std::size_t k) { return f.code[f.operand(loop, k)].bits; };
    const std::uint64_t step = std::max<std::uint64_t>(at(2), 1), count = (at(1) - at(0) + step - 1) / step;
    return count > most_unrolled ? 1 : static_cast<double>(std::max<std::uint64_t>(count, 1));
}

using call_counts = std::map<const ir::function*, double>;

/// The weight of a block that is copied so many times; counts the calls in it.
double weight_of(const ir::function& f, const ir::block& block, double copies, call_counts& calls) {
    double sum = 0;
    for (const ir::value_id v : block) {
        const ir::instruction& i = f.code[v];
        const bool is_elementary =
            i.op == ir::opcode::builtin && ir::info(static_cast<builtin>(i.detail)).ulp > 0;
        sum += copies * (is_elementary ? elementary_weight : 1);
        if (ir::is_call(i)) calls[f.callees[i.bits].get()] += copies;
        const double inside = i.op == ir::opcode::for_ ? copies * unrolled(f, v) : copies;
        for (const ir::block_id b : i.blocks)
            if (b != ir::none) sum += weight_of(f, f.blocks[b], inside, calls);
    }
    return sum;
}

class call_tree {
public:
    /// The weight of a function with those that it calls, of which large ones are counted once.
    double weight(const ir::function& f) {
        const auto found = weights_.find(&f);
        if (found != weights_.end()) return found->second;
        call_counts calls;
        double sum = f.blocks.empty() ? 0 : weight_of(f, f.blocks[0], 1, calls);
        for (const auto& [callee, count] : calls) {
            const double own = weight(*callee);
            const bool is_outlined = own >= least_function && own * count >= least_inlined;
            if (is_outlined) outlined_.insert(callee);
            sum += is_outlined ? count : own * count;
        }
        return weights_[&f] = sum;
    }
    std::set<const ir::function*> outlined() && { return std::move(outlined_); }

private:
    std::map<const ir::function*, double> weights_;
    std::set<const ir::function*> outlined_;
};

}  // namespace

std::set<const ir::function*> outlined_functions(const ir::function& kernel) {
    call_tree all;
    all.weight(kernel);
    return std::move(all).outlined();
}

}  // namespace balm::emit
