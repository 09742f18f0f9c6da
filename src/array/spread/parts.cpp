// A piece counts from its own first element: indices and affine positions are shifted, and vectors are
// replaced by their elements on the device, or by copies.

#include "array/spread/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "array/layout.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/partition.hpp"
#include "balm/buffer.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

/// Elements of a vector on one device, as memory.
balm::detail::memory_part memory_of(const vector_state& v, std::size_t first, std::size_t count) {
    return {v.memory(), v.element_size(), shape(count), v.offset() + first * v.element_size(), 0,
            0,          "a vector"};
}

void copy_on_devices(const balm::detail::memory_part& to, const balm::detail::memory_part& from) {
    if (to.memory == from.memory || &to.memory->device() != &from.memory->device())
        balm::detail::part_copy(to, from, {});
    else
        to.memory->device().default_queue().enqueue_copy(*to.memory, to.offset, *from.memory, from.offset,
                                                         to.extents.count() * to.element_size);
}

/// Appends the boxes that make up elements [first, last) of a box, in row-major order, to the list.
void add_boxes(const shape& box, int dimension, std::size_t first, std::size_t last,
               std::vector<std::size_t>& outer, std::vector<box_part>& list) {
    if (first >= last) return;
    std::size_t inner = 1;  // elements for each position of this dimension
    for (int d = dimension + 1; d < box.dimensions(); ++d) inner *= box[d];
    const auto add = [&](std::size_t from, std::size_t count) {
        box_part p{outer, std::vector<std::size_t>(outer.size(), 1)};
        p.origin.push_back(from);
        p.extents.push_back(count);
        for (int d = dimension + 1; d < box.dimensions(); ++d) {
            p.origin.push_back(0);
            p.extents.push_back(box[d]);
        }
        list.push_back(std::move(p));
    };
    const auto inside = [&](std::size_t position, std::size_t from, std::size_t to) {
        outer.push_back(position);
        add_boxes(box, dimension + 1, from, to, outer, list);
        outer.pop_back();
    };
    std::size_t begin = first / inner;
    const std::size_t end = last / inner;
    if (first % inner != 0) {
        const std::size_t stop = std::min(last - begin * inner, inner);
        inside(begin, first % inner, stop);
        ++begin;
    }
    if (begin < end) add(begin, end - begin);
    if (last % inner != 0 && end >= begin) inside(end, 0, last % inner);
}

/// The box whose parts are computed: flat unless the tape has views of several dimensions.
shape box_for(const tape& p, const shape& box) { return p.box < 0 ? shape(box.count()) : box; }
std::vector<box_part> parts_of(const shape& box, std::size_t first, std::size_t count) {
    std::vector<box_part> list;
    std::vector<std::size_t> outer;
    add_boxes(box, 0, first, first + count, outer, list);
    return list;
}

/// The positions of a part's elements, which are contiguous in a vector from `base` on.
affine_map from(std::size_t base, const shape& part) {
    affine_map map = row_major(part);
    map.offset = static_cast<std::int64_t>(base);
    return map;
}

/// A map of a box, for a part of it only.
affine_map restricted(const affine_map& whole, const box_part& part) {
    affine_map map{shape(part.extents), whole.strides, whole.offset};
    for (std::size_t d = 0; d < part.origin.size(); ++d)
        map.offset += static_cast<std::int64_t>(part.origin[d]) * whole.strides[d];
    return map;
}

/// Whether a position at step k is that of one vector's elements only, so that a range of them suffices.
bool is_of_one_vector(const tape& p, std::size_t k) {
    return p.steps[k].what == step::kind::position && k + 3 < p.steps.size() &&
           p.steps[k + 1].what == step::kind::at && p.steps[k + 2].what == step::kind::vector &&
           p.steps[k + 3].what == step::kind::end;
}

