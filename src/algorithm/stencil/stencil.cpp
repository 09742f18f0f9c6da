// Stencils as leaves of expressions, in two assignments. One computes the elements whose neighbours are all
// inside: it reads views shifted by constants, so that its kernel loads in tiles (ir/lower/tile.cpp). The
// other computes a list of the elements along the border, whose neighbours' indices are mapped back into the
// array. Over several devices the list has only the first and the last rows; further assignments compute the
// rest of the border, each at an index of it, so that they, too, read shifted views.

#include "balm/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "array/layout.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "array/vector_state.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

std::int64_t extent(const shape& box, int dimension) { return static_cast<std::int64_t>(box[dimension]); }

expr<std::int64_t> index_along(const region& where, int dimension) {
    if (!where.coordinates.empty()) return where.coordinates[static_cast<std::size_t>(dimension)];
    affine_map map{where.extents, {}, where.begin[static_cast<std::size_t>(dimension)]};
    map.strides[static_cast<std::size_t>(dimension)] = 1;
    tape p;
    p.push_position(map);
    return expr<std::int64_t>(std::move(p));
}

/// Whether some elements of a region, shifted along a dimension, may be beyond either end.
bool is_beyond(const shape& box, const region& where, int dimension, std::int64_t offset) {
    if (!where.coordinates.empty()) return offset != 0;
    const std::int64_t first = where.begin[static_cast<std::size_t>(dimension)] + offset;
    return first < 0 || first + extent(where.extents, dimension) > extent(box, dimension);
}

/// The remainder with the divisor's sign.
std::int64_t wrapped(std::int64_t index, std::int64_t count) {
    const std::int64_t rest = index % count;
    return rest < 0 ? rest + count : rest;
}
expr<std::int64_t> wrapped(expr<std::int64_t> index, std::int64_t count) {
    auto rest = std::move(index) % count;
    return select(rest < 0, rest + count, rest);
}
template <class Index>
Index brought_back(Index index, std::int64_t count, border beyond) {
    using std::clamp, std::min;
    switch (beyond) {
        case border::wrap: return wrapped(std::move(index), count);
        case border::mirror: {
            const Index rest = wrapped(std::move(index), 2 * count);
            return min(rest, Index(2 * count - 1 - rest));
        }
        default: return clamp(std::move(index), std::int64_t{0}, count - 1);
    }
}

/// Throws usage_error if the tape reads an array at the element's own index, which differs between the
/// regions.
void check_is_of_neighbours(const tape& p) {
    int depth = 0;
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (depth > 0 || (s.what != step::kind::vector && s.what != step::kind::index)) continue;
        throw usage_error(s.what == step::kind::vector
                              ? "the function of a stencil uses an array that it captures; pass the array to "
                                "balm::stencil and take it as a parameter"
                              : "the function of a stencil uses element_index(); use u.coordinate(dimension) "
                                "of one of its parameters instead");
    }
}

