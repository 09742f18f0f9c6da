// Distributes work, by device kind. On a GPU, a work-item computes as many elements as keep memory busy
// (coarsen.hpp; a grid-stride loop costs 6 % of the H100's bandwidth). On a CPU, it computes a short vector
// if the body has a vector form, otherwise a contiguous chunk (a grid-stride loop is 15 times slower there).

#include "ir/lower/lower.hpp"

#include <bit>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/coarsen.hpp"
#include "ir/lower/fours.hpp"
#include "ir/lower/grid.hpp"
#include "ir/lower/inlining.hpp"
#include "ir/lower/tile.hpp"
#include "ir/lower/widen.hpp"

namespace balm::ir {

namespace {

void replace_uses(function& f, value_id what, value_id by) {
    for (value_id& o : f.operands)
        if (o == what) o = by;
}

/// Appends a copy of the instructions of a block without nested blocks, with one value replaced by another.
void append_copy(const block& from, std::pair<value_id, value_id> instead, builder& to) {
    std::map<value_id, value_id> known{instead};
    for (const value_id v : from) {
        const value_id copy = to.copy(v, [&](value_id o) {
            const auto found = known.find(o);
            return found != known.end() ? found->second : o;
        });
        known.emplace(v, copy);
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

/// The same for neighbours on a CPU, whose compiler may vectorise the loop if that pays off.
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
        append_copy(single, {loop, each.apply(builtin::add, first, each.constant(k))}, each);
    f.blocks[body] = std::move(each.made);
}

/// if (gid * lanes < count) body, on vectors: element gid of a widened parameter is elements gid * lanes …
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

/// Several elements per work-item: straight-line code if all of them exist, otherwise a loop:
///     first = gid * width
///     if (first + width - 1 < n) body … body
///     else for (i = first; i < n; ++i) body
/// Or in runs a grid apart, so that neighbouring work-items access neighbouring memory:
///     if ((gid + (runs - 1) * items) * width + width - 1 < n) body … body
///     else for (run = gid; run * width < n; run += items)
///         for (i = run * width; i < min(run * width + width, n); ++i) body
/// Or, if element i is stored at i + offset, from a vector boundary at or ahead of the first element on:
///     first = gid * width - offset % width
class several_elements_an_item {
public:
    several_elements_an_item(function& f, value_id loop, builder& b, coarsening how)
        : f_(f),
          loop_(loop),
          b_(b),
          how_(std::move(how)),
          count_(f.operand(loop, 0)),
          width_(b.constant(how.width)),
          gid_(b.place_(place::global_id)) {}

    void append() {
        const block single = f_.blocks[f_.code[loop_].blocks[0]];
        std::vector<element_run> runs{first_run()};
        if (how_.runs > 1) {
            const value_id items = b_.place_(place::global_size);
            while (runs.size() < how_.runs) {
                const value_id run = b_.apply(builtin::add, runs.back().vector, items);
                runs.push_back({first_of(b_, run), run});
            }
        }
        const value_id last = b_.apply(builtin::add, runs.back().first, b_.constant(how_.width - 1u));
        value_id is_whole = b_.apply(builtin::less, last, count_, scalar::boolean);
        if (how_.has_peel()) {
            const value_id is_inside =
                b_.apply(builtin::greater_equal, runs[0].first, b_.constant(0), scalar::boolean);
            is_whole = b_.apply(builtin::bit_and, is_inside, is_whole, scalar::boolean);
        }
        block whole = coarsened(f_, single, loop_, runs, how_);
        builder rest(f_, f_.code[loop_].where);
        append_rest(rest, runs[0].first);
        const value_id branch = b_.make(opcode::if_, scalar::nothing, {is_whole});
        f_.code[branch].blocks[0] = new_block(std::move(whole));
        f_.code[branch].blocks[1] = new_block(std::move(rest.made));
    }

private:
    value_id first_of(builder& b, value_id run) {
        const value_id first = b.apply(builtin::mul, run, width_);
        f_.code[first].name = f_.code[loop_].name;
        return first;
    }
    element_run first_run() {
        const value_id first = first_of(b_, gid_);
        if (!how_.has_peel()) return {first, gid_};
        const value_id offset = index_values(f_, {&loop_, 1}, {}).value_of(*how_.wide, b_);
        const value_id peel = b_.apply(builtin::bit_and, offset, b_.constant(how_.width - 1u));
        const value_id own = b_.apply(builtin::sub, first, peel);
        f_.code[own].name = std::exchange(f_.code[first].name, none);
        const auto bits = static_cast<std::uint64_t>(std::countr_zero(how_.width));
        const value_id vectors_ahead = b_.apply(builtin::shr, offset, b_.constant(bits));
        return {own, b_.apply(builtin::add, gid_, vectors_ahead)};
    }
    /// Computes the elements one by one.
    void append_rest(builder& b, value_id first) {
        if (how_.runs == 1) {
            value_id from = first, end = count_;
            if (how_.has_peel()) {
                from = b.apply(builtin::max, first, b.constant(0));
                end = end_of(b, first);
            }
            counted_loop(f_, loop_, b, from, end, b.constant(1));
            return;
        }
        const value_id items = b.place_(place::global_size);
        if (how_.width == 1) {
            counted_loop(f_, loop_, b, gid_, count_, items);
            return;
        }
        const value_id run_count =
            b.apply(builtin::div, b.apply(builtin::add, count_, b.constant(how_.width - 1u)), width_);
        const value_id run = b.make(opcode::for_, scalar::i64, {gid_, run_count, items});
        builder inner(f_, f_.code[loop_].where);
        const value_id from = first_of(inner, run), end = end_of(inner, from);
        counted_loop(f_, loop_, inner, from, end, inner.constant(1));
        f_.code[run].blocks[0] = new_block(std::move(inner.made));
    }
    value_id end_of(builder& b, value_id first) {
        return b.apply(builtin::min, b.apply(builtin::add, first, width_), count_);
    }
    block_id new_block(block&& made) {
        f_.blocks.push_back(std::move(made));
        return static_cast<block_id>(f_.blocks.size() - 1);
    }

    function& f_;
    const value_id loop_;
    builder& b_;
    const coarsening how_;
    const value_id count_, width_, gid_;
};

/// Elements of a work-item's loop if vectorisation is left to a CPU's compiler: under `if (gid < n)`, PoCL
/// 3.1 does not vectorise (24 fma: 20.9 ms, in chunks 3.1 ms, on vectors 3.0 ms; 2 cores).
constexpr std::size_t cpu_chunk = 4096;

/// Inlines functions of arithmetic if the loop then has a vector form.
void inline_for_vectors(function& f, value_id loop) {
    function inlined = f;
    inline_arithmetic(inlined, loop);
    if (lanes_for(inlined, loop) > 1) f = std::move(inlined);
}

void share_out(function& f, value_id loop, const launch_facts& facts, lowered& plan, block& after) {
    if (facts.grid_covers_loop && facts.on_cpu && !facts.is_tight && f.code[loop].bits == 0)
        inline_for_vectors(f, loop);
    builder b(f, f.code[loop].where);
    // Loops around the fastest one always loop: the grid may have fewer work-items than they have indices.
    if (!facts.grid_covers_loop || f.code[loop].bits > 0) {
        if (facts.on_cpu)
            contiguous_chunks(f, loop, b);
        else
            grid_stride(f, loop, b);
    } else if (!facts.on_cpu) {
        const coarsening how = coarsening_for(f, loop, facts);
        plan.elements_per_item = how.elements();
        plan.max_registers = max_registers_for(f, loop, how);
        plan.most_peeled = how.has_peel() ? how.width - 1u : 0;
        if (how.elements() > 1)
            several_elements_an_item(f, loop, b, how).append();
        else
            one_element_an_item(f, loop, b);
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

/// Distributes the loop, with those inside it, in tiles if that pays off; returns whether it did.
bool share_out_tiles(function& f, value_id loop, const launch_facts& facts, lowered& plan, block& after) {
    if (!facts.grid_covers_loop || facts.on_cpu) return false;
    const std::optional<register_tile> tile = tile_for(f, nest_of(f, loop), facts);
    if (!tile) return false;
    builder b(f, f.code[loop].where);
    append_tiles(f, *tile, b);
    plan.elements_per_item = tile->sizes[0];
    plan.rows_per_item[0] = tile->sizes[1];
    plan.most_peeled = tile->has_peel() ? tile->sizes[0] - 1u : 0;
    after.insert(after.end(), b.made.begin(), b.made.end());
    return true;
}

/// Distributes the loops over the grid in a block, and those nested in them.
void share_out_in(function& f, block_id in, const launch_facts& facts, lowered& plan) {
    const block before = std::move(f.blocks[in]);
    block after;
    for (value_id v : before) {
        if (f.code[v].op != opcode::grid_for) {
            after.push_back(v);
            continue;
        }
        if (share_out_tiles(f, v, facts, plan, after)) continue;
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
    // Values that work-items exchange across a barrier or by atomics are written by other work-items:
    // restrict would let a compiler keep the old value. NVIDIA's compilers (NVRTC 13.0, OpenCL of driver 580)
    // assume that a pointer loaded from memory is not derived from a restrict parameter: they kept a value
    // despite a store through such a pointer.
    const bool may_be_written_by_others = shares_memory(f) || keeps_pointers(f);
    for (parameter& p : f.parameters) {
        const bool is_constant = p.origin.from == runtime::origin::constant;  // nothing else is bound to it
        p.is_restrict = is_constant || (facts.distinct && (p.use == access::in || !may_be_written_by_others));
        p.is_shifted = facts.is_shifted && is_global_memory(p) && p.origin.from == runtime::origin::user;
    }
    share_out_in(f, 0, facts, plan);
    simplify(f);
    if (share_fours(f)) simplify(f);
    if (facts.loops_over_items) {
        // PoCL 3.1 miscompiles such kernels (README.md, docs/devices.md).
        const barrier_use barriers = use_of_barriers(f);
        f.fences_barriers = barriers.parts_ways;
        plan.is_optimised = !(barriers.steps_over && barriers.parts_ways);
    }
    return plan;
}

}  // namespace balm::ir
