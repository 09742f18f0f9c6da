// Maps become sums of products: offset + c0 * stride0 + c1.

#include "array/map/placement.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/lower/widen.hpp"

namespace balm::array {

namespace {

/// Calls f(map, is_nested) for each position of a tape; positions inside an `at` are nested, and others that
/// are computed from the flat index.
template <class F>
void for_each_position(const tape& p, F&& f) {
    int depth = 0;
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what == step::kind::position) f(p.maps[s.leaf], depth > 0 || s.detail == from_flat_index);
    }
}

/// The largest distance between neighbours, in strides of an outer loop and of the fastest loop: every
/// pattern is a separate kernel.
constexpr std::int64_t most_rows_away = 16, most_elements_away = 64;
/// Fewer positions near each other may well belong to slices that move from launch to launch.
constexpr std::size_t fewest_neighbours = 3;

using distance = std::array<std::int16_t, shape::max_dimensions>;

/// An offset as multiples of the strides, of which the last is 1; nullopt if a multiple is too large.
std::optional<distance> strides_in(std::int64_t offset, const walk::numbers& strides, int loops) {
    std::array<std::size_t, shape::max_dimensions> order{};
    const auto end = order.begin() + loops - 1;  // the last stride stays last
    std::iota(order.begin(), end, std::size_t{0});
    const auto size = [&](std::size_t d) { return std::abs(strides[d]); };
    std::stable_sort(order.begin(), end, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    distance away{};
    for (auto d = order.begin(); d != end; ++d) {
        if (size(*d) <= 1) continue;
        const std::int64_t whole = offset / strides[*d], rest = offset % strides[*d];
        const bool is_nearer_to_next = 2 * std::abs(rest) > size(*d);
        const std::int64_t rows =
            whole + (is_nearer_to_next ? ((offset < 0) == (strides[*d] < 0) ? 1 : -1) : 0);
        if (std::abs(rows) > most_rows_away) return std::nullopt;
        offset -= rows * strides[*d];
        away[*d] = static_cast<std::int16_t>(rows);
    }
    if (std::abs(offset) > most_elements_away) return std::nullopt;
    away[static_cast<std::size_t>(loops - 1)] = static_cast<std::int16_t>(offset);
    return away;
}

trace::node times(trace::node n, std::int64_t factor) {
    if (factor == 1) return n;
    return trace::apply(builtin::mul, n, trace::constant(scalar::i64, static_cast<std::uint64_t>(factor)));
}
/// n + unit(by), where unit(k) is k times some number
template <class Unit>
trace::node moved(trace::node n, std::int64_t by, Unit&& unit) {
    if (by == 0) return n;
    return trace::apply(by > 0 ? builtin::add : builtin::sub, n, unit(std::abs(by)));
}
trace::node moved(trace::node n, std::int64_t by) {
    return moved(n, by,
                 [](std::int64_t k) { return trace::constant(scalar::i64, static_cast<std::uint64_t>(k)); });
}

}  // namespace

const affine_map* affine(const tape& p) {
    const bool is_alone = p.steps.size() == 1 && p.steps[0].what == step::kind::position;
    return is_alone ? &p.maps[p.steps[0].leaf] : nullptr;
}

bool asks_for_flat_index(const tape& p) {
    int depth = 0;
    return std::any_of(p.steps.begin(), p.steps.end(), [&](const step& s) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        return depth == 0 && (s.what == step::kind::vector || s.what == step::kind::index);
    });
}

std::vector<trace::node> row_major_coordinates(trace::node index, std::span<const trace::node> counts,
                                               bool is_narrow) {
    if (counts.empty()) return {index};
    const scalar wide = is_narrow ? scalar::u32 : scalar::i64;
    std::vector<trace::node> made(counts.size() + 1);
    trace::node rest = trace::convert(index, wide);
    for (std::size_t d = counts.size(); d > 0; --d) {
        const trace::node count = trace::convert(counts[d - 1], wide);
        made[d] = trace::convert(trace::apply(builtin::rem, rest, count), scalar::i64);
        rest = trace::apply(builtin::div, rest, count);
    }
    made[0] = trace::convert(rest, scalar::i64);
    return made;
}

