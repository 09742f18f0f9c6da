// Stencils as leaves of expressions. The elements are divided into regions: those whose neighbours are all
// inside, and for each end of each dimension a slab along the border. Each region is an assignment of its
// own; views that are moved by constants are what the first one reads, so that its kernel loads in tiles
// (ir/lower/tile.cpp).

#include "balm/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "array/vector_state.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

std::int64_t extent(const shape& box, int dimension) { return static_cast<std::int64_t>(box[dimension]); }

expr<std::int64_t> index_along(const region& where, int dimension) {
    affine_map map{where.extents, {}, where.begin[static_cast<std::size_t>(dimension)]};
    map.strides[static_cast<std::size_t>(dimension)] = 1;
    tape p;
    p.push_position(map);
    return expr<std::int64_t>(std::move(p));
}

/// Of a region moved along a dimension: whether some elements are beyond either end.
bool is_beyond(const shape& box, const region& where, int dimension, std::int64_t offset) {
    const std::int64_t first = where.begin[static_cast<std::size_t>(dimension)] + offset;
    return first < 0 || first + extent(where.extents, dimension) > extent(box, dimension);
}

/// The remainder that has the divisor's sign.
expr<std::int64_t> wrapped(expr<std::int64_t> index, std::int64_t count) {
    auto rest = std::move(index) % count;
    return select(rest < 0, rest + count, rest);
}
expr<std::int64_t> brought_back(expr<std::int64_t> index, std::int64_t count, border beyond) {
    switch (beyond) {
        case border::wrap: return wrapped(std::move(index), count);
        case border::mirror: {
            const auto rest = wrapped(std::move(index), 2 * count);
            return min(rest, 2 * count - 1 - rest);
        }
        default: return clamp(std::move(index), std::int64_t{0}, count - 1);
    }
}

/// Throws usage_error where the tape has an array's element at the element's own index, which is another one
/// in each region.
void check_is_of_neighbours(const tape& p) {
    int depth = 0;
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (depth > 0 || (s.what != step::kind::vector && s.what != step::kind::index)) continue;
        throw usage_error(
            s.what == step::kind::vector
                ? "the function of a stencil reads an array by its name; give it to balm::stencil as one "
                  "more array, and take it from there as a parameter"
                : "the function of a stencil asks for element_index(); take u.coordinate(dimension) of one "
                  "of its parameters");
    }
}

struct stencil_piece {
    region where;
    tape value;
};

class stencil_producer : public producer {
public:
    stencil_producer(const shape& extents, trace::type type, std::shared_ptr<vector_state> near,
                     std::vector<stencil_piece>&& pieces)
        : producer(extents, type, std::move(near)), pieces_(std::move(pieces)) {}

    std::shared_ptr<vector_state> compute() const override {
        auto made = make_like(*near(), type(), extents().count());
        write(*made);
        return made;
    }
    bool compute_into(vector_state& into) const override {
        if (into.is_spread() != near()->is_spread() || &into.device() != &near()->device()) return false;
        const auto reads = [&](const std::shared_ptr<vector_state>& v) { return v->overlaps(into); };
        for (const stencil_piece& each : pieces_)
            if (std::any_of(each.value.vectors.begin(), each.value.vectors.end(), reads)) return false;
        write(into);
        return true;
    }

private:
    void write(vector_state& into) const {
        std::vector<tape> values;
        for (const stencil_piece& each : pieces_) values.push_back(each.value);
        materialise(values);
        const affine_map all = row_major(extents());
        for (std::size_t k = 0; k < pieces_.size(); ++k) {
            const region& where = pieces_[k].where;
            affine_map map{where.extents, all.strides, 0};
            for (std::size_t d = 0; d < all.strides.size(); ++d)
                map.offset += where.begin[d] * all.strides[d];
            tape positions;
            positions.push_position(map);
            const target to{&into, &positions};
            assign({&to, 1}, std::move(values[k]));
        }
    }

    std::vector<stencil_piece> pieces_;
};

}  // namespace

stencil_inputs::stencil_inputs(std::initializer_list<selection> list)
    : box_(box_of(list.begin()->where)), arrays_(list) {
    for (const selection& each : arrays_)
        if (box_of(each.where) != box_)
            throw usage_error(
                fmt::format("a stencil reads arrays of {} and of {}; their extents must be equal",
                            to_string(box_), to_string(box_of(each.where))));
}

