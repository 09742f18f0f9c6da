// A work-item computes 16 bytes of each operand. H200 through CUDA, 2026-11-23, GB/s of the copy's 4,360:
//
//     elements of                              1         2         4         8 bytes
//     Y += a * X, one per work-item        1,172     2,104     3,484     4,333
//     8 bytes per work-item                4,323     4,337     4,345     4,351
//     16 bytes per work-item               4,357     4,360     4,359     4,358
//     4 elements a grid apart              2,490     3,473     4,010
//     exp(X), one or 8 bytes per work-item                     3,844     2,800
//     exp(X), 16 bytes per work-item                           4,258     3,843
//
// Vector stores must be aligned. Loads that are not aligned with them are done element by element, from the
// L1 cache: 4,357 GB/s for elements of 4 bytes, 3,905 for those of 1.

#include "ir/lower/coarsen.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/packed.hpp"
#include "ir/lower/straight_body.hpp"
#include "ir/lower/widen.hpp"

namespace balm::ir {

namespace {

constexpr std::size_t run_bytes = 16;
constexpr std::size_t most_runs = 4;
/// For kernels in which elements share blocks of random numbers: instructions common to all blocks, mainly
/// for the key of each round, are a fifth of a block's.
constexpr std::uint8_t width_of_fours = 4, runs_of_fours = 4;
/// Whether loads that are not aligned with the stores would keep the L1 cache busy for longer than memory.
/// For the 16-byte runs of a sub-group, a load of single elements touches 4 cache lines instead of one, one
/// clock each; memory delivers 19 bytes per clock to a compute unit (H200).
bool loads_too_much(const function& f, const block& body, value_id loop, const loop_index& index,
                    const index_sum& stored) {
    constexpr std::size_t lines = 4, lanes = 32, bytes_a_clock = 19;
    std::size_t unaligned = 0;
    std::map<std::pair<value_id, opcode>, std::size_t> bytes;  // of an element, by memory and direction
    for (const value_id v : body) {
        if (!is_memory_access(f.code[v])) continue;
        bytes[{root_of(f, f.operand(v, 0)), f.code[v].op}] = trace::size_of(accessed_by(f, v));
        const std::optional<index_sum> own = index.sum_of_access(v);
        const std::optional<index_sum> offset = own ? own->offset_from(loop) : std::nullopt;
        if (offset && *offset != stored) ++unaligned;
    }
    std::size_t of_element = 0;
    for (const auto& [access, size] : bytes) of_element += size;
    return unaligned * lines * bytes_a_clock > of_element * lanes;
}

/// Appends the body's instructions element by element, and the vectors that the elements share.
class run_of_elements {
public:
    run_of_elements(function& f, const block& body, value_id loop, const element_run& own,
                    const coarsening& how, const std::vector<bool>& is_wide, builder& to)
        : f_(f), body_(body), loop_(loop), own_(own), how_(how), is_wide_(is_wide), to_(to) {}

    void append_values() {
        for (std::uint8_t k = 0; k < how_.width; ++k) {
            value_id index = own_.first;
            if (k > 0) index = to_.apply(builtin::add, index, to_.constant(k));
            append_element(k, index);
        }
    }
    void append_stores() {
        for (const value_id v : body_)
            if (f_.code[v].op == opcode::store) append_store(v);
    }

private:
    using copies = std::map<value_id, value_id>;

    /// Appends all instructions but the stores.
    void append_element(std::uint8_t k, value_id index) {
        copies& own = elements_.emplace_back(copies{{loop_, index}});
        for (const value_id v : body_) {
            if (f_.code[v].op == opcode::store) continue;
            const bool is_part = f_.code[v].op == opcode::load && is_wide(v);
            own.emplace(v, is_part ? lane(v, k) : copy(v, own));
        }
    }
    void append_store(value_id v) {
        if (is_wide(v)) {
            store_vectors(v);
            return;
        }
        for (const copies& own : elements_) copy(v, own);
    }
    bool is_wide(value_id v) const { return is_wide_[v]; }

    static value_id copy_of(value_id v, const copies& known) {
        const auto found = known.find(v);
        return found != known.end() ? found->second : v;
    }
    value_id copy(value_id v, const copies& known) {
        return to_.copy(v, [&](value_id o) { return copy_of(o, known); });
    }

    packed_elements packed(value_id v) const { return {accessed_by(f_, v).element, how_.width}; }
    struct address {
        value_id pointer, index;
    };
    /// The address of the k-th vector of the run.
    address address_of(value_id v, std::uint8_t k) {
        const value_id memory = f_.operand(v, 0);
        type to = f_.code[memory].result;
        const type vector = packed(v).access();
        to.element = vector.element;
        to.lanes = vector.lanes;
        const auto vectors = static_cast<std::uint64_t>(how_.width / packed(v).elements());
        value_id index = own_.vector;
        if (vectors > 1) {
            index = to_.apply(builtin::mul, index, to_.constant(vectors));
            index = to_.apply(builtin::add, index, to_.constant(k));
        }
        return {to_.make(opcode::reinterpret, to, {memory}), index};
    }
    /// The k-th vector of a load, which is loaded for the first element that needs it.
    value_id vector_at(value_id v, std::uint8_t k) {
        const auto [known, is_new] = vectors_.try_emplace({v, k}, none);
        if (is_new) {
            const address at = address_of(v, k);
            known->second =
                to_.make(opcode::load, value_of_memory(packed(v).access()), {at.pointer, at.index});
            f_.code[known->second].detail = f_.code[v].detail;
        }
        return known->second;
    }
    /// The load's value for the k-th element of the run.
    value_id lane(value_id v, std::uint8_t k) {
        const packed_elements own = packed(v);
        return own.lane(vector_at(v, k / own.elements()), k % own.elements(), to_);
    }
    void store_vectors(value_id v) {
        const packed_elements own = packed(v);
        for (std::uint8_t first = 0; first < how_.width; first += own.elements()) {
            std::vector<value_id> values;
            for (std::uint8_t k = first; k < first + own.elements(); ++k)
                values.push_back(copy_of(f_.operand(v, 2), elements_[k]));
            const address at = address_of(v, first / own.elements());
            const value_id stored =
                to_.make(opcode::store, scalar::nothing, {at.pointer, at.index, own.pack(values, to_)});
            f_.code[stored].detail = f_.code[v].detail;
        }
    }