std::uint32_t placement::number_nested(const affine_map& map) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const entry& e) { return e.how.is_nested && e.of == map; });
    if (known != entries_.end()) return static_cast<std::uint32_t>(known - entries_.begin());
    const walk order = walk::in_row_major_order(map);
    if (order.is_the_order(order.maps[0])) return is_flat;
    return add(map, true, order, order.maps[0]);
}

std::uint32_t placement::add(const affine_map& map, bool is_nested, const walk& loops, const walk::map& at) {
    const auto number = static_cast<std::uint32_t>(entries_.size());
    form how{is_nested, is_nested && map.box.count() <= std::numeric_limits<std::uint32_t>::max(),
             loops.loops};
    const std::int64_t last = at.strides[static_cast<std::size_t>(loops.loops - 1)];
    how.last = last == 0 ? last_stride::zero : last == 1 ? last_stride::one : last_stride::other;
    const auto is_like = [&](const entry& other) {
        return !is_nested && !other.how.is_nested && at.strides == other.at.strides;
    };
    how.is_row_of_vectors = how.is_narrow && loops.loops == 2 && how.last == last_stride::zero &&
                            static_cast<std::size_t>(loops.counts[1]) % ir::most_lanes == 0;
    how.strides_of = static_cast<std::uint32_t>(std::find_if(entries_.begin(), entries_.end(), is_like) -
                                                entries_.begin());
    how.near_to = number;
    entries_.push_back({how, map, loops.counts, at});
    return number;
}

placement::placement(const tape& p) {
    if (p.maps.empty()) return;
    for_each_position(p, [&](const affine_map& map, bool) { numbers_.push_back(number_nested(map)); });
}

placement::placement(const tape& p, const shape& box, const affine_map* first, bool needs_flat_index,
                     std::span<const affine_map> besides) {
    loops_.loops = 1;
    loops_.counts[0] = static_cast<std::int64_t>(box.count());
    if (p.maps.empty() && besides.empty()) return;
    std::vector<affine_map> maps;  // in the loops, each once
    const auto number = [&](const affine_map& map) {
        const auto k = static_cast<std::size_t>(std::find(maps.begin(), maps.end(), map) - maps.begin());
        if (k == maps.size()) maps.push_back(map);
        return k;
    };
    // A position of one dimension beside others of several walks their box in row-major order, which a single
    // stride can always express.
    if (first != nullptr) number(*reshaped(*first, box));
    std::optional<std::size_t> flat;
    if (needs_flat_index || first == nullptr) flat = number(row_major(box));

    std::vector<std::optional<std::size_t>> in_loops;  // nullopt for nested positions
    for_each_position(p, [&](const affine_map& map, bool is_nested) {
        in_loops.push_back(is_nested ? std::nullopt : std::optional(number(*reshaped(map, box))));
    });
    const std::size_t own = maps.size();
    maps.insert(maps.end(), besides.begin(), besides.end());
    loops_ = walk::in_memory_order(maps);
    besides_.assign(loops_.maps.begin() + static_cast<std::ptrdiff_t>(own), loops_.maps.end());
    // Each of these maps gets the number of its entry; maps that equal the variable of the only loop need no
    // entry.
    std::vector<std::uint32_t> number_of_map;
    for (std::size_t m = 0; m < own; ++m) {
        const bool is_loop = loops_.loops == 1 && loops_.is_the_order(loops_.maps[m]);
        number_of_map.push_back(is_loop ? is_flat : add(maps[m], false, loops_, loops_.maps[m]));
    }
    find_neighbours(std::find(number_of_map.begin(), number_of_map.end(), is_flat) != number_of_map.end());
    if (flat) flat_ = number_of_map[*flat];
    std::size_t next = 0;
    for_each_position(p, [&](const affine_map& map, bool) {
        const std::optional<std::size_t> m = in_loops[next++];
        numbers_.push_back(m ? number_of_map[*m] : number_nested(map));
    });
}