/// Calls f(vector, map, whether at their own index) for each vector that the part's elements read at an
/// affine position or at their own index.
template <class F>
void for_each_affine_read(const tape& p, const shape& box, const box_part& part, F&& f) {
    int depth = 0;
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        if (depth == 0 && is_of_one_vector(p, k))
            f(p.vectors[p.steps[k + 2].leaf], restricted(*reshaped(p.maps[s.leaf], box), part), false);
        else if (depth == 0 && s.what == step::kind::vector)
            f(p.vectors[s.leaf], restricted(row_major(box), part), true);
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
    }
}

/// Indices of a dimension.
struct index_range {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return std::max<std::int64_t>(end - begin, 0); }
};

/// The indices of a dimension of a map whose positions are all (or, with `any`, some) from `first` on and
/// before `last`.
index_range indices_within(const affine_map& map, int dimension, std::size_t first, std::size_t last,
                           bool any) {
    const std::int64_t extent = static_cast<std::int64_t>(map.box[dimension]);
    const std::int64_t stride = map.strides[static_cast<std::size_t>(dimension)];
    auto [low, high] = range_of(map);  // then of index 0
    (stride < 0 ? low : high) -= (extent - 1) * stride;
    // Of index r: least <= r * stride <= most.
    std::int64_t least = static_cast<std::int64_t>(first) - (any ? high : low);
    std::int64_t most = static_cast<std::int64_t>(last) - 1 - (any ? low : high);
    if (stride == 0) return {0, least <= 0 && most >= 0 ? extent : 0};
    if (stride < 0) least = -std::exchange(most, -least);
    const std::int64_t step = std::abs(stride);
    const auto up = [&](std::int64_t value) { return value > 0 ? (value - 1) / step + 1 : value / step; };
    return {std::clamp<std::int64_t>(up(least), 0, extent),
            std::clamp<std::int64_t>(up(most + 1), 0, extent)};
}

/// The first dimension of more than one element; 0 if there is none.
int outermost(const box_part& part) {
    const auto found = std::find_if(part.extents.begin(), part.extents.end(), [](auto n) { return n > 1; });
    return found == part.extents.end() ? 0 : static_cast<int>(found - part.extents.begin());
}

box_part rows_of(box_part part, int dimension, index_range rows) {
    const auto d = static_cast<std::size_t>(dimension);
    part.origin[d] += static_cast<std::size_t>(rows.begin);
    part.extents[d] = static_cast<std::size_t>(rows.count());
    return part;
}

/// As many elements as cost hardly more than the command that copies or computes them.
constexpr std::size_t few_elements = std::size_t{1} << 16;

/// Reads a vector from element `base` on.
void push_shifted(tape& p, const step& vector, const shape& part, std::size_t base) {
    step s;
    s.what = step::kind::position;
    s.type = scalar::i64;
    s.leaf = static_cast<std::uint16_t>(p.maps.size());
    p.maps.push_back(from(base, part));
    p.push(s);
    s = {};
    s.what = step::kind::at;
    s.arity = 1;
    p.push(s);
    p.push(vector);
    s = {};
    s.what = step::kind::end;
    p.push(s);
}

}  // namespace

tape positions_from(std::size_t base, const shape& part) {
    tape p;
    p.push_position(from(base, part));
    return p;
}

bool is_spread(const tape& p) {
    if (p.vectors.empty()) return p.near && p.near->is_spread();
    return std::any_of(p.vectors.begin(), p.vectors.end(), [](const auto& v) { return v->is_spread(); });
}

bool are_on_same_devices(const vector_state& a, const vector_state& b) {
    const auto is_same = [](const vector_state::part& x, const vector_state::part& y) {
        return &x.elements->device() == &y.elements->device();
    };
    return &a.device() == &b.device() &&
           std::equal(a.parts().begin(), a.parts().end(), b.parts().begin(), b.parts().end(), is_same);
}

void compare_devices(const vector_state& a, const vector_state& b, const tape* of) {
    if (are_on_same_devices(a, b)) return;
    const auto words = [](const vector_state& v) {
        std::string text;
        for (const vector_state::part& p : v.parts())
            text += (text.empty() ? "" : ", ") + p.elements->device().words();
        return text.empty() ? v.device().words() : text;
    };
    throw usage_error(fmt::format(
        "an expression combines a vector on {} with one on {}; vectors of one "
        "context lie on the same devices{}{}",
        words(a), words(b), of != nullptr ? ": " : "", of != nullptr ? with_extents(*of, true) : ""));
}

