#pragma once
// Expressions of vectors that are spread over several devices, as expressions of each device's own memory.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// Calls f(part, first in the part, count, first in what was asked for) for each part that has some of the
/// elements.
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

/// Some elements of an expression, consecutive in row-major order, as an expression on one device.
struct piece {
    tape values;
    shape box;
    std::size_t first = 0;  ///< of the elements, in the whole
};

/// Makes pieces for one device. What they read and the device does not have is copied to it: the elements
/// between the first and the last position, where positions are affine, else the whole vector.
class localizer {
public:
    explicit localizer(std::shared_ptr<runtime::device_state> device) : device_(std::move(device)) {}

    /// The expression's elements from `first` on. Their positions in a box of several dimensions are those of
    /// up to 2 k - 1 boxes.
    std::vector<piece> pieces(const tape&, const shape& box, std::size_t first, std::size_t count);

private:
    struct copy_made {
        std::shared_ptr<vector_state> of;
        std::size_t first, count;
        std::shared_ptr<vector_state> copy;
    };
    /// Elements on the device: those of a vector there, from `base` on.
    struct local_elements {
        std::shared_ptr<vector_state> vector;
        std::size_t base = 0;
    };
    local_elements here(const std::shared_ptr<vector_state>&, std::size_t first, std::size_t count);
    tape localized(const tape&, const shape& box, const shape& origin, const shape& part, std::size_t first);

    std::shared_ptr<runtime::device_state> device_;
    std::vector<copy_made> copies_;
};

/// The elements of a vector from `base` on, in row-major order.
tape positions_from(std::size_t base, const shape& part);

/// Whether any of the vectors is spread over several devices.
bool is_spread(const tape&);

/// Copies elements from one vector to another, on whichever devices they are.
void copy_elements(vector_state& to, std::size_t to_first, const vector_state& from, std::size_t from_first,
                   std::size_t count);

/// The same between vectors that are not spread, by this queue of the target's device: kernels of its default
/// queue may run meanwhile. Waits, as all commands do, for what wrote and reads the elements.
void copy_elements(runtime::queue_state&, vector_state& to, std::size_t to_first, const vector_state& from,
                   std::size_t from_first, std::size_t count);

/// Whether both lie on the same devices, in this order.
bool are_on_same_devices(const vector_state&, const vector_state&);
/// Throws usage_error where vectors do not lie on the same devices; the message shows the expression that
/// they are of, if given.
void compare_devices(const vector_state&, const vector_state&, const tape* of = nullptr);
/// The same, quickly for one device.
inline void check_same_devices(const vector_state& a, const vector_state& b, const tape* of = nullptr) {
    if (a.is_spread() || b.is_spread() || &a.device() != &b.device()) [[unlikely]]
        compare_devices(a, b, of);
}

/// The pieces of an expression of vectors that are spread, on the devices that have them, in order.
std::vector<piece> pieces_of(const tape&);

/// What a device has of something that is spread.
struct share {
    std::shared_ptr<runtime::device_state> device;
    std::size_t first = 0, count = 0;
    friend bool operator==(const share&, const share&) = default;
};
share share_of(const vector_state::part&);
/// Of a vector that is spread. Two partitions are the same where these are equal.
std::vector<share> shares_of(const vector_state&);
/// The shares that its devices have in another number of elements.
std::vector<share> shares_of(const vector_state&, std::size_t size);

/// A vector of other elements in the same partition, or of another number on the same devices.
std::shared_ptr<vector_state> make_like(const vector_state&, trace::type, std::size_t size);

/// Whether the tape is a vector of that type, and nothing else.
bool is_vector(const tape&, trace::type);
/// That vector; else a new one, made like `model`, of the tape's values, of which there are `size`.
std::shared_ptr<vector_state> as_vector(const tape&, trace::type, std::size_t size,
                                        const vector_state& model);

}  // namespace balm::array