/// Computes entries in the loops that are near each other from the first of them, or from the variable of the
/// only loop.
void placement::find_neighbours(bool has_flat) {
    bool has_neighbours = false;
    const auto gather = [&](std::uint32_t to, const walk::map& first, std::uint32_t from) {
        std::vector<std::pair<std::uint32_t, distance>> found;
        for (std::uint32_t k = from; k < entries_.size(); ++k) {
            const entry& e = entries_[k];
            if (!has_own_offset(k) || e.at.strides != first.strides) continue;
            if (const auto away = strides_in(e.at.offset - first.offset, first.strides, loops_.loops))
                found.emplace_back(k, *away);
        }
        if (found.size() + 1 < fewest_neighbours) return;
        has_neighbours = true;
        for (const auto& [k, away] : found) {
            entries_[k].how.near_to = to;
            entries_[k].how.away = away;
        }
    };
    if (has_flat) gather(is_flat, {{1}, 0}, 0);
    for (std::uint32_t k = 0; k < entries_.size(); ++k)
        if (has_own_offset(k) && entries_[k].how.last == last_stride::one) gather(k, entries_[k].at, k + 1);
    if (has_neighbours) know_fours();
}

void placement::know_fours() {
    for (entry& e : entries_) {
        const auto end = e.at.strides.begin() + loops_.loops - 1;
        e.how.is_in_fours = e.how.last == last_stride::one &&
                            std::all_of(e.at.strides.begin(), end, [](auto s) { return s % 4 == 0; });
        const bool has_remainder =
            e.how.is_in_fours && e.how.near_to != is_flat && &entries_[e.how.near_to] == &e;
        if (has_remainder) e.how.remainder = static_cast<std::uint8_t>(e.at.offset & 3);
    }
}

bool placement::is_like(const placement& other) const {
    return loops_.loops == other.loops_.loops && flat_ == other.flat_ && numbers_ == other.numbers_ &&
           std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                      [](const entry& a, const entry& b) { return a.how == b.how; });
}

void placement::add_to(runtime::table_hash& hash) const {
    hash.add(loops_.loops, flat_);
    for (const std::uint32_t number : numbers_) hash.add(number);
    for (const entry& e : entries_) {
        hash.add(e.how.is_nested, e.how.is_narrow, e.how.dimensions, e.how.last, e.how.strides_of,
                 e.how.near_to, e.how.is_in_fours, e.how.remainder, e.how.is_row_of_vectors);
        for (int d = 0; d < e.how.dimensions; ++d) hash.add(e.how.away[static_cast<std::size_t>(d)]);
    }
}

std::span<const std::int64_t> placement::counts() const {
    return {loops_.counts.data(), static_cast<std::size_t>(loops_.loops)};
}

std::array<std::size_t, 3> placement::grid_counts() const {
    std::array<std::size_t, 3> grid{1, 1, 1};
    const std::span<const std::int64_t> loops = counts();
    for (std::size_t d = 0; d < loops.size(); ++d)
        grid[std::min<std::size_t>(d, 2)] *= static_cast<std::size_t>(loops[loops.size() - 1 - d]);
    return grid;
}

bool placement::follows_rows() const {
    return std::all_of(entries_.begin(), entries_.end(),
                       [](const entry& e) { return !e.how.is_nested && e.how.last == last_stride::one; });
}

parameter_name placement::name_of(const char* word, std::size_t k, int d) const {
    return {word, k, entries_[k].how.dimensions > 1 ? d : parameter_name::no_dimension};
}