void copy_elements(vector_state& to, std::size_t to_first, const vector_state& from, std::size_t from_first,
                   std::size_t count) {
    for_each_part(
        to, to_first, count,
        [&](const vector_state& target, std::size_t at, std::size_t n, std::size_t done) {
            for_each_part(
                from, from_first + done, n,
                [&](const vector_state& source, std::size_t from_at, std::size_t some, std::size_t moved) {
                    copy_on_devices(memory_of(target, at + moved, some), memory_of(source, from_at, some));
                });
        });
}

void copy_elements(runtime::queue_state& queue, vector_state& to, std::size_t to_first,
                   const vector_state& from, std::size_t from_first, std::size_t count) {
    const std::size_t bytes = to.element_size();
    queue.enqueue_copy(*to.memory(), to.offset() + to_first * bytes, *from.memory(),
                       from.offset() + from_first * bytes, count * bytes);
}

share share_of(const vector_state::part& p) {
    return {p.elements->device_handle(), p.first, p.elements->size()};
}

std::vector<share> shares_of(const vector_state& v) {
    std::vector<share> list;
    for (const vector_state::part& p : v.parts()) list.push_back(share_of(p));
    return list;
}

std::vector<share> shares_of(const vector_state& model, std::size_t size) {
    std::vector<share> list = shares_of(model);
    if (size == model.size()) return list;
    std::vector<double> weights(model.weights().begin(), model.weights().end());
    if (weights.empty())
        for (const share& each : list) weights.push_back(bandwidth_of(each.device));
    const std::vector<std::size_t> first = partition(size, weights);
    for (std::size_t k = 0; k < list.size(); ++k) {
        list[k].first = first[k];
        list[k].count = first[k + 1] - first[k];
    }
    return list;
}

std::shared_ptr<vector_state> make_like(const vector_state& model, trace::type type, std::size_t size) {
    if (!model.is_spread()) return std::make_shared<vector_state>(model.device_handle(), type, size);
    std::vector<vector_state::part> parts;
    for (const share& each : shares_of(model, size))
        parts.push_back({each.first, std::make_shared<vector_state>(each.device, type, each.count)});
    return std::make_shared<vector_state>(std::move(parts), type, size,
                                          std::vector(model.weights().begin(), model.weights().end()));
}

std::shared_ptr<vector_state> reinterpreted(const vector_state& v, trace::type type, std::size_t alignment) {
    const std::size_t element_size = trace::size_of(type);
    const auto over = [&](const vector_state& part) {
        const balm::detail::memory_part as =
            balm::detail::part_as(memory_of(part, 0, part.size()), element_size, alignment);
        return std::make_shared<vector_state>(as.memory, type, as.extents.count(), as.offset);
    };
    if (!v.is_spread()) return over(v);
    std::vector<vector_state::part> parts;
    for (const vector_state::part& p : v.parts())
        parts.push_back({p.first * v.element_size() / element_size, over(*p.elements)});
    return std::make_shared<vector_state>(std::move(parts), type, v.size() * v.element_size() / element_size,
                                          std::vector(v.weights().begin(), v.weights().end()));
}

bool is_vector(const tape& p, trace::type type) {
    return p.steps.size() == 1 && p.steps[0].what == step::kind::vector && p.vectors[0]->type() == type;
}
std::shared_ptr<vector_state> as_vector(const tape& p, trace::type type, std::size_t size,
                                        const vector_state& model) {
    if (is_vector(p, type)) return p.vectors[0];
    auto made = make_like(model, type, size);
    assign(*made, tape(p));
    return made;
}

std::vector<balm::detail::memory_part> memory_of(const vector_state& v) {
    std::vector<balm::detail::memory_part> list;
    if (!v.is_spread()) list.push_back(memory_of(v, 0, v.size()));
    for (const vector_state::part& p : v.parts())
        list.push_back(memory_of(*p.elements, 0, p.elements->size()));
    return list;
}

