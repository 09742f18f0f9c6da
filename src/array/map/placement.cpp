// Maps become sums of products: offset + c0 * stride0 + c1.

#include "array/map/placement.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace balm::array {

namespace {

/// Calls f(map, whether it stands inside an `at`) for each position of a tape.
template <class F>
void for_each_position(const tape& p, F&& f) {
    int depth = 0;
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what == step::kind::position) f(p.maps[s.leaf], depth > 0);
    }
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
    how.strides_of = static_cast<std::uint32_t>(std::find_if(entries_.begin(), entries_.end(), is_like) -
                                                entries_.begin());
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
    // A position of one dimension beside others of several walks them in row-major order, which a single
    // stride always can.
    if (first != nullptr) number(*reshaped(*first, box));
    std::optional<std::size_t> flat;
    if (needs_flat_index || first == nullptr) flat = number(row_major(box));

    std::vector<std::optional<std::size_t>> in_loops;  // nothing for what is nested
    for_each_position(p, [&](const affine_map& map, bool is_nested) {
        in_loops.push_back(is_nested ? std::nullopt : std::optional(number(*reshaped(map, box))));
    });
    const std::size_t own = maps.size();
    maps.insert(maps.end(), besides.begin(), besides.end());
    loops_ = walk::in_memory_order(maps);
    besides_.assign(loops_.maps.begin() + static_cast<std::ptrdiff_t>(own), loops_.maps.end());
    // Each of those maps gets the number of its entry; those that are the only loop's variable need none.
    std::vector<std::uint32_t> number_of_map;
    for (std::size_t m = 0; m < own; ++m) {
        const bool is_loop = loops_.loops == 1 && loops_.is_the_order(loops_.maps[m]);
        number_of_map.push_back(is_loop ? is_flat : add(maps[m], false, loops_, loops_.maps[m]));
    }
    if (flat) flat_ = number_of_map[*flat];
    std::size_t next = 0;
    for_each_position(p, [&](const affine_map& map, bool) {
        const std::optional<std::size_t> m = in_loops[next++];
        numbers_.push_back(m ? number_of_map[*m] : number_nested(map));
    });
}

bool placement::is_like(const placement& other) const {
    return loops_.loops == other.loops_.loops && flat_ == other.flat_ && numbers_ == other.numbers_ &&
           std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                      [](const entry& a, const entry& b) { return a.how == b.how; });
}

void placement::add_to(runtime::table_hash& hash) const {
    hash.add(loops_.loops, flat_);
    for (const std::uint32_t number : numbers_) hash.add(number);
    for (const entry& e : entries_)
        hash.add(e.how.is_nested, e.how.is_narrow, e.how.dimensions, e.how.last, e.how.strides_of);
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
void placement::list(List& to) const {
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const entry& e = entries_[k];
        to.number({"first", k}, e.at.offset);
        for (int d = 0; d < e.how.given_strides() && has_own_strides(k); ++d)
            to.number(name_of("stride", k, d), e.at.strides[static_cast<std::size_t>(d)]);
        for (int d = 1; d < e.how.dimensions && e.how.is_nested; ++d)
            to.value(name_of("count", k, d), e.how.is_narrow ? scalar::u32 : scalar::i64,
                     static_cast<std::uint64_t>(e.counts[static_cast<std::size_t>(d)]));
    }
}
template void placement::list(parameter_list&) const;
template void placement::list(parameter_bindings&) const;

trace::node placement::flat_index(const parameter_list& given, const std::vector<trace::node>& loops) const {
    if (flat_ != is_flat) return record_entry(flat_, given, loops);
    return loops.size() == 1 ? loops[0] : trace::node{};
}

trace::node placement::record(std::size_t k, const parameter_list& given, const coordinates& here) const {
    const std::uint32_t number = numbers_[k];
    if (number == is_flat) return here.loops.size() == 1 ? here.loops[0] : here.flat;
    const entry& e = entries_[number];
    if (!e.how.is_nested) return record_entry(number, given, here.loops);
    std::vector<trace::node> counts;
    for (int d = 1; d < e.how.dimensions; ++d) counts.push_back(given[name_of("count", number, d)]);
    return record_entry(number, given, row_major_coordinates(here.flat, counts, e.how.is_narrow));
}

trace::node placement::record_entry(std::size_t k, const parameter_list& given,
                                    const std::vector<trace::node>& variables) const {
    // The offset last: what several maps with the same strides share is computed once.
    const entry& e = entries_[k];
    std::optional<trace::node> sum;
    const auto plus = [&](trace::node term) { sum = sum ? trace::apply(builtin::add, *sum, term) : term; };
    for (int d = 0; d < e.how.dimensions; ++d) {
        const trace::node variable = variables[static_cast<std::size_t>(d)];
        if (d < e.how.given_strides())
            plus(trace::apply(builtin::mul, variable, given[name_of("stride", e.how.strides_of, d)]));
        else if (e.how.last == last_stride::one)
            plus(variable);
    }
    plus(given[{"first", k}]);
    return *sum;
}

}  // namespace balm::array
