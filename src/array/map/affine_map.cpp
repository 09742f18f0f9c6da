// Slices, transposes, reshapes and broadcasts: arithmetic on strides, on the host alone.

#include "balm/affine_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "balm/error.hpp"

namespace balm::array {

namespace {

std::int64_t size_of_dimension(const shape& box, int d) { return static_cast<std::int64_t>(box[d]); }

/// The positions that a slice part selects from a dimension: their count, the first one and the stride.
struct taken {
    std::int64_t count = 0;
    std::int64_t first = 0;
    std::int64_t stride = 1;
};

taken taken_of(const slice_part& part, const shape& box, int d) {
    const std::int64_t size = size_of_dimension(box, d);
    switch (part.what) {
        case slice_part::kind::all: return {size, 0, 1};
        case slice_part::kind::reversed: return {size, std::max<std::int64_t>(size - 1, 0), -1};
        case slice_part::kind::one:
            if (part.begin < 0 || part.begin >= size)
                throw usage_error(fmt::format(
                    "position {} is out of range in dimension {} of a view of {}, which has {} there",
                    part.begin, d, to_string(box), size));
            return {1, part.begin, 1};
        case slice_part::kind::range: break;
    }
    if (part.stride == 0) throw usage_error("a slice cannot have a stride of 0");
    // The distance in the stride's direction, as unsigned numbers, which cannot overflow.
    const bool is_up = part.stride > 0;
    const auto begin = static_cast<std::uint64_t>(part.begin), end = static_cast<std::uint64_t>(part.end);
    const bool is_empty = is_up ? part.begin >= part.end : part.begin <= part.end;
    if (is_empty) return {0, 0, 1};
    const std::uint64_t step =
        is_up ? static_cast<std::uint64_t>(part.stride) : ~static_cast<std::uint64_t>(part.stride) + 1;
    const std::uint64_t count = ((is_up ? end - begin : begin - end) - 1) / step + 1;
    const std::int64_t last =
        static_cast<std::int64_t>(begin + (count - 1) * static_cast<std::uint64_t>(part.stride));
    if (std::min(part.begin, last) < 0 || std::max(part.begin, last) >= size)
        throw usage_error(fmt::format(
            "positions {} to {} are out of range in dimension {} of a view of {}, which has {} there",
            part.begin, last, d, to_string(box), size));
    // The stride of a single position does not matter and may be any number: it is normalised to 1.
    return {static_cast<std::int64_t>(count), part.begin, count == 1 ? 1 : part.stride};
}

}  // namespace

affine_map row_major(const shape& box) {
    affine_map map{box};
    std::int64_t stride = 1;
    for (int d = box.dimensions() - 1; d >= 0; --d) {
        map.strides[static_cast<std::size_t>(d)] = stride;
        stride *= size_of_dimension(box, d);
    }
    return map;
}

affine_map strided(const shape& box, const strides& apart, std::int64_t offset,
                   std::optional<std::size_t> count) {
    if (apart.dimensions() != box.dimensions())
        throw usage_error(fmt::format("a view of {} got {} strides; it needs one per dimension",
                                      to_string(box), apart.dimensions()));
    affine_map map{box, {}, offset};
    std::optional<std::int64_t> low = offset, high = offset;
    for (int d = 0; d < box.dimensions(); ++d) {
        map.strides[static_cast<std::size_t>(d)] = apart[d];
        const std::optional<std::int64_t> reach =
            detail::checked_product(size_of_dimension(box, d) - 1, apart[d]);
        std::optional<std::int64_t>& end = apart[d] < 0 ? low : high;
        end = reach && end ? detail::checked_sum(*end, *reach) : std::nullopt;
    }
    if (box.count() == 0) return affine_map{box};
    const bool is_beyond = !low || !high || *low < 0 ||
                           (count && static_cast<std::uint64_t>(*high) >= static_cast<std::uint64_t>(*count));
    if (is_beyond) {
        const auto words = [](std::optional<std::int64_t> n) {
            return n ? std::to_string(*n) : std::string("beyond 64 bits");
        };
        throw usage_error(
            fmt::format("a view of {} with these strides from {} on covers the elements {} to {}, which is "
                        "out of range: elements are numbered from 0 {}",
                        to_string(box), offset, words(low), words(high),
                        count ? fmt::format("to {}", static_cast<std::int64_t>(*count) - 1) : "on"));
    }
    return map;
}

affine_map sliced(const affine_map& of, std::span<const slice_part> parts) {
    if (parts.size() != static_cast<std::size_t>(of.box.dimensions()))
        throw usage_error(
            fmt::format("a view of {} got {} parts of a slice; it needs one per dimension (an index, "
                        "balm::all, balm::reversed or balm::slice)",
                        to_string(of.box), parts.size()));
    affine_map result;
    result.offset = of.offset;
    std::array<std::size_t, shape::max_dimensions> sizes{};
    std::size_t kept = 0;
    for (std::size_t d = 0; d < parts.size(); ++d) {
        const taken t = taken_of(parts[d], of.box, static_cast<int>(d));
        result.offset += t.first * of.strides[d];
        if (parts[d].what == slice_part::kind::one) continue;
        sizes[kept] = static_cast<std::size_t>(t.count);
        result.strides[kept++] = t.stride * of.strides[d];
    }
    if (kept == 0) sizes[kept++] = 1;
    result.box = shape(std::span<const std::size_t>(sizes.data(), kept));
    return result;
}

affine_map transposed(const affine_map& of, std::span<const int> order) {
    const auto dimensions = static_cast<std::size_t>(of.box.dimensions());
    affine_map result;
    result.offset = of.offset;
    std::array<std::size_t, shape::max_dimensions> sizes{};
    unsigned seen = 0;
    for (std::size_t d = 0; d < order.size() && order.size() == dimensions; ++d) {
        if (order[d] < 0 || order[d] >= of.box.dimensions()) break;
        seen |= 1u << order[d];
        sizes[d] = of.box[order[d]];
        result.strides[d] = of.strides[static_cast<std::size_t>(order[d])];
    }
    if (order.size() != dimensions || seen != (1u << dimensions) - 1)
        throw usage_error(
            fmt::format("the order of a transpose of {} must name each of the dimensions 0 to {} once",
                        to_string(of.box), dimensions - 1));
    result.box = shape(std::span<const std::size_t>(sizes.data(), dimensions));
    return result;
}

affine_map broadcast(const affine_map& of, const shape& box) {
    affine_map result{box, {}, of.offset};
    const int added = box.dimensions() - of.box.dimensions();
    for (int d = 0; d < of.box.dimensions(); ++d) {
        if (added < 0 || (of.box[d] != box[d + added] && of.box[d] != 1))
            throw usage_error(
                fmt::format("a view of {} cannot be broadcast to {}; the last dimensions must be equal, or 1",
                            to_string(of.box), to_string(box)));
        const bool is_repeated = of.box[d] != box[d + added];
        result.strides[static_cast<std::size_t>(d + added)] =
            is_repeated ? 0 : of.strides[static_cast<std::size_t>(d)];
    }
    return result;
}

std::optional<affine_map> reshaped(const affine_map& of, const shape& box) {
    affine_map result{box, {}, of.offset};
    if (of.box.count() == 0) return result;
    int from = 0, to = 0;  // dimensions done
    while (from < of.box.dimensions() || to < box.dimensions()) {
        // The next groups of dimensions of both boxes that have the same element count.
        const int first_from = from, first_to = to;
        std::size_t old_count = of.box[from++], new_count = box[to++];
        while (old_count != new_count)
            old_count < new_count ? old_count *= of.box[from++] : new_count *= box[to++];
        while (from < of.box.dimensions() && of.box[from] == 1 && to == box.dimensions()) ++from;
        while (to < box.dimensions() && box[to] == 1 && from == of.box.dimensions()) ++to;
        // The new dimensions can divide a group only if the old ones are contiguous.
        std::optional<std::int64_t> expected;
        std::int64_t stride = 0;
        for (int d = from - 1; d >= first_from; --d) {
            if (of.box[d] == 1) continue;
            const std::int64_t own = of.strides[static_cast<std::size_t>(d)];
            if (!expected)
                stride = own;
            else if (own != *expected)
                return std::nullopt;
            expected = own * size_of_dimension(of.box, d);
        }
        for (int d = to - 1; d >= first_to; --d) {
            result.strides[static_cast<std::size_t>(d)] = stride;
            stride *= size_of_dimension(box, d);
        }
    }
    return result;
}

}  // namespace balm::array