/// The elements of a box that are not in a region of it, as a list. Those at both ends of the first dimension
/// come first, with all other coordinates; then those at the ends of the second one that are not among them …
///
/// Every extent is a scalar of the expressions, so that boxes of other extents share a kernel.
class border_list {
public:
    border_list(const shape& box, const region& inner) {
        const auto n = [&](int e) { return extent(box, e); };
        const auto between = [&](int e) { return extent(inner.extents, e); };
        const int dimensions = box.dimensions();
        std::vector<std::int64_t> first;  // of each dimension
        for (int d = 0; d < dimensions; ++d) {
            first.push_back(static_cast<std::int64_t>(count_));
            std::int64_t own = n(d) - between(d);
            for (int e = 0; e < dimensions; ++e)
                if (e != d) own *= e < d ? between(e) : n(e);
            count_ += static_cast<std::size_t>(own);
        }
        const expr<std::int64_t> i = element_index(0, count_);
        expr<std::int64_t> rest = i;
        for (int d = 1; d < dimensions; ++d)
            rest = select(i < first[static_cast<std::size_t>(d)], std::move(rest),
                          i - first[static_cast<std::size_t>(d)]);
        rest = kept(std::move(rest));
        // Coordinate e of the elements of dimension e itself ranges over both ends, of those of later
        // dimensions over what is between them, of those of earlier ones over everything.
        const auto of_kind = [&](int e, const expr<std::int64_t>& all, const expr<std::int64_t>& ends,
                                 const expr<std::int64_t>& inside) {
            const auto at = static_cast<std::size_t>(e);
            expr<std::int64_t> own = ends;
            if (e + 1 < dimensions) own = select(i < first[at + 1], std::move(own), inside);
            if (e > 0) own = select(i < first[at], all, std::move(own));
            return own;
        };
        for (int e = dimensions; e-- > 0;) {
            const std::int64_t low = inner.begin[static_cast<std::size_t>(e)];
            expr<std::int64_t> at = rest;
            if (e > 0) {
                const expr<std::int64_t> own =
                    kept(of_kind(e, number(n(e)), number(n(e) - between(e)), number(between(e))));
                at = kept(rest % own);
                rest = kept(rest / own);
            }
            coordinates_.push_back(kept(of_kind(e, at, select(at < low, at, at + between(e)), at + low)));
        }
        std::reverse(coordinates_.begin(), coordinates_.end());
    }
    std::size_t count() const { return count_; }
    region where() const { return {shape(count_), {}, coordinates_}; }
    /// A value computed from the coordinates, with the steps that compute these.
    tape complete(tape&& value, trace::type type) const {
        tape list = list_;
        list.append(std::move(value));
        for (std::size_t k = 0; k < kept_; ++k) list.push_within(type);
        return list;
    }

private:
    static expr<std::int64_t> number(std::int64_t value) {
        tape p;
        p.push_value(step::kind::scalar, scalar::i64, static_cast<std::uint64_t>(value));
        return expr<std::int64_t>(std::move(p));
    }
    expr<std::int64_t> kept(expr<std::int64_t> value) {
        list_.append(std::move(value).tape());
        tape name;
        name.size = static_cast<std::int64_t>(count_);
        name.push_kept(scalar::i64, list_.push_keep(scalar::i64));
        ++kept_;
        return expr<std::int64_t>(std::move(name));
    }

    std::size_t count_ = 0, kept_ = 0;
    tape list_;
    std::vector<expr<std::int64_t>> coordinates_;
};

struct stencil_piece {
    tape value;
    tape positions;  ///< where its elements are
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
        for (const stencil_piece& each : pieces_)
            if (reads(each.value, into)) return false;
        write(into);
        return true;
    }

private:
    void write(vector_state& into) const {
        std::vector<tape> values;
        for (const stencil_piece& each : pieces_) values.push_back(each.value);
        materialise(values);
        for (std::size_t k = 0; k < pieces_.size(); ++k) {
            const target to{&into, &pieces_[k].positions};
            assign({&to, 1}, std::move(values[k]));
        }
    }

    std::vector<stencil_piece> pieces_;
};

/// The first and the last rows of a view, as many as `extents` has: rows of the first dimension.
class ends_producer : public producer {
public:
    ends_producer(const selection& of, const shape& extents)
        : producer(extents, of.of.vectors[0]->type(), of.of.vectors[0]), of_(of) {}

    std::shared_ptr<vector_state> compute() const override {
        auto made = make_like(*near(), type(), extents().count());
        tape all;
        all.push_vector(made);
        const selection to = viewed(std::move(all), extents());
        const std::int64_t both = extent(extents(), 0), n = extent(box_of(of_.where), 0);
        std::vector<slice_part> target(static_cast<std::size_t>(extents().dimensions())), source = target;
        for (const bool at_end : {false, true}) {
            target[0] = at_end ? slice(both / 2, both) : slice(0, both / 2);
            source[0] = at_end ? slice(n - both / 2, n) : slice(0, both / 2);
            assign(sliced(to, target), read(sliced(of_, source)));
        }
        return made;
    }
    bool compute_into(vector_state&) const override { return false; }

private:
    selection of_;
};

/// Vectors over several devices with fewer elements are copied as a whole to the border's kernel.
constexpr std::size_t least_with_ends = std::size_t{1} << 16;
/// Each is a kernel.
constexpr std::size_t most_sides = 32;

