// 16 bytes of each operand a work-item. H200 through CUDA, 2026-11-23, GB/s of the copy's 4,360:
//
//     elements of                              1         2         4         8 bytes
//     Y += a * X, one a work-item          1,172     2,104     3,484     4,333
//     8 bytes a work-item                  4,323     4,337     4,345     4,351
//     16 bytes a work-item                 4,357     4,360     4,359     4,358
//     4 elements a grid apart              2,490     3,473     4,010
//     exp(X), one or 8 bytes a work-item                       3,844     2,800
//     exp(X), 16 bytes a work-item                             4,258     3,843
//
// Vectors must be aligned for the stores. Loads that are not aligned with them are done element by element,
// which the L1 cache serves: 4,357 GB/s for elements of 4 bytes, 3,905 for those of 1.

#include "ir/lower/coarsen.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/widen.hpp"

namespace balm::ir {

namespace {

constexpr std::size_t run_bytes = 16;
constexpr std::size_t most_runs = 4;
/// Where work-items share blocks of random numbers: what is the same for all blocks, the key of each round
/// above all, is a fifth of a block's instructions.
constexpr std::uint8_t width_of_fours = 4, runs_of_fours = 4;
/// Instructions of a work-item, with a function counted as so many: beyond, arithmetic and registers bound
/// the kernel rather than memory.
constexpr std::size_t most_instructions = 256, instructions_of_function = 16;

bool is_memory_access(const instruction& i) { return i.op == opcode::load || i.op == opcode::store; }
type accessed_by(const function& f, value_id v) { return pointee(f.code[f.operand(v, 0)].result); }

/// Whether the body can be done for several elements at once: a straight line whose effects are stores, and
/// which reads nothing that it has written before.
bool is_straight(const function& f, const block& body, bool is_distinct) {
    std::vector<value_id> written;
    for (const value_id v : body) {
        const instruction& i = f.code[v];
        if (i.blocks[0] != none || (has_effect(i) && i.op != opcode::store)) return false;
        if (i.op == opcode::store) written.push_back(root_of(f, f.operand(v, 0)));
        if (i.op != opcode::load || written.empty()) continue;
        const value_id root = root_of(f, f.operand(v, 0));
        const bool may_be_written = std::find(written.begin(), written.end(), root) != written.end();
        if (!is_distinct || may_be_written) return false;
    }
    return true;
}

/// What a work-item executes of a block; loops count as more than it should.
std::size_t instructions_of(const function& f, const block& body) {
    std::size_t count = 0;
    for (const value_id v : body) {
        const instruction& i = f.code[v];
        switch (i.op) {
            case opcode::load:
            case opcode::store:
            case opcode::convert:
            case opcode::select: ++count; break;
            case opcode::builtin:
                count +=
                    info(static_cast<builtin>(i.detail)).symbol != nullptr ? 1 : instructions_of_function;
                break;
            case opcode::read_image: count += instructions_of_function; break;
            case opcode::call:
            case opcode::evaluate: {
                const function& callee = *f.callees[i.bits];
                for (const block& each : callee.blocks) count += instructions_of(callee, each);
                break;
            }
            case opcode::for_:
            case opcode::while_: return most_instructions + 1;
            default: break;
        }
        if (count > most_instructions) break;
    }
    return count;
}

/// Whether a load or store can be part of one of several elements: of scalars in a parameter's memory.
bool has_wide_form(const function& f, value_id v) {
    const value_id pointer = f.operand(v, 0);
    const type memory = f.code[pointer].result;
    return f.code[pointer].op == opcode::parameter && memory.where == space::global &&
           pointee(memory).is_scalar() && !is_volatile(f.code[v]);
}

/// The terms of the indices of all stores, where they are the same for all, and vectors can be stored there.
std::optional<index_terms> terms_of_stores(const function& f, const block& body, const loop_index& index) {
    std::optional<index_terms> common;
    for (const value_id v : body) {
        if (f.code[v].op != opcode::store) continue;
        const std::optional<index_terms> own = has_wide_form(f, v) ? index.terms_of(v) : std::nullopt;
        if (!own || (common && *common != *own)) return std::nullopt;
        common = own;
    }
    return common;
}

/// Whether loads that are not aligned with the stores would keep the L1 cache busy for longer than the
/// memory. Of a sub-group's 16-byte runs, a load of single elements touches 4 cache lines instead of one, a
/// clock each; memory gives a compute unit 19 bytes a clock (H200).
bool loads_too_much(const function& f, const block& body, const loop_index& index,
                    const index_terms& stored) {
    constexpr std::size_t lines = 4, lanes = 32, bytes_a_clock = 19;
    std::size_t unaligned = 0;
    std::map<std::pair<value_id, opcode>, std::size_t> bytes;  // of an element, by memory and direction
    for (const value_id v : body) {
        if (!is_memory_access(f.code[v])) continue;
        bytes[{root_of(f, f.operand(v, 0)), f.code[v].op}] = trace::size_of(accessed_by(f, v));
        const std::optional<index_terms> own = index.terms_of(v);
        if (own && *own != stored) ++unaligned;
    }
    std::size_t of_element = 0;
    for (const auto& [access, size] : bytes) of_element += size;
    return unaligned * lines * bytes_a_clock > of_element * lanes;
}

/// The body's instructions for one element after the other, and the vectors that they share.
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