tape stencil_inputs::neighbour(std::size_t array, const region& where, border beyond,
                               std::span<const std::int64_t> offset) {
    const int dimensions = box_.dimensions();
    if (offset.size() != static_cast<std::size_t>(dimensions))
        throw usage_error(
            fmt::format("a neighbour is asked for with {} offsets in an array of {}, which has {} "
                        "dimensions",
                        offset.size(), to_string(box_), dimensions));
    bool is_inside = true;
    std::vector<slice_part> parts;
    for (int d = 0; d < dimensions; ++d) {
        const auto at = static_cast<std::size_t>(d);
        constexpr std::int64_t farthest = shape::max_elements;
        if (offset[at] < -farthest || offset[at] > farthest)
            throw usage_error(
                fmt::format("a neighbour is {} elements away along dimension {}", offset[at], d));
        ahead_[at] = std::max(ahead_[at], -offset[at]);
        behind_[at] = std::max(behind_[at], offset[at]);
        is_inside = is_inside && !is_beyond(box_, where, d, offset[at]);
        const std::int64_t first = where.begin[at] + offset[at];
        parts.push_back(slice(first, first + extent(where.extents, d)));
    }
    if (is_inside) return read(sliced(arrays_[array], parts));
    const affine_map all = row_major(box_);
    std::optional<expr<std::int64_t>> position;
    for (int d = 0; d < dimensions; ++d) {
        const auto at = static_cast<std::size_t>(d);
        auto index = index_along(where, d) + offset[at];
        if (is_beyond(box_, where, d, offset[at]))
            index = brought_back(std::move(index), extent(box_, d), beyond);
        auto own = std::move(index) * all.strides[at];
        position = position ? std::move(*position) + std::move(own) : std::move(own);
    }
    return read(picked(arrays_[array], std::move(*position).tape()));
}

std::optional<tape> stencil_inputs::is_within(const region& where,
                                              std::span<const std::int64_t> offset) const {
    std::optional<expr<bool>> all;
    for (int d = 0; d < box_.dimensions(); ++d) {
        const std::int64_t by = offset[static_cast<std::size_t>(d)];
        if (!is_beyond(box_, where, d, by)) continue;
        const auto index = index_along(where, d) + by;
        auto own = index >= 0 && index < extent(box_, d);
        all = all ? std::move(*all) && std::move(own) : std::move(own);
    }
    if (!all) return std::nullopt;
    return std::move(*all).tape();
}

tape stencil_inputs::coordinate(const region& where, int dimension) const {
    if (dimension < 0 || dimension >= box_.dimensions())
        throw usage_error(
            fmt::format("a stencil asks for the coordinate along dimension {} of {}, whose "
                        "dimensions are 0 to {}",
                        dimension, to_string(box_), box_.dimensions() - 1));
    return index_along(where, dimension).tape();
}

/// The slabs of a dimension leave out the elements of those before it, as the rest does of all.
std::vector<region> stencil_inputs::regions() const {
    std::vector<region> made;
    const int dimensions = box_.dimensions();
    std::array<std::size_t, shape::max_dimensions> sizes{};
    for (int d = 0; d < dimensions; ++d) sizes[static_cast<std::size_t>(d)] = box_[d];
    region rest{box_, {}};
    const auto add = [&](region each) {
        each.extents = shape(std::span(sizes).first(static_cast<std::size_t>(dimensions)));
        if (each.extents.count() > 0) made.push_back(each);
    };
    for (int d = 0; d < dimensions; ++d) {
        const auto at = static_cast<std::size_t>(d);
        const std::int64_t size = extent(box_, d), low = std::min(ahead_[at], size),
                           high = std::max(size - behind_[at], low);
        region slab = rest;
        sizes[at] = static_cast<std::size_t>(low);
        add(slab);
        slab.begin[at] = high;
        sizes[at] = static_cast<std::size_t>(size - high);
        add(slab);
        rest.begin[at] = low;
        sizes[at] = static_cast<std::size_t>(high - low);
    }
    add(rest);
    return made;
}

tape stencil_inputs::computed(trace::type type, const std::function<tape(const region&)>& value) {
    const tape probe = value({box_, {}});  // how far it reads
    check_is_of_neighbours(probe);
    std::vector<stencil_piece> pieces;
    for (const region& each : regions()) pieces.push_back({each, value(each)});
    tape p;
    p.push_produced(
        std::make_shared<stencil_producer>(box_, type, vector_near(arrays_[0].of, type), std::move(pieces)));
    return p;
}

}  // namespace balm::array
