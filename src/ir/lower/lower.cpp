// How work is shared out, by device kind: on a GPU one element a work-item (a grid-stride loop costs 6 % of
// the H100's bandwidth), or four where they share what is costly; on a CPU a short vector a work-item where
// the body has a vector form, else contiguous chunks (a grid-stride loop is 15 times slower there).

#include "ir/lower/lower.hpp"

#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/fours.hpp"
#include "ir/lower/grid.hpp"
#include "ir/lower/widen.hpp"

namespace balm::ir {

namespace {

void replace_uses(function& f, value_id what, value_id by) {
    for (value_id& o : f.operands)
        if (o == what) o = by;
}

/// Appends the instructions of a block without blocks of its own once more, with one value in place of
/// another.
void append_copy(function& f, const block& from, std::pair<value_id, value_id> instead, block& to) {
    std::map<value_id, value_id> known{instead};
    for (const value_id v : from) {
        const auto own = f.operands_of(v);
        std::vector<value_id> operands(own.begin(), own.end());
        for (value_id& o : operands)
            if (const auto found = known.find(o); found != known.end()) o = found->second;
        const instruction i = f.code[v];
        to.push_back(f.add(i, operands));
        known.emplace(v, to.back());
    }
}

/// if (gid < count) body
void one_element_an_item(function& f, value_id loop, builder& b) {
    const value_id index = b.place_(place::global_id);
    const value_id inside = b.apply(builtin::less, index, f.operand(loop, 0), scalar::boolean);
    const block_id body = f.code[loop].blocks[0];
    f.code[index].name = f.code[loop].name;
    replace_uses(f, loop, index);
    f.blocks.emplace_back();
    const value_id branch = b.make(opcode::if_, scalar::nothing, {inside});
    f.code[branch].blocks[0] = body;
    f.code[branch].blocks[1] = static_cast<block_id>(f.blocks.size() - 1);
}

/// for (i = from; i < to; i += step) body
value_id counted_loop(function& f, value_id loop, builder& b, value_id from, value_id to, value_id step) {
    const value_id counted = b.make(opcode::for_, scalar::i64, {from, to, step});
    f.code[counted].blocks[0] = f.code[loop].blocks[0];
    f.code[counted].name = f.code[loop].name;
    replace_uses(f, loop, counted);
    return counted;
}

/// The same for neighbours on a CPU, whose compiler is left to make vectors of them where they are worth it.
void chunk_loop(function& f, value_id loop, builder& b, value_id from, value_id to) {
    const value_id counted = counted_loop(f, loop, b, from, to, b.constant(1));
    if (does_little_but_gather(f, counted)) f.code[counted].detail = scalar_loop;
}

void grid_stride(function& f, value_id loop, builder& b) {
    const std::uint64_t dimension = f.code[loop].bits;
    const value_id from = b.place_(place::global_id, dimension);
    counted_loop(f, loop, b, from, f.operand(loop, 0), b.place_(place::global_size, dimension));
}

void contiguous_chunks(function& f, value_id loop, builder& b) {
    const std::uint64_t dimension = f.code[loop].bits;
    const value_id count = f.operand(loop, 0);
    const value_id items = b.place_(place::global_size, dimension);
    const value_id last = b.apply(builtin::sub, items, b.constant(1));
    const value_id chunk = b.apply(builtin::div, b.apply(builtin::add, count, last), items);
    const value_id from = b.apply(builtin::mul, b.place_(place::global_id, dimension), chunk);
    const value_id to = b.apply(builtin::min, b.apply(builtin::add, from, chunk), count);
    chunk_loop(f, loop, b, from, to);
}

/// for (i = gid * chunk; i < min(gid * chunk + chunk, count); ++i) body
void fixed_chunks(function& f, value_id loop, builder& b, std::size_t chunk) {
    const value_id count = f.operand(loop, 0), size = b.constant(chunk);
    const value_id from = b.apply(builtin::mul, b.place_(place::global_id), size);
    const value_id to = b.apply(builtin::min, b.apply(builtin::add, from, size), count);
    chunk_loop(f, loop, b, from, to);
}

/// for (q = from; q < to; ++q) { body of element 4 q … body of element 4 q + 3 }
void chunks_of_fours(function& f, value_id loop, builder& b, std::size_t chunk) {
    const value_id size = b.constant(chunk / 4), one = b.constant(1);
    const value_id fours =
        b.apply(builtin::div, b.apply(builtin::add, f.operand(loop, 0), b.constant(3)), b.constant(4));
    const value_id from = b.apply(builtin::mul, b.place_(place::global_id), size);
    const value_id to = b.apply(builtin::min, b.apply(builtin::add, from, size), fours);
    const value_id counted = b.make(opcode::for_, scalar::i64, {from, to, one});
    const block_id body = f.code[loop].blocks[0];
    f.code[counted].blocks[0] = body;
    const block single = f.blocks[body];
    builder each(f, f.code[loop].where);
    const value_id first = each.apply(builtin::mul, counted, each.constant(4));
    for (std::uint64_t k = 0; k < 4; ++k)
        append_copy(f, single, {loop, each.apply(builtin::add, first, each.constant(k))}, each.made);
    f.blocks[body] = std::move(each.made);
}

/// if (gid * lanes < count) body, on vectors: element i of a widened parameter is lanes gid * lanes …
void vector_an_item(function& f, value_id loop, builder& b, std::uint8_t lanes) {
    const value_id index = b.place_(place::global_id);
    const value_id first = b.apply(builtin::mul, index, b.constant(lanes));
    const value_id inside = b.apply(builtin::less, first, f.operand(loop, 0), scalar::boolean);
    const block_id body = f.code[loop].blocks[0];
    widen(f, loop, lanes, index, first);
    f.blocks.emplace_back();
    const value_id branch = b.make(opcode::if_, scalar::nothing, {inside});
    f.code[branch].blocks[0] = body;
    f.code[branch].blocks[1] = static_cast<block_id>(f.blocks.size() - 1);
}

/// Several vectors a work-item, a whole grid of vectors apart, so that neighbours in a group write neighbours
/// in memory. Where all are inside they are computed behind one another, and share what does not depend on
/// the element; a loop does the rest:
///     if (gid + (vectors - 1) * items < whole) { body … body } else for (i = gid; i < whole; i += items)
///     body
void vectors_an_item(function& f, value_id loop, builder& b, std::uint8_t lanes, std::size_t vectors) {
    const value_id count = f.operand(loop, 0), size = b.constant(lanes);
    const value_id whole = b.apply(builtin::div, b.apply(builtin::add, count, b.constant(lanes - 1u)), size);
    const value_id index = b.place_(place::global_id), items = b.place_(place::global_size);
    std::vector<value_id> indices{index};
    while (indices.size() < vectors) indices.push_back(b.apply(builtin::add, indices.back(), items));
    const value_id inside = b.apply(builtin::less, indices.back(), whole, scalar::boolean);

    builder rest(f, f.code[loop].where);
    const block_id body = f.code[loop].blocks[0];
    const value_id counted = rest.make(opcode::for_, scalar::i64, {index, whole, items});
    f.code[counted].blocks[0] = body;
    builder first(f, f.code[loop].where);
    const value_id first_element = first.apply(builtin::mul, counted, size);
    widen(f, loop, lanes, counted, first_element);
    block& one = f.blocks[body];
    one.insert(one.begin(), first.made.begin(), first.made.end());
    const block widened = one;

    block all;
    for (const value_id at : indices) append_copy(f, widened, {counted, at}, all);
    f.blocks.push_back(std::move(all));
    f.blocks.push_back(std::move(rest.made));
    const value_id branch = b.make(opcode::if_, scalar::nothing, {inside});
    f.code[branch].blocks[0] = static_cast<block_id>(f.blocks.size() - 2);
    f.code[branch].blocks[1] = static_cast<block_id>(f.blocks.size() - 1);
}

/// On a GPU, where blocks of random numbers are shared: what is the same for all blocks of a work-item, the
/// key of each round above all, is a fifth of a block's instructions.
constexpr std::size_t gpu_vectors = 4;

/// Elements that a work-item takes one after the other where a CPU's compiler is left to make vectors of
/// them: under `if (gid < n)` PoCL 3.1 makes none (24 fma: 20.9 ms, in chunks 3.1 ms, on vectors 3.0 ms; 2
/// cores).
constexpr std::size_t cpu_chunk = 4096;

void share_out(function& f, value_id loop, const launch_facts& facts, lowered& plan, block& after) {
    builder b(f, f.code[loop].where);
    // The loops around the fastest one are walked wherever the grid has fewer work-items.
    if (!facts.covers || f.code[loop].bits > 0) {
        if (facts.on_cpu)
            contiguous_chunks(f, loop, b);
        else
            grid_stride(f, loop, b);
    } else if (!facts.on_cpu) {
        const std::uint8_t lanes = facts.is_tight ? 1 : gpu_lanes_for(f, loop);
        plan.elements_per_item = lanes > 1 ? lanes * gpu_vectors : 1;
        lanes > 1 ? vectors_an_item(f, loop, b, lanes, gpu_vectors) : one_element_an_item(f, loop, b);
    } else if (!facts.is_tight && is_arithmetic_on_fours(f, loop)) {
        chunks_of_fours(f, loop, b, cpu_chunk);
        plan.elements_per_item = cpu_chunk;
        plan.local_size = 1;
    } else if (const std::uint8_t lanes = facts.is_tight ? 1 : lanes_for(f, loop); lanes > 1) {
        vector_an_item(f, loop, b, lanes);
        plan.elements_per_item = lanes;
    } else {
        fixed_chunks(f, loop, b, cpu_chunk);
        plan.elements_per_item = cpu_chunk;
        plan.local_size = 1;
    }
    after.insert(after.end(), b.made.begin(), b.made.end());
}

/// The loops over the grid in a block, and those that stand in them.
void share_out_in(function& f, block_id in, const launch_facts& facts, lowered& plan) {
    const block before = std::move(f.blocks[in]);
    block after;
    for (value_id v : before) {
        if (f.code[v].op != opcode::grid_for) {
            after.push_back(v);
            continue;
        }
        share_out_in(f, f.code[v].blocks[0], facts, plan);
        share_out(f, v, facts, plan, after);
    }
    f.blocks[in] = std::move(after);
}

}  // namespace

lowered lower(const function& kernel, const launch_facts& facts) {
    lowered plan{facts.grid.any() ? with_grid(kernel, facts.grid) : kernel};
    function& f = plan.kernel;
    f.only_for = facts.only_for;
    // What work-items tell each other across a barrier or by atomics is written by others than the pointer's
    // owner: restrict would let a compiler keep the old value.
    const bool shares = shares_memory(f);
    for (parameter& p : f.parameters) {
        const bool is_constant = p.origin.from == runtime::origin::constant;  // nothing else is bound to it
        p.is_restrict = is_constant || (facts.distinct && (p.use == access::in || !shares));
        p.is_shifted = facts.is_shifted && is_global_memory(p) && p.origin.from == runtime::origin::user;
    }
    share_out_in(f, 0, facts, plan);
    simplify(f);
    if (share_fours(f)) simplify(f);
    return plan;
}

}  // namespace balm::ir
