// Views as tapes: an affine map as long as strides describe the elements, else a composition of index
// functions.

#include "balm/view.hpp"

#include <fmt/format.h>

#include <utility>

#include "array/layout.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

tape position(const affine_map& map) {
    tape p;
    p.push_position(map);
    return p;
}

/// `where`, at the index that `index` computes.
tape composed(tape index, const tape& where) {
    index.append_at(where);
    return index;
}

/// Applies `change` to the selection's own map if it is affine, else to the row-major order of its elements.
template <class F>
selection changed(const selection& s, F&& change) {
    if (const affine_map* map = affine(s.where)) return {s.of, position(change(*map))};
    return {s.of, composed(position(change(row_major(box_of(s.where)))), s.where)};
}

}  // namespace

selection viewed(tape of, const shape& extents) {
    if (of.size >= 0 && extents.count() != static_cast<std::size_t>(of.size))
        throw usage_error(
            fmt::format("{} elements cannot be viewed as {}, which are {}; the numbers must be equal",
                        of.size, to_string(extents), extents.count()));
    return {std::move(of), position(row_major(extents))};
}

selection viewed(tape of, const shape& extents, const strides& apart, std::int64_t offset) {
    const std::optional<std::size_t> count =
        of.size < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(of.size));
    return {std::move(of), position(strided(extents, apart, offset, count))};
}

selection viewed(const selection& s, const shape& extents, const strides& apart, std::int64_t offset) {
    const std::size_t count = box_of(s.where).count();
    affine_map map = strided(extents, apart, offset, count);
    const affine_map* const own = affine(s.where);
    const std::optional<affine_map> row = own ? reshaped(*own, shape(count)) : std::nullopt;
    if (!row) return {s.of, composed(position(map), s.where)};
    map.offset = row->offset + map.offset * row->strides[0];
    for (std::int64_t& each : map.strides) each *= row->strides[0];
    return {s.of, position(map)};
}

selection sliced(const selection& s, std::span<const slice_part> parts) {
    return changed(s, [&](const affine_map& map) { return sliced(map, parts); });
}

selection transposed(const selection& s, std::span<const int> order) {
    return changed(s, [&](const affine_map& map) {
        if (!order.empty()) return transposed(map, order);
        std::array<int, shape::max_dimensions> reverse{};
        const int dimensions = map.box.dimensions();
        for (int d = 0; d < dimensions; ++d) reverse[static_cast<std::size_t>(d)] = dimensions - 1 - d;
        return transposed(map, {reverse.data(), static_cast<std::size_t>(dimensions)});
    });
}

selection broadcast(const selection& s, const shape& extents) {
    return changed(s, [&](const affine_map& map) { return broadcast(map, extents); });
}

selection reshaped(const selection& s, const shape& extents) {
    const std::size_t count = box_of(s.where).count();
    if (count != extents.count())
        throw usage_error(fmt::format(
            "a view of {} cannot be reshaped to {}; the numbers of elements, {} and {}, must be equal",
            to_string(box_of(s.where)), to_string(extents), count, extents.count()));
    if (const affine_map* map = affine(s.where))
        if (const std::optional<affine_map> same = reshaped(*map, extents)) return {s.of, position(*same)};
    return {s.of, composed(position(row_major(extents)), s.where)};
}

selection picked(const selection& s, tape positions) {
    return {s.of, composed(std::move(positions), s.where)};
}

tape read(const selection& s) {
    tape p = s.where;
    p.append_at(s.of);
    return p;
}

void assign(const selection& target, tape&& value) {
    const struct target to { target.of.vectors[0].get(), &target.where };
    assign({&to, 1}, std::move(value));
}

void refuse_to_assign() {
    throw usage_error(
        "this view is read-only: it views an expression or a const vector; assign to a view of a vector that "
        "is "
        "not const");
}

}  // namespace balm::array