    /// All but the stores.
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

    // ---- vectors: integers of 8 and 16 bits are accessed in words, for which every device has instructions

    scalar element_of(value_id v) const { return accessed_by(f_, v).element; }
    bool is_in_words(value_id v) const { return size_of(element_of(v)) < 4 && element_of(v) != scalar::f16; }
    std::uint8_t elements_of_word(value_id v) const {
        return static_cast<std::uint8_t>(4 / size_of(element_of(v)));
    }
    /// Elements of one access.
    std::uint8_t elements_of_vector(value_id v) const {
        const std::size_t most = (element_of(v) == scalar::f16 ? 8 : 16) / size_of(element_of(v));
        return static_cast<std::uint8_t>(std::min<std::size_t>(how_.width, most));
    }
    type vector_type(value_id v) const {
        const std::uint8_t elements = elements_of_vector(v);
        if (!is_in_words(v)) return type(element_of(v), elements);
        if (elements < elements_of_word(v)) return scalar::u16;
        return type(scalar::u32, static_cast<std::uint8_t>(elements / elements_of_word(v)));
    }
    struct address {
        value_id pointer, index;
    };
    /// The k-th vector of the run.
    address address_of(value_id v, std::uint8_t k) {
        const value_id memory = f_.operand(v, 0);
        type to = f_.code[memory].result;
        const type vector = vector_type(v);
        to.element = vector.element;
        to.lanes = vector.lanes;
        const auto vectors = static_cast<std::uint64_t>(how_.width / elements_of_vector(v));
        value_id index = own_.vector;
        if (vectors > 1) {
            index = to_.apply(builtin::mul, index, to_.constant(vectors));
            index = to_.apply(builtin::add, index, to_.constant(k));
        }
        return {to_.make(opcode::reinterpret, to, {memory}), index};
    }
    /// A vector of which the load has a lane: loaded for the first of them.
    value_id vector_at(value_id v, std::uint8_t k) {
        const auto [known, is_new] = vectors_.try_emplace({v, k}, none);
        if (is_new) {
            const address at = address_of(v, k);
            known->second = to_.make(opcode::load, value_of_memory(vector_type(v)), {at.pointer, at.index});
        }
        return known->second;
    }
    /// What the load gives for the run's k-th element.
    value_id lane(value_id v, std::uint8_t k) {
        const std::uint8_t count = elements_of_vector(v), of_word = elements_of_word(v);
        const value_id vector = vector_at(v, k / count);
        const type whole = f_.code[vector].result;
        k %= count;
        if (!is_in_words(v))
            return count == 1 ? vector : to_.make(opcode::swizzle, whole.element, {vector}, 0, k);
        value_id word = whole.lanes > 1 ? to_.make(opcode::swizzle, scalar::u32, {vector}, 0, k / of_word)
                        : whole.element == scalar::u32 ? vector
                                                       : to_.make(opcode::convert, scalar::u32, {vector});
        const std::uint64_t shift = bits_of_element(v) * (k % of_word);
        if (shift > 0) word = to_.apply(builtin::shr, word, to_.constant(shift, scalar::u32), scalar::u32);
        if (element_of(v) == scalar::boolean) word = to_.make(opcode::convert, scalar::u8, {word});
        return to_.make(opcode::convert, element_of(v), {word});
    }
    std::uint64_t bits_of_element(value_id v) const { return 8 * size_of(element_of(v)); }

