#include "ir/lower/tile.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ir/lower/packed.hpp"
#include "ir/lower/straight_body.hpp"

namespace balm::ir {

namespace {

// H200, 2026-11-23, f32, microseconds by elements x rows per work-item, in groups of 64 x 4; a copy of as
// many bytes takes 189, 126, 252 and 252:
//
//                                          1 x 1   1 x 4   4 x 1   4 x 2   4 x 4
//     wave equation, 5 points, 8192^2        330     203     187     188     190
//     5 x 5 points, 8192^2                   382     196     181     146     140
//     7 points, 512^3                      1,011             462     389     339
//     5 elements of a row, 2^27              431             252
//
// Tiles of 2 x 2 elements of 7 points and 2 planes take 338: planes are not worth loops of their own.
constexpr std::size_t row_bytes = 16, most_elements = 16, most_instructions_of_tile = 2048;
/// Above this load, more rows per work-item save time: 4 x 1 elements of 5 points are at 0.35, 4 x 2 of 5 x 5
/// at 1.2.
constexpr double low_cache_load = 0.5;
constexpr std::int64_t sub_group_lanes = 32, line_bytes = 128;

const block& body_of(const function& f, value_id loop) { return f.blocks[f.code[loop].blocks[0]]; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Memory at a sum over the loops, without its constant.
struct window_row {
    value_id pointer;
    std::vector<index_sum::term> terms;
    friend bool operator<(const window_row& a, const window_row& b) {
        return std::tie(a.pointer, a.terms) < std::tie(b.pointer, b.terms);
    }
};

/// The memory that a tile reads: the body's loads at sums over the loops, by row of the tile's window.
class window {
public:
    window(const function& f, const register_tile& t)
        : f_(f), tile_(t), index_(f, t.loops), width_(t.sizes[0]) {
        for (const value_id v : body_of(f, t.loops.back())) {
            if (f.code[v].op != opcode::load || !has_wide_form(f, v)) continue;
            const std::optional<index_sum> sum = index_.sum_of_access(v);
            if (!sum) continue;
            sums_.emplace(v, *sum);
            for_each_element([&](const position& at) {
                const index_sum here = moved(*sum, at);
                constants_[row_of(v, here)].insert(here.constant);
            });
        }
    }

    /// An element's position in its tile, by dimension.
    using position = std::array<std::uint8_t, 2>;
    template <class F>
    void for_each_element(F&& f) const {
        const auto [width, rows] = tile_.sizes;
        for (std::uint8_t y = 0; y < rows; ++y)
            for (std::uint8_t x = 0; x < width; ++x) f(position{x, y});
    }
    /// The load's index for an element; empty if it is not a sum.
    std::optional<index_sum> index_of(value_id load, const position& at) const {
        const auto known = sums_.find(load);
        return known != sums_.end() ? std::optional(moved(known->second, at)) : std::nullopt;
    }
    index_sum moved(index_sum sum, const position& at) const {
        for (std::size_t k = 0; k < tile_.loops.size(); ++k)
            sum = sum.moved(tile_.loops[k], at[tile_.loops.size() - 1 - k]);
        return sum;
    }
    window_row row_of(value_id load, const index_sum& here) const {
        return {f_.operand(load, 0), here.terms};
    }

    /// Whether a row's elements at multiples of the width, counted from the tile's stores, begin vectors.
    bool is_aligned(const window_row& row) const {
        if (!tile_.stored || width_ == 1) return false;
        index_sum difference{row.terms, 0};
        difference.add(*tile_.stored, -1);
        return difference.is_multiple_of(width_);
    }
    /// The place of an element in a row: the number of accesses from the tile's stores, and the lane.
    struct place {
        std::int64_t access, lane;
    };
    place place_of(const window_row& row, std::int64_t constant) const {
        const std::int64_t from = constant - tile_.stored->constant, own = packed(row).elements();
        return {floor_div(from, own), from - floor_div(from, own) * own};
    }
    packed_elements packed(const window_row& row) const {
        return {pointee(f_.code[row.pointer].result).element, tile_.sizes[0]};
    }
    /// Whether the access is a vector load: enough of its elements are read. With half of them read, a
    /// convolution of 5 elements of a row takes 252 us in vectors and 264 us as scalars, one of 5 x 5 in
    /// tiles of 4 rows 148 and 140: lanes that are not read still take registers (H200, f32).
    bool is_vector(const window_row& row, std::int64_t access) const {
        const auto own = static_cast<std::ptrdiff_t>(packed(row).elements());
        if (own == 1) return false;
        const std::set<std::int64_t>& constants = constants_.at(row);
        const std::ptrdiff_t read = std::count_if(constants.begin(), constants.end(), [&](std::int64_t c) {
            return place_of(row, c).access == access;
        });
        return tile_.sizes[1] > 1 ? 2 * read > own : 2 * read >= own && read > 1;
    }

    // ---- costs

    /// Whether elements of the tile share loads.
    bool is_shared() const {
        std::size_t loads = 0;
        for (const auto& [row, constants] : constants_) loads += constants.size();
        return loads < sums_.size() * tile_.elements();
    }
    /// Cache lines that a sub-group's loads touch.
    std::int64_t lines() const {
        std::int64_t all = 0;
        for (const auto& [row, constants] : constants_) {
            const bool is_in_vectors = is_aligned(row);
            std::set<std::int64_t> vectors;
            for (const std::int64_t c : constants) {
                const bool is_part = is_in_vectors && is_vector(row, place_of(row, c).access);
                if (!is_part || vectors.insert(place_of(row, c).access).second) all += lines_of(row);
            }
        }
        return all;
    }

private:
    /// The lines of one load: one more for single elements, which may begin anywhere in a line.
    std::int64_t lines_of(const window_row& row) const {
        const auto bytes = static_cast<std::int64_t>(trace::size_of(pointee(f_.code[row.pointer].result)));
        const std::int64_t lines = std::max<std::int64_t>(sub_group_lanes * width_ * bytes / line_bytes, 1);
        return width_ == 1 ? lines + 1 : lines;
    }

    const function& f_;
    const register_tile& tile_;
    const loop_index index_;
    const std::int64_t width_;
    std::map<value_id, index_sum> sums_;  ///< by load
    std::map<window_row, std::set<std::int64_t>> constants_;
};

/// Appends the body for every element of a tile. `first` holds the loop variables of its first element.
class tile_body {
public:
    tile_body(function& f, const register_tile& t, std::span<const index_values::variable> first, builder& to)
        : f_(f),
          tile_(t),
          first_(first.begin(), first.end()),
          body_(body_of(f, t.loops.back())),
          window_(f, t),
          positions_(f, t.loops, first_),
          index_(f, t.loops),
          to_(to) {}

    void append() {
        window_.for_each_element([&](const window::position& at) { append_values(at); });
        for (const value_id v : body_)
            if (f_.code[v].op == opcode::store) append_stores(v);
    }

private:
    using copies = std::map<value_id, value_id>;

    static value_id copy_of(value_id v, const copies& known) {
        const auto found = known.find(v);
        return found != known.end() ? found->second : v;
    }
    /// Appends all instructions but the stores.
    void append_values(const window::position& at) {
        copies& own = elements_[at];
        for (std::size_t k = 0; k < tile_.loops.size(); ++k) {
            const value_id loop = tile_.loops[k];
            own[loop] = moved(first_[k].value, at[tile_.loops.size() - 1 - k]);
            for (const value_id v : block(f_.blocks[f_.code[loop].blocks[0]])) {
                const opcode op = f_.code[v].op;
                if (op == opcode::grid_for || op == opcode::store) continue;
                const std::optional<index_sum> index =
                    op == opcode::load ? window_.index_of(v, at) : std::nullopt;
                own[v] = index ? element(window_.row_of(v, *index), index->constant)
                               : to_.copy(v, [&](value_id o) { return copy_of(o, own); });
            }
        }
    }
    value_id moved(value_id v, std::int64_t by) {
        return by == 0 ? v : to_.apply(builtin::add, v, number(by));
    }
    value_id number(std::int64_t n) { return to_.constant(static_cast<std::uint64_t>(n)); }

    // ---- loads, each once

    value_id element(const window_row& row, std::int64_t constant) {
        const auto [known, is_new] = loaded_.try_emplace({row, constant}, none);
        if (is_new) known->second = load(row, constant);
        return known->second;
    }
    value_id load(const window_row& row, std::int64_t constant) {
        if (window_.is_aligned(row)) {
            const window::place at = window_.place_of(row, constant);
            if (window_.is_vector(row, at.access))
                return window_.packed(row).lane(vector(row, at.access), static_cast<std::uint8_t>(at.lane),
                                                to_);
        }
        const type element = pointee(f_.code[row.pointer].result);
        const value_id index = to_.apply(builtin::add, position_of(row), number(constant));
        return to_.make(opcode::load, value_of_memory(element), {row.pointer, index});
    }
    value_id vector(const window_row& row, std::int64_t access) {
        const auto [known, is_new] = vectors_.try_emplace({row, access}, none);
        if (is_new) {
            const value_id memory = vectors_at(row.pointer, position_of(row), window_.packed(row));
            const type loaded = value_of_memory(window_.packed(row).access());
            known->second = to_.make(opcode::load, loaded, {memory, number(access)});
        }
        return known->second;
    }
    /// The row's position, without constants.
    value_id position_of(const window_row& row) {
        const auto [known, is_new] = row_positions_.try_emplace(row.terms, none);
        if (is_new) known->second = positions_.value_of({row.terms, 0}, to_);
        return known->second;
    }
    /// A pointer to the row at the tile's stores, with the type of vector accesses.
    value_id vectors_at(value_id pointer, value_id position, const packed_elements& how) {
        const value_id first = to_.apply(builtin::add, position, number(tile_.stored->constant));
        const value_id there = to_.make(opcode::offset, f_.code[pointer].result, {pointer, first});
        type to = f_.code[pointer].result;
        to.element = how.access().element;
        to.lanes = how.access().lanes;
        return to_.make(opcode::reinterpret, to, {there});
    }

    // ---- stores

    void append_stores(value_id v) {
        for (const auto& [at, own] : elements_) {
            if (!tile_.stored || tile_.sizes[0] == 1)
                to_.copy(v, [&known = own](value_id o) { return copy_of(o, known); });
            else if (at[0] == 0)
                store_row(v, at);
        }
    }
    void store_row(value_id v, window::position at) {
        const window_row row = window_.row_of(v, window_.moved(*index_.sum_of_access(v), at));
        const std::int64_t constant = window_.moved(*index_.sum_of_access(v), at).constant;
        const packed_elements packed = window_.packed(row);
        const value_id memory = vectors_at(row.pointer, position_of(row), packed);
        std::int64_t access = window_.place_of(row, constant).access;
        while (at[0] < tile_.sizes[0]) {
            std::vector<value_id> values;
            for (; values.size() < packed.elements(); ++at[0])
                values.push_back(copy_of(f_.operand(v, 2), elements_.at(at)));
            to_.make(opcode::store, scalar::nothing, {memory, number(access++), packed.pack(values, to_)});
        }
    }

    function& f_;
    const register_tile& tile_;
    const std::vector<index_values::variable> first_;  ///< the outermost first
    const block body_;
    const window window_;
    const index_values positions_;
    const loop_index index_;
    builder& to_;
    std::map<window::position, copies> elements_;
    std::map<std::pair<window_row, std::int64_t>, value_id> loaded_, vectors_;
    std::map<std::vector<index_sum::term>, value_id> row_positions_;
};

/// for (tile = gid of dimension 1; tile < rows of tiles; tile += …) {
///     row = tile * rows
///     i = gid * width - peel
///     if (the tile is whole) body … body
///     else for (row …) for (i …) body
/// }
class tiled_loops {
public:
    tiled_loops(function& f, const register_tile& t) : f_(f), tile_(t) {}

    void append(builder& b) { append_from(0, b); }

private:
    std::uint64_t dimension_of(std::size_t k) const { return tile_.loops.size() - 1 - k; }
    value_id size(std::size_t k, builder& b) const { return b.constant(tile_.sizes[dimension_of(k)]); }
    value_id count(std::size_t k) const { return f_.operand(tile_.loops[k], 0); }

    void append_from(std::size_t k, builder& b) {
        const value_id loop = tile_.loops[k];
        const value_id id = b.place_(place::global_id, f_.code[loop].bits);
        if (k + 1 == tile_.loops.size()) return append_tile(b.apply(builtin::mul, id, size(k, b)), b);
        const std::uint64_t more = tile_.sizes[dimension_of(k)] - 1u;
        const value_id tiles =
            b.apply(builtin::div, b.apply(builtin::add, count(k), b.constant(more)), size(k, b));
        const value_id step = b.place_(place::global_size, f_.code[loop].bits);
        const value_id tile = b.make(opcode::for_, scalar::i64, {id, tiles, step});
        builder inner(f_, f_.code[loop].where);
        const value_id first = inner.apply(builtin::mul, tile, size(k, inner));
        f_.code[first].name = f_.code[loop].name;
        firsts_.push_back({loop, first});
        append_from(k + 1, inner);
        f_.code[tile].blocks[0] = new_block(std::move(inner.made));
    }

    void append_tile(value_id from, builder& b) {
        const value_id loop = tile_.loops.back();
        value_id first = from;
        if (tile_.has_peel()) first = b.apply(builtin::sub, from, peel(b));
        f_.code[first].name = f_.code[loop].name;
        firsts_.push_back({loop, first});
        const value_id is_whole = whole(b);
        builder made(f_, f_.code[loop].where);
        tile_body(f_, tile_, firsts_, made).append();
        builder rest(f_, f_.code[loop].where);
        append_rest(rest);
        const value_id branch = b.make(opcode::if_, scalar::nothing, {is_whole});
        f_.code[branch].blocks[0] = new_block(std::move(made.made));
        f_.code[branch].blocks[1] = new_block(std::move(rest.made));
    }
    /// The number of elements by which the first tile begins ahead of the row's first element, so that it
    /// begins a vector.
    value_id peel(builder& b) {
        const index_sum offset = tile_.stored->besides(tile_.loops.back());
        const auto mask = static_cast<std::uint64_t>(tile_.sizes[0] - 1);
        if (offset.is_multiple_of(tile_.sizes[0]))
            return b.constant(static_cast<std::uint64_t>(offset.constant) & mask);
        const value_id own = index_values(f_, tile_.loops, firsts_).value_of(offset, b);
        return b.apply(builtin::bit_and, own, b.constant(mask));
    }
    value_id whole(builder& b) {
        value_id all = none;
        const auto require = [&](builtin what, value_id left, value_id right) {
            const value_id own = b.apply(what, left, right, scalar::boolean);
            all = all == none ? own : b.apply(builtin::bit_and, all, own, scalar::boolean);
        };
        if (tile_.has_peel()) require(builtin::greater_equal, firsts_.back().value, b.constant(0));
        for (std::size_t k = 0; k < firsts_.size(); ++k) {
            const std::uint64_t more = tile_.sizes[dimension_of(k)] - 1u;
            if (more > 0 || k + 1 == firsts_.size())
                require(builtin::less, b.apply(builtin::add, firsts_[k].value, b.constant(more)), count(k));
        }
        return all;
    }

    /// Computes the elements one by one, in the original loops.
    void append_rest(builder& b) {
        std::vector<std::pair<value_id, value_id>> bounds;
        for (std::size_t k = 0; k < firsts_.size(); ++k) {
            const value_id first = firsts_[k].value;
            const value_id end = b.apply(builtin::add, first, size(k, b));
            const bool may_be_ahead = k + 1 == firsts_.size() && tile_.has_peel();
            bounds.emplace_back(may_be_ahead ? b.apply(builtin::max, first, b.constant(0)) : first,
                                b.apply(builtin::min, end, count(k)));
        }
        value_id inner = none;
        for (std::size_t k = firsts_.size(); k-- > 0;) {
            const value_id loop = tile_.loops[k];
            block& body = f_.blocks[f_.code[loop].blocks[0]];
            if (inner != none) std::replace(body.begin(), body.end(), tile_.loops[k + 1], inner);
            builder counting(f_, f_.code[loop].where);
            const value_id step = b.constant(1);
            inner = counting.make(opcode::for_, scalar::i64, {bounds[k].first, bounds[k].second, step});
            f_.code[inner].blocks[0] = f_.code[loop].blocks[0];
            f_.code[inner].name = f_.code[loop].name;
            std::replace(f_.operands.begin(), f_.operands.end(), loop, inner);
        }
        b.made.push_back(inner);
    }
    block_id new_block(block&& made) {
        f_.blocks.push_back(std::move(made));
        return static_cast<block_id>(f_.blocks.size() - 1);
    }

    function& f_;
    const register_tile& tile_;
    std::vector<index_values::variable> firsts_;  ///< of the first element, the outermost loop first
};

// ---- which tile

/// Whether the loops can be tiled: all counts are known ahead of the outermost one.
bool can_be_tiled(const function& f, std::span<const value_id> loops, bool is_distinct) {
    if (!is_straight(f, body_of(f, loops.back()), is_distinct)) return false;
    return std::all_of(loops.begin(), loops.end(), [&](value_id loop) {
        const value_id count = f.operand(loop, 0);
        return std::all_of(loops.begin(), loops.end(), [&](value_id other) {
            const block& body = body_of(f, other);
            return count != other && std::find(body.begin(), body.end(), count) == body.end();
        });
    });
}

/// Whether rows and planes of a tile are aligned alike.
bool is_aligned_alike(const register_tile& t) {
    for (std::size_t k = 0; k + 1 < t.loops.size(); ++k) {
        index_sum step = t.stored->moved(t.loops[k], 1);
        step.add(*t.stored, -1);
        if (!step.is_multiple_of(t.sizes[0]) || step.constant % t.sizes[0] != 0) return false;
    }
    return true;
}

/// The clocks that a compute unit's cache is busy with a tile's loads and stores, at one line per clock, for
/// each clock that memory is busy with the same elements (19 bytes per clock on H200).
double cache_load(const function& f, const register_tile& t, std::int64_t lines_read) {
    constexpr double bytes_a_clock = 19;
    std::map<std::pair<value_id, opcode>, std::size_t> bytes;  // of an element, by memory and direction
    std::size_t stored = 0;
    for (const value_id v : body_of(f, t.loops.back())) {
        if (!is_memory_access(f.code[v])) continue;
        const std::size_t own = trace::size_of(accessed_by(f, v));
        bytes[{root_of(f, f.operand(v, 0)), f.code[v].op}] = own;
        if (f.code[v].op == opcode::store) stored += own;
    }
    std::size_t moved = 0;
    for (const auto& [access, size] : bytes) moved += size;
    const auto elements = static_cast<double>(t.elements()) * sub_group_lanes;
    const double lines =
        static_cast<double>(lines_read) + static_cast<double>(stored) * elements / line_bytes;
    return lines / (static_cast<double>(moved) * elements / bytes_a_clock);
}

/// Without index arithmetic, which becomes one sum for each row of a window.
std::size_t instructions_besides_positions(const function& f, block body) {
    std::erase_if(
        body, [&](value_id v) { return f.code[v].op == opcode::builtin && f.code[v].result == scalar::i64; });
    return instructions_of(f, body);
}

/// The candidate tiles, the smallest first.
std::vector<register_tile> tiles_of(const function& f, std::span<const value_id> nest,
                                    const runtime::launch_facts& facts) {
    const block& body = body_of(f, nest.back());
    const auto widest =
        static_cast<std::uint8_t>(row_bytes / std::min(std::bit_ceil(widest_access(f, body)), row_bytes));
    const std::size_t instructions = instructions_besides_positions(f, body);
    std::vector<register_tile> all;
    if (instructions > most_instructions) return all;
    for (const std::uint8_t rows : {1, 2, 4})
        for (const std::uint8_t width : {widest, std::uint8_t{1}}) {
            const std::size_t loops = rows > 1 ? 2 : 1;
            if (nest.size() < loops || width * rows == 1) continue;
            register_tile t;
            t.loops.assign(nest.end() - static_cast<std::ptrdiff_t>(loops), nest.end());
            t.sizes = {width, rows};
            if (t.elements() > most_elements || instructions * t.elements() > most_instructions_of_tile ||
                !can_be_tiled(f, t.loops, facts.distinct))
                continue;
            t.stored = index_of_stores(f, body, nest.back(), loop_index(f, t.loops));
            if (t.stored) t.stored->add({nest.back(), none, 1});
            if (width == 1 || (t.stored && !facts.is_tight && is_aligned_alike(t))) all.push_back(t);
            if (width == widest && widest == 1) break;
        }
    return all;
}

}  // namespace

bool register_tile::has_peel() const {
    if (!stored || sizes[0] == 1) return false;
    const index_sum offset = stored->besides(loops.back());
    return !offset.is_multiple_of(sizes[0]) || offset.constant % sizes[0] != 0;
}

std::vector<value_id> nest_of(const function& f, value_id outermost) {
    std::vector<value_id> nest{outermost};
    for (;;) {
        value_id inner = none;
        for (const value_id v : body_of(f, nest.back())) {
            const instruction& i = f.code[v];
            if (i.op == opcode::grid_for && inner == none)
                inner = v;
            else if (has_effect(f, v) || i.op == opcode::load || inner != none)
                return inner == none ? nest : std::vector{outermost};
        }
        if (inner == none) return nest;
        nest.push_back(inner);
    }
}

std::optional<register_tile> tile_for(const function& f, std::span<const value_id> nest,
                                      const runtime::launch_facts& facts) {
    if (f.code[nest.back()].bits != 0) return std::nullopt;
    std::optional<register_tile> best;
    double least = 0;
    for (const register_tile& t : tiles_of(f, nest, facts)) {
        const window read(f, t);
        if (!read.is_shared()) continue;
        const double load = cache_load(f, t, read.lines());
        if (best && load > least) continue;
        best = t;
        least = load;
        // In three dimensions, more rows always pay off: for 7 points, 4 x 1 elements are at 0.6.
        if (load < low_cache_load && f.dimensions < 3) break;
    }
    if (best && best->loops.size() != nest.size()) return std::nullopt;
    return best;
}

void append_tiles(function& f, const register_tile& t, builder& to) { tiled_loops(f, t).append(to); }

}  // namespace balm::ir
