#pragma once
// Expressions of vectors over several devices, as expressions of each device's own memory.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// Calls f(part, first in the part, count, first in the range) for each part that holds elements of the
/// range.
template <class F>
void for_each_part(const vector_state& v, std::size_t first, std::size_t count, F&& f) {
    if (count == 0) return;
    if (!v.is_spread()) return f(v, first, count, std::size_t{0});
    for (const vector_state::part& p : v.parts()) {
        const std::size_t begin = std::max(first, p.first);
        const std::size_t end = std::min(first + count, p.first + p.elements->size());
        if (begin < end) f(*p.elements, begin - p.first, end - begin, begin - first);
    }
}

/// Consecutive elements of an expression, in row-major order, as an expression on one device.
struct piece {
    tape values;
    shape box;
    std::size_t first = 0;  ///< the index of its first element in the whole
};

/// A part of a box: its origin and extents.
struct box_part {
    std::vector<std::size_t> origin, extents;
};

/// Makes pieces for one device. Elements that they read and the device does not hold are copied to it: the
/// range from the first to the last position if positions are affine, else the whole vector. Copies are
/// enqueued when the piece is made.
class localizer {
public:
    explicit localizer(std::shared_ptr<runtime::device_state> device) : device_(std::move(device)) {}

    /// `count` elements of the expression from `first` on. In a box of k dimensions they make up to 2 k - 1
    /// boxes.
    std::vector<piece> pieces(const tape&, const shape& box, std::size_t first, std::size_t count);
    /// The same in any order, and in more pieces if most elements then need no copies: a large box is divided
    /// into the rows that read only the device's own elements, and those at either end.
    std::vector<piece> launches(const tape&, const shape& box, std::size_t first, std::size_t count);
    /// The elements that a map of the box maps to positions in a range, and some others if that takes fewer
    /// pieces. If the tape reads vectors at their own index, the pieces are rows of the outermost dimension.
    std::vector<piece> launches_within(const tape&, const shape& box, const affine_map& where,
                                       std::size_t first, std::size_t count);

private:
    struct copy_made {
        std::shared_ptr<vector_state> of;
        std::size_t first, count;
        std::shared_ptr<vector_state> copy;
    };
    /// Elements on the device: those of a vector on it, from `base` on.
    struct local_elements {
        std::shared_ptr<vector_state> vector;
        std::size_t base = 0;
    };
    local_elements here(const std::shared_ptr<vector_state>&, std::size_t first, std::size_t count);
    /// Elements [begin, end) of a vector.
    struct range_read {
        const vector_state* of;
        std::size_t begin, end;
    };
    using range_list = std::vector<range_read>;
    static range_list ranges_read(const tape&, const shape& box, const box_part&);
    piece localized(const tape&, const shape& box, const box_part&);
    std::vector<box_part> divided(const tape&, const shape& box, const box_part&) const;

    std::shared_ptr<runtime::device_state> device_;
    std::vector<copy_made> copies_;
};

/// The positions of a vector's elements from `base` on, in row-major order.
tape positions_from(std::size_t base, const shape& part);

/// Whether any of the vectors, or the place of a tape without vectors, is over several devices.
bool is_spread(const tape&);

/// Copies elements from one vector to another, on whichever devices they are.
void copy_elements(vector_state& to, std::size_t to_first, const vector_state& from, std::size_t from_first,
                   std::size_t count);

/// The same between vectors on one device each, in this queue of the target's device, concurrently with
/// kernels of its default queue. Like all commands, it waits for conflicting accesses to the elements.
void copy_elements(runtime::queue_state&, vector_state& to, std::size_t to_first, const vector_state& from,
                   std::size_t from_first, std::size_t count);

/// Whether both are on the same devices, in the same order.
bool are_on_same_devices(const vector_state&, const vector_state&);
/// Throws usage_error if the vectors are on different devices; the message shows the expression, if given.
void compare_devices(const vector_state&, const vector_state&, const tape* of = nullptr);
/// The same, with a fast path for one device.
inline void check_same_devices(const vector_state& a, const vector_state& b, const tape* of = nullptr) {
    if (a.is_spread() || b.is_spread() || &a.device() != &b.device()) [[unlikely]]
        compare_devices(a, b, of);
}

/// The pieces of an expression of vectors over several devices, on the devices that hold them, in order.
std::vector<piece> pieces_of(const tape&);

/// The elements that one device has of a vector or expression over several.
struct share {
    std::shared_ptr<runtime::device_state> device;
    std::size_t first = 0, count = 0;
    friend bool operator==(const share&, const share&) = default;
};
share share_of(const vector_state::part&);
/// The shares of a vector over several devices. Two partitions are the same if their shares are equal.
std::vector<share> shares_of(const vector_state&);
/// The shares of its devices in a vector of `size` elements.
std::vector<share> shares_of(const vector_state&, std::size_t size);

/// A vector with other elements on the same devices; if the size is the same, in the same partition.
std::shared_ptr<vector_state> make_like(const vector_state&, trace::type, std::size_t size);

/// Whether the tape is a single vector of that type.
bool is_vector(const tape&, trace::type);
/// That vector; else a new one, made like `model`, with the tape's `size` values.
std::shared_ptr<vector_state> as_vector(const tape&, trace::type, std::size_t size,
                                        const vector_state& model);

}  // namespace balm::array