    function& f_;
    const block& body_;
    const value_id loop_;
    const element_run own_;
    const coarsening& how_;
    const std::vector<bool>& is_wide_;  ///< by load or store of the body
    builder& to_;
    std::vector<copies> elements_;
    std::map<std::pair<value_id, std::uint8_t>, value_id> vectors_;  ///< by load of the body and number
};

/// The instructions of one element. Those of values of 8 bytes count twice: they take two registers.
std::size_t instructions_of_element(const function& f, const block& body) {
    constexpr std::size_t bytes_of_register = 4;
    return instructions_of(f, body) * std::max<std::size_t>(widest_access(f, body) / bytes_of_register, 1);
}

bool calls_function_that_loads(const function& f, const block& body) {
    return std::any_of(body.begin(), body.end(), [&](value_id v) {
        const instruction& i = f.code[v];
        return is_call(i) && f.callees[i.bits]->only_reads && !f.callees[i.bits]->is_pure;
    });
}

/// The instructions of a work-item for all of its elements. A Runge-Kutta step of pendulums (four sines, 2^26
/// f32, H200 through CUDA, 2026-11-29) takes 328 us with two elements per work-item, 290 with four; nothing
/// in bench_elementwise changes.
std::size_t most_instructions_of_item(const function& f, const block& body) {
    return calls_function_that_loads(f, body) ? most_instructions : 2 * most_instructions;
}

}  // namespace

coarsening coarsening_for(const function& f, value_id loop, const runtime::launch_facts& facts) {
    const block& body = f.blocks[f.code[loop].blocks[0]];
    if (!is_straight(f, body, facts.distinct)) return {};
    const std::size_t widest = widest_access(f, body);
    const loop_index index(f, loop);
    std::optional<index_sum> stored = index_of_stores(f, body, loop, index);
    if (facts.is_tight) stored.reset();
    const bool is_only_loop = f.dimensions == 1;
    if (is_only_loop && has_call_of_four(f, loop)) {
        if (stored && !stored->is_zero()) stored.reset();  // runs begin with a block
        return {width_of_fours, runs_of_fours, stored};
    }
    const std::size_t instructions = instructions_of_element(f, body);
    std::size_t width =
        run_bytes / std::min(std::bit_ceil(widest), run_bytes);  // structures may have 3 bytes
    while (width * instructions > most_instructions_of_item(f, body)) width /= 2;
    if (width <= 1) return {};
    if (stored && !loads_too_much(f, body, loop, index, *stored))
        return {static_cast<std::uint8_t>(width), 1, stored};
    if (!is_only_loop) return {};
    return {1, static_cast<std::uint8_t>(std::min(width, most_runs)), std::nullopt};
}

// Functions that load wait for memory, which other work-items hide: with 32 registers as many are resident as
// a compute unit can hold. 2^24 points of a spline on 4 x 4 control points (H200 through CUDA, 2026-11-27):
//
//     points of a work-item         1         2
//     f32, any registers         97 us     94 us
//     f32, 32 registers          97        82
//     f64, any registers        144       185
//     f64, 32 registers         123       171 (spills)
std::uint32_t max_registers_for(const function& f, value_id loop, const coarsening& how) {
    constexpr std::uint32_t of_full_occupancy = 32;
    const block& body = f.blocks[f.code[loop].blocks[0]];
    const bool fits = how.elements() * instructions_of_element(f, body) <= most_instructions;
    return fits && calls_function_that_loads(f, body) ? of_full_occupancy : 0;
}

block coarsened(function& f, const block& body, value_id loop, std::span<const element_run> runs,
                const coarsening& how) {
    std::vector<bool> is_wide(f.code.size(), false);
    const loop_index index(f, loop);
    for (const value_id v : body) {
        if (!how.wide || !is_memory_access(f.code[v]) || !has_wide_form(f, v)) continue;
        const std::optional<index_sum> own = index.sum_of_access(v);
        is_wide[v] = own && own->offset_from(loop) == how.wide;
    }
    builder made(f, f.code[loop].where);
    std::vector<run_of_elements> all;
    for (const element_run& each : runs) all.emplace_back(f, body, loop, each, how, is_wide, made);
    for (run_of_elements& each : all) each.append_values();
    for (run_of_elements& each : all) each.append_stores();
    return std::move(made.made);
}

}  // namespace balm::ir