/// The border of the dimensions behind the first one, in rows of `inner`: an index of the border, or all that
/// are inside, in each dimension. Empty if these are too many.
std::optional<std::vector<region>> sides_of(const shape& box, const region& inner) {
    struct side {
        std::vector<std::size_t> extents;
        region at;
    };
    std::vector<side> list{{{inner.extents[0]}, inner}};
    for (int d = 1; d < box.dimensions(); ++d) {
        const auto dimension = static_cast<std::size_t>(d);
        const std::int64_t low = inner.begin[dimension], high = low + extent(inner.extents, d);
        std::vector<side> finer;
        for (const side& each : list) {
            const auto add = [&](std::int64_t begin, std::int64_t count) {
                if (count == 0 || finer.size() > most_sides) return;
                finer.push_back(each);
                finer.back().extents.push_back(static_cast<std::size_t>(count));
                finer.back().at.begin[dimension] = begin;
            };
            add(low, high - low);  // first, so that the list begins with what is inside in all dimensions
            for (std::int64_t index = 0; index < low && finer.size() <= most_sides; ++index) add(index, 1);
            for (std::int64_t index = high; index < extent(box, d) && finer.size() <= most_sides; ++index)
                add(index, 1);
        }
        list = std::move(finer);
    }
    if (list.size() > most_sides) return std::nullopt;
    std::vector<region> sides;
    for (side& each : list) {
        each.at.extents = shape(each.extents);
        if (each.at.extents != inner.extents || each.at.begin != inner.begin) sides.push_back(each.at);
    }
    return sides;
}

/// The positions of a region's elements in a box.
tape positions_of(const region& where, const shape& box) {
    affine_map map{where.extents, row_major(box).strides, 0};
    for (std::size_t d = 0; d < map.strides.size(); ++d) map.offset += where.begin[d] * map.strides[d];
    tape p;
    p.push_position(map);
    return p;
}

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
        throw usage_error(fmt::format("a neighbour has {} offsets in an array of {}, which has {} dimensions",
                                      offset.size(), to_string(box_), dimensions));
    bool is_inside = where.coordinates.empty();
    std::vector<slice_part> parts;
    for (int d = 0; d < dimensions; ++d) {
        const auto at = static_cast<std::size_t>(d);
        constexpr std::int64_t farthest = shape::max_elements;
        if (offset[at] < -farthest || offset[at] > farthest)
            throw usage_error(fmt::format(
                "a neighbour is {} elements away along dimension {}; the distance may be at most 2^62",
                offset[at], d));
        ahead_[at] = std::max(ahead_[at], -offset[at]);
        behind_[at] = std::max(behind_[at], offset[at]);
        std::int64_t first = where.begin[at] + offset[at];
        const bool is_one = where.coordinates.empty() && extent(where.extents, d) == 1;
        if (is_one) first = brought_back(first, extent(box_, d), beyond);
        is_inside = is_inside && (is_one || !is_beyond(box_, where, d, offset[at]));
        parts.push_back(slice(first, first + extent(where.extents, d)));
    }
    if (is_inside) return read(sliced(arrays_[array], parts));
    const affine_map all = row_major(box_);
    std::optional<expr<std::int64_t>> position;
    for (int d = 0; d < dimensions; ++d) {
        const auto at = static_cast<std::size_t>(d);
        auto index = index_along(where, d);
        if (offset[at] != 0) index = std::move(index) + offset[at];
        if (is_beyond(box_, where, d, offset[at]))
            index = brought_back(std::move(index), extent(box_, d), beyond);
        auto own = std::move(index) * all.strides[at];
        position = position ? std::move(*position) + std::move(own) : std::move(own);
    }
    if (!where.coordinates.empty() && array < ends_.size() && ends_[array]) {
        const std::int64_t row = all.strides[0], both = extent(box_of(ends_[array]->where), 0);
        const expr<std::int64_t> at = std::move(*position);
        position = at - select(at < both / 2 * row, std::int64_t{0}, (extent(box_, 0) - both) * row);
        return read(picked(*ends_[array], std::move(*position).tape()));
    }
    return read(picked(arrays_[array], std::move(*position).tape()));
}