    void store_vectors(value_id v) {
        const std::uint8_t count = elements_of_vector(v);
        for (std::uint8_t first = 0; first < how_.width; first += count) {
            std::vector<value_id> values;
            for (std::uint8_t k = first; k < first + count; ++k)
                values.push_back(copy_of(f_.operand(v, 2), elements_[k]));
            const address at = address_of(v, first / count);
            const value_id vector = is_in_words(v) ? words(v, values) : compose(element_of(v), values);
            to_.make(opcode::store, scalar::nothing, {at.pointer, at.index, vector});
        }
    }
    value_id compose(scalar element, const std::vector<value_id>& values) {
        if (values.size() == 1) return values[0];
        const type vector(element, static_cast<std::uint8_t>(values.size()));
        return to_.make(opcode::compose, value_of_memory(vector), values);
    }
    value_id words(value_id v, const std::vector<value_id>& values) {
        const std::uint8_t of_word = elements_of_word(v);
        const scalar bits = size_of(element_of(v)) == 1 ? scalar::u8 : scalar::u16;
        std::vector<value_id> all;
        for (std::size_t k = 0; k < values.size(); ++k) {
            value_id part =
                to_.make(opcode::convert, scalar::u32, {to_.make(opcode::convert, bits, {values[k]})});
            if (k % of_word == 0) {
                all.push_back(part);
                continue;
            }
            const value_id shift = to_.constant(bits_of_element(v) * (k % of_word), scalar::u32);
            part = to_.apply(builtin::shl, part, shift, scalar::u32);
            all.back() = to_.apply(builtin::bit_or, all.back(), part, scalar::u32);
        }
        if (values.size() < of_word) return to_.make(opcode::convert, scalar::u16, {all[0]});
        return compose(scalar::u32, all);
    }

    function& f_;
    const block& body_;
    const value_id loop_;
    const element_run own_;
    const coarsening& how_;
    const std::vector<bool>& is_wide_;  ///< by load or store of the body
    builder& to_;
    std::vector<copies> elements_;
    std::map<std::pair<value_id, std::uint8_t>, value_id> vectors_;  ///< by the body's load, and which
};

}  // namespace

coarsening coarsening_for(const function& f, value_id loop, const runtime::launch_facts& facts) {
    const block& body = f.blocks[f.code[loop].blocks[0]];
    if (!is_straight(f, body, facts.distinct)) return {};
    std::size_t widest = 1;
    for (const value_id v : body)
        if (is_memory_access(f.code[v])) widest = std::max(widest, trace::size_of(accessed_by(f, v)));
    const loop_index index(f, loop);
    std::optional<index_terms> stored = terms_of_stores(f, body, index);
    if (facts.is_tight) stored.reset();
    const bool is_only_loop = f.dimensions == 1;
    if (is_only_loop && has_call_of_four(f, loop)) {
        if (stored && !stored->empty()) stored.reset();  // runs begin with a block
        return {width_of_fours, runs_of_fours, stored};
    }
    const std::size_t instructions = instructions_of(f, body);
    std::size_t width = run_bytes / std::min(widest, run_bytes);
    while (width * instructions > most_instructions) width /= 2;
    if (width <= 1) return {};
    if (stored && !loads_too_much(f, body, index, *stored))
        return {static_cast<std::uint8_t>(width), 1, stored};
    if (!is_only_loop) return {};
    return {1, static_cast<std::uint8_t>(std::min(width, most_runs)), std::nullopt};
}

block coarsened(function& f, const block& body, value_id loop, std::span<const element_run> runs,
                const coarsening& how) {
    std::vector<bool> is_wide(f.code.size(), false);
    const loop_index index(f, loop);
    for (const value_id v : body)
        is_wide[v] =
            how.wide && is_memory_access(f.code[v]) && has_wide_form(f, v) && index.terms_of(v) == how.wide;
    builder made(f, f.code[loop].where);
    std::vector<run_of_elements> all;
    for (const element_run& each : runs) all.emplace_back(f, body, loop, each, how, is_wide, made);
    for (run_of_elements& each : all) each.append_values();
    for (run_of_elements& each : all) each.append_stores();
    return std::move(made.made);
}

}  // namespace balm::ir