const std::shared_ptr<runtime::storage>& storage_of(const vector_state& v) {
    if (v.is_spread())
        throw usage_error(
            fmt::format("a vector that is spread over {} devices has no single memory; x.parts() returns "
                        "that of each device",
                        v.parts().size()));
    return v.memory();
}

localizer::local_elements localizer::here(const std::shared_ptr<vector_state>& v, std::size_t first,
                                          std::size_t count) {
    if (!v->is_spread() && &v->device() == device_.get()) return {v, first};
    for (const vector_state::part& p : v->parts())
        if (&p.elements->device() == device_.get() && p.first <= first &&
            first + count <= p.first + p.elements->size())
            return {p.elements, first - p.first};
    for (const copy_made& known : copies_)
        if (known.of == v && known.first == first && known.count == count) return {known.copy, 0};
    auto made = std::make_shared<vector_state>(device_, v->type(), count);
    copy_elements(*made, 0, *v, first, count);
    copies_.push_back({v, first, count, made});
    return {made, 0};
}

/// Overlapping ranges, such as those of shifted views, are one, so that they are copied once and the kernel
/// reads one vector. Ranges of which one may be on the device already stay apart unless they are small.
localizer::range_list localizer::ranges_read(const tape& p, const shape& box, const box_part& part) {
    range_list list;
    for_each_affine_read(p, box, part, [&](const auto& v, const affine_map& map, bool is_at_own_index) {
        if (is_at_own_index) return;
        const auto [low, high] = range_of(map);
        list.push_back({v.get(), static_cast<std::size_t>(low), static_cast<std::size_t>(high) + 1});
    });
    std::sort(list.begin(), list.end(), [](const range_read& a, const range_read& b) {
        return std::tie(a.of, a.begin, b.end) < std::tie(b.of, b.begin, a.end);
    });
    range_list joined;
    for (const range_read& each : list) {
        if (!joined.empty() && joined.back().of == each.of) {
            range_read& last = joined.back();
            const std::size_t all = std::max(last.end, each.end) - last.begin;
            const std::size_t longer = std::max(last.end - last.begin, each.end - each.begin);
            if (all <= few_elements || all <= longer + longer / 2) {
                last.end = last.begin + all;
                continue;
            }
        }
        joined.push_back(each);
    }
    return joined;
}

piece localizer::localized(const tape& p, const shape& box, const box_part& of) {
    if (!p.images.empty())
        throw usage_error(
            "an expression reads an image, which is on one device, but its vectors are spread over several");
    if (p.writes_memory)
        throw usage_error(
            "a function in an expression writes memory, but the expression's vectors are spread over several "
            "devices; launch a kernel on each part: x.parts()");
    const shape part(of.extents);
    const auto first = static_cast<std::size_t>(restricted(row_major(box), of).offset);
    const range_list ranges = ranges_read(p, box, of);
    tape local = p;
    local.steps = {};
    local.size = static_cast<std::int64_t>(part.count());
    if (p.near) local.near = std::make_shared<vector_state>(device_, scalar::u8, 0);
    int depth = 0;
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        step s = p.steps[k];
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what == step::kind::index && depth == 0) {
            s.bits += first;
            s.detail = s.bits % 4 == 0;
        } else if (s.what == step::kind::position && depth == 0) {
            affine_map& map = local.maps[s.leaf];
            map = restricted(*reshaped(map, box), of);
            if (is_of_one_vector(p, k)) {
                std::shared_ptr<vector_state>& v = local.vectors[p.steps[k + 2].leaf];
                const auto [low, high] = range_of(map);
                const range_read own{v.get(), static_cast<std::size_t>(low),
                                     static_cast<std::size_t>(high) + 1};
                const range_read& range = *std::find_if(ranges.begin(), ranges.end(), [&](const auto& r) {
                    return r.of == own.of && r.begin <= own.begin && own.end <= r.end;
                });
                const local_elements found = here(v, range.begin, range.end - range.begin);
                map.offset += static_cast<std::int64_t>(found.base) - static_cast<std::int64_t>(range.begin);
                v = found.vector;
                for (std::size_t next = 0; next < 3; ++next) local.push(p.steps[k + next]);
                k += 2;
                ++depth;
                continue;
            }
        } else if (s.what == step::kind::vector && depth == 0) {
            std::shared_ptr<vector_state>& v = local.vectors[s.leaf];
            const local_elements found = here(v, first, part.count());
            v = found.vector;
            if (found.base > 0) {
                push_shifted(local, s, part, found.base);
                continue;
            }
        } else if (s.what == step::kind::vector || s.what == step::kind::memory) {
            std::shared_ptr<vector_state>& v = local.vectors[s.leaf];
            v = here(v, 0, v->size()).vector;
        }
        local.push(s);
    }
    return {std::move(local), part, first};
}