template <class List>
void placement::declare_parameters(List& to) const {
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const entry& e = entries_[k];
        const std::int64_t unit = e.how.is_in_fours ? 4 : 1;
        if (has_own_offset(k)) to.number({"first", k}, (e.at.offset - e.how.remainder) / unit);
        for (int d = 0; d < e.how.given_strides() && has_own_strides(k); ++d)
            to.number(name_of("stride", k, d), e.at.strides[static_cast<std::size_t>(d)] / unit);
        for (int d = 1; d < e.how.dimensions && e.how.is_nested; ++d)
            to.value(name_of("count", k, d), e.how.is_narrow ? scalar::u32 : scalar::i64,
                     static_cast<std::uint64_t>(e.counts[static_cast<std::size_t>(d)]) /
                         (e.how.is_row_of_vectors ? ir::most_lanes : 1));
    }
}
template void placement::declare_parameters(parameter_list&) const;
template void placement::declare_parameters(parameter_bindings&) const;
template void placement::declare_parameters(small_counts&) const;
template void placement::declare_parameters(listed_bytes&) const;

trace::node placement::flat_index(const parameter_list& given, const std::vector<trace::node>& loops) const {
    if (flat_ != is_flat) return record_entry(flat_, given, loops);
    return loops.size() == 1 ? loops[0] : trace::node{};
}

trace::node placement::record(std::size_t k, const parameter_list& given, const coordinates& here) const {
    const std::uint32_t number = numbers_[k];
    if (number == is_flat) return here.loops.size() == 1 ? here.loops[0] : here.flat;
    const entry& e = entries_[number];
    if (!e.how.is_nested) return record_entry(number, given, here.loops);
    if (e.how.is_row_of_vectors) {
        constexpr auto bits = static_cast<std::uint64_t>(std::countr_zero(ir::most_lanes));
        const trace::node multiple =
            trace::apply(builtin::shr, here.flat, trace::constant(scalar::i64, bits));
        const trace::node row = trace::apply(builtin::div, trace::convert(multiple, scalar::u32),
                                             given[name_of("count", number, 1)]);
        return record_entry(number, given, {trace::convert(row, scalar::i64), {}});
    }
    std::vector<trace::node> counts;
    for (int d = 1; d < e.how.dimensions; ++d) counts.push_back(given[name_of("count", number, d)]);
    return record_entry(number, given, row_major_coordinates(here.flat, counts, e.how.is_narrow));
}

/// The stride, or a quarter of it.
trace::node placement::stride(std::size_t k, int d, const parameter_list& given) const {
    return given[name_of("stride", entries_[k].how.strides_of, d)];
}

trace::node placement::record_entry(std::size_t k, const parameter_list& given,
                                    const std::vector<trace::node>& variables) const {
    if (!has_own_offset(k)) return record_near(k, given, variables);
    // The offset comes last, so that maps with the same strides share the rest of the sum.
    const entry& e = entries_[k];
    const std::int64_t unit = e.how.is_in_fours ? 4 : 1;
    std::optional<trace::node> sum;
    const auto plus = [&](trace::node term) { sum = sum ? trace::apply(builtin::add, *sum, term) : term; };
    for (int d = 0; d < e.how.dimensions; ++d) {
        const trace::node variable = variables[static_cast<std::size_t>(d)];
        if (d < e.how.given_strides())
            plus(times(trace::apply(builtin::mul, variable, stride(k, d, given)), unit));
        else if (e.how.last == last_stride::one)
            plus(variable);
    }
    plus(times(given[{"first", k}], unit));
    return moved(*sum, e.how.remainder);
}

/// Computes a position at a constant distance, in rows and elements, from another entry.
trace::node placement::record_near(std::size_t k, const parameter_list& given,
                                   const std::vector<trace::node>& variables) const {
    const form& how = entries_[k].how;
    trace::node sum = how.near_to == is_flat ? variables[0] : record_entry(how.near_to, given, variables);
    for (int d = 0; d + 1 < how.dimensions; ++d)
        sum = moved(sum, how.away[static_cast<std::size_t>(d)], [&](std::int64_t rows) {
            return times(stride(k, d, given), rows * (how.is_in_fours ? 4 : 1));
        });
    return moved(sum, how.away[static_cast<std::size_t>(how.dimensions - 1)]);
}

}  // namespace balm::array