/// Elements in the first rows and the last ones read only rows less than ahead + behind from either end.
/// These, if they are few, are copied to each device instead of whole vectors.
bool stencil_inputs::find_ends() {
    const std::int64_t few = extent(box_, 0) / 8;
    if (box_.count() < least_with_ends || ahead_[0] > few || behind_[0] > few) return false;
    std::vector<std::size_t> rows{2 * static_cast<std::size_t>(ahead_[0] + behind_[0])};
    if (rows[0] == 0) return true;
    for (int d = 1; d < box_.dimensions(); ++d) rows.push_back(box_[d]);
    for (const selection& each : arrays_) {
        const bool is_vector = each.of.steps.size() == 1 && each.of.steps[0].what == step::kind::vector;
        ends_.emplace_back();
        if (!is_vector || !each.of.produced.empty() || !each.of.vectors[0]->is_spread()) continue;
        tape ends;
        ends.push_produced(std::make_shared<ends_producer>(each, shape(rows)));
        ends_.back() = viewed(std::move(ends), shape(rows));
    }
    return true;
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
        throw usage_error(fmt::format(
            "a stencil cannot use the coordinate along dimension {} of {}, whose dimensions are 0 to {}",
            dimension, to_string(box_), box_.dimensions() - 1));
    return index_along(where, dimension).tape();
}

/// The elements whose neighbours are all inside; may be empty.
region stencil_inputs::inner_region() const {
    region inner;
    std::array<std::size_t, shape::max_dimensions> sizes{};
    for (int d = 0; d < box_.dimensions(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        const std::int64_t size = extent(box_, d), low = std::min(ahead_[at], size);
        inner.begin[at] = low;
        sizes[at] = static_cast<std::size_t>(std::max(size - behind_[at], low) - low);
    }
    inner.extents = shape(std::span(sizes).first(static_cast<std::size_t>(box_.dimensions())));
    return inner;
}

/// All elements of the rows of a region.
region stencil_inputs::rows_of(const region& where) const {
    std::vector<std::size_t> extents{where.extents[0]};
    for (int d = 1; d < box_.dimensions(); ++d) extents.push_back(box_[d]);
    return {shape(extents), {where.begin[0]}};
}

tape stencil_inputs::computed(trace::type type, balm::detail::function_ref<tape(const region&)> value) {
    const tape probe = value({box_, {}});  // finds how far it reads
    check_is_of_neighbours(probe);
    std::vector<stencil_piece> pieces;
    const auto add = [&](const region& where) {
        if (where.extents.count() > 0) pieces.push_back({value(where), positions_of(where, box_)});
    };
    const region inner = inner_region();
    region rows = inner;  // what no list of the border contains
    std::optional<std::vector<region>> sides;
    const bool are_spread =
        std::any_of(arrays_.begin(), arrays_.end(), [](const auto& each) { return is_spread(each.of); });
    if (are_spread) sides = sides_of(box_, inner);
    const bool has_sides = sides && find_ends();
    if (has_sides) rows = rows_of(inner);
    // Over several devices the border comes first: what it copies between them then waits for no large
    // kernel. On one device it comes last: in a recording, the inner elements of two stencils can share a
    // kernel.
    if (!are_spread) add(inner);
    const border_list border(box_, rows);
    if (border.count() > 0) {
        const affine_map all = row_major(box_);
        const region where = border.where();
        auto position = where.coordinates[0] * all.strides[0];
        for (std::size_t d = 1; d < where.coordinates.size(); ++d)
            position = std::move(position) + where.coordinates[d] * all.strides[d];
        pieces.push_back(
            {border.complete(value(where), type), border.complete(std::move(position).tape(), scalar::i64)});
    }
    if (has_sides)
        for (const region& side : *sides) add(side);
    if (are_spread) add(inner);
    tape p;
    p.push_produced(
        std::make_shared<stencil_producer>(box_, type, vector_near(arrays_[0].of, type), std::move(pieces)));
    return p;
}

}  // namespace balm::array