std::vector<box_part> localizer::divided(const tape& p, const shape& box, const box_part& part) const {
    const int dimension = outermost(part);
    const auto rows = static_cast<std::int64_t>(part.extents[static_cast<std::size_t>(dimension)]);
    index_range inside{0, rows};
    std::size_t longest = 0;  // of the ranges read
    for_each_affine_read(p, box, part, [&](const auto& v, const affine_map& map, bool) {
        const auto [low, high] = range_of(map);
        longest = std::max(longest, static_cast<std::size_t>(high - low) + 1);
        index_range most;
        for (const vector_state::part& own : v->parts()) {
            if (&own.elements->device() != device_.get()) continue;
            const index_range found =
                indices_within(map, dimension, own.first, own.first + own.elements->size(), false);
            if (found.count() > most.count()) most = found;
        }
        if (v->is_spread()) inside = {std::max(inside.begin, most.begin), std::min(inside.end, most.end)};
    });
    if (longest < few_elements || inside.count() == rows || inside.count() < rows / 2) return {part};
    std::vector<box_part> list{rows_of(part, dimension, inside)};
    if (inside.begin > 0) list.push_back(rows_of(part, dimension, {0, inside.begin}));
    if (inside.end < rows) list.push_back(rows_of(part, dimension, {inside.end, rows}));
    return list;
}

std::vector<piece> localizer::pieces(const tape& p, const shape& box, std::size_t first, std::size_t count) {
    const shape of = box_for(p, box);
    std::vector<piece> list;
    for (const box_part& part : parts_of(of, first, count)) list.push_back(localized(p, of, part));
    return list;
}

std::vector<piece> localizer::launches(const tape& p, const shape& box, std::size_t first,
                                       std::size_t count) {
    const shape of = box_for(p, box);
    std::vector<piece> list;
    for (const box_part& part : parts_of(of, first, count))
        for (const box_part& each : divided(p, of, part)) list.push_back(localized(p, of, each));
    return list;
}

std::vector<piece> localizer::launches_within(const tape& p, const shape& box, const affine_map& where,
                                              std::size_t first, std::size_t count) {
    box_part part = parts_of(box, 0, box.count())[0];
    // Only rows of the outermost dimension are contiguous in a vector that is read at their own index.
    const int last = asks_for_flat_index(p) ? outermost(part) : box.dimensions() - 1;
    for (int d = 0; d <= last; ++d) {
        part = rows_of(part, d, indices_within(restricted(where, part), d, first, first + count, true));
        if (shape(part.extents).count() == 0) return {};
    }
    std::vector<piece> list;
    for (const box_part& each : divided(p, box, part)) list.push_back(localized(p, box, each));
    return list;
}

std::vector<piece> pieces_of(const tape& p) {
    const std::shared_ptr<vector_state> near = vector_near(p, scalar::u8);
    const shape box = box_of(p);
    std::vector<piece> list;
    for (const share& part : shares_of(*near, box.count()))
        for (piece& each : localizer(part.device).pieces(p, box, part.first, part.count))
            list.push_back(std::move(each));
    return list;
}

}  // namespace balm::array
