#pragma once
// How a kernel computes the positions that views stand for: from the variables of its loops where it has
// loops for them, else from a flat index. Strides and offsets are arguments, so that other slices of the same
// kind share a kernel; what a compiler gains by knowing is part of the kernel.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "array/map/walk.hpp"
#include "array/parameters.hpp"
#include "balm/expr.hpp"
#include "balm/trace.hpp"
#include "base/table_hash.hpp"

namespace balm::array {

/// Where in a kernel an expression is recorded.
struct coordinates {
    trace::node flat;                ///< the element's place in row-major order, where it is known
    std::vector<trace::node> loops;  ///< the variables of the loops, the slowest first
    /// The short vector that the element is a lane of, where memory is read in such: its number in row-major
    /// order, and which lane of how many.
    struct {
        trace::node number{};
        int lane = 0;
        int lanes = 1;
    } vector{};

    coordinates(trace::node index) : flat(index) {}  // NOLINT
    coordinates(trace::node index, std::vector<trace::node> variables)
        : flat(index), loops(std::move(variables)) {}
};

/// The map of a tape that is one position and nothing else; else null.
const affine_map* affine(const tape&);
/// Whether a tape has elements of vectors, or numbers, at the element's own index.
bool asks_for_flat_index(const tape&);

/// The coordinates of an index that counts dimensions in row-major order, the slowest first. `counts` are of
/// all dimensions but that one; with `is_narrow` all of them together fit in 32 bits, which divides faster.
std::vector<trace::node> row_major_coordinates(trace::node index, std::span<const trace::node> counts,
                                               bool is_narrow);

class placement {
public:
    placement() = default;
    /// From a flat index, which somebody else's loops give.
    explicit placement(const tape&);
    /// From loops of the kernel's own over the tape's box of n elements, in the order of `first`, if any.
    /// `besides` are further maps that the loops follow, of which `besides()` tells.
    placement(const tape&, const shape& box, const affine_map* first, bool needs_flat_index,
              std::span<const affine_map> besides = {});

    /// The loops' counts, the slowest first.
    std::span<const std::int64_t> counts() const;
    /// The same for the dimensions of a grid, the fastest first; the third one counts all further loops.
    std::array<std::size_t, 3> grid_counts() const;
    /// The further maps, in the loops.
    std::span<const walk::map> besides() const { return besides_; }
    /// Whether every map has neighbours in the fastest loop where the loop has.
    bool follows_rows() const;
    /// Whether kernels for both compute all positions alike; what belongs to that is hashed.
    bool is_like(const placement&) const;
    void add_to(runtime::table_hash&) const;

    /// Lists the offsets, strides and counts that positions are computed from.
    template <class List>
    void list(List&) const;

    /// The flat index inside the loops; none where nothing asks for it.
    trace::node flat_index(const parameter_list&, const std::vector<trace::node>& loops) const;
    /// The k-th position of the tape.
    trace::node record(std::size_t k, const parameter_list&, const coordinates&) const;

private:
    enum class last_stride : std::uint8_t { zero, one, other };
    static constexpr std::uint32_t is_flat =
        ~0u;  ///< instead of a number: the flat index, or the only loop's

    /// How a map is computed.
    struct form {
        bool is_nested = false;  ///< from a flat index
        bool is_narrow = false;  ///< nested, and its elements can be counted in 32 bits
        int dimensions = 0;
        last_stride last = last_stride::other;
        std::uint32_t strides_of = 0;  ///< the first entry with the same strides in the same loops
        /// Beside neighbours of the same elements the kernel knows more, so that it can share what it loads:
        /// how far the entry is from the one that it is near to (itself, or `is_flat`), in strides …
        std::uint32_t near_to = 0;
        std::array<std::int16_t, shape::max_dimensions> away{};
        /// … and where fours of elements begin: given are quarters of the strides and of the offset, but for
        /// its remainder.
        bool is_in_fours = false;
        std::uint8_t remainder = 0;

        /// Strides that are parameters: all but a last one that is 0 or 1.
        int given_strides() const { return dimensions - (last == last_stride::other ? 0 : 1); }
        friend bool operator==(const form&, const form&) = default;
    };
    struct entry {
        form how;
        affine_map of;
        walk::numbers counts{};
        walk::map at;
    };
    /// The name of what an entry has for each of its dimensions.
    parameter_name name_of(const char* word, std::size_t entry, int dimension) const;
    trace::node record_entry(std::size_t, const parameter_list&,
                             const std::vector<trace::node>& variables) const;
    std::uint32_t number_nested(const affine_map&);
    std::uint32_t add(const affine_map&, bool is_nested, const walk& loops, const walk::map& at);
    bool has_own_strides(std::size_t k) const { return entries_[k].how.strides_of == k; }
    bool has_own_offset(std::size_t k) const { return entries_[k].how.near_to == k; }
    void find_neighbours(bool has_flat);
    void know_fours();
    trace::node stride(std::size_t entry, int dimension, const parameter_list&) const;
    trace::node record_near(std::size_t entry, const parameter_list&,
                            const std::vector<trace::node>& variables) const;

    walk loops_;
    std::vector<walk::map> besides_;
    std::vector<entry> entries_;
    std::vector<std::uint32_t> numbers_;  ///< of each position of the tape, in order
    std::uint32_t flat_ = is_flat;
};

}  // namespace balm::array
