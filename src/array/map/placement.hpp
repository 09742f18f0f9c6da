#pragma once
// How a kernel computes the positions of views: from the variables of its loops if it has loops for them,
// else from a flat index. Strides and offsets are arguments, so that other slices of the same kind share a
// kernel; properties that the compiler can exploit are part of the kernel.

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
    trace::node flat;                ///< the element's row-major index, if known
    std::vector<trace::node> loops;  ///< the variables of the loops, the slowest first
    /// If memory is read in short vectors, the vector that holds the element: its row-major index, the
    /// element's lane and the number of lanes.
    struct {
        trace::node number{};
        int lane = 0;
        int lanes = 1;
    } vector{};
    /// Whether all lanes are this element, instead of the consecutive ones.
    bool is_single = false;

    coordinates(trace::node index) : flat(index) {}  // NOLINT
    coordinates(trace::node index, std::vector<trace::node> variables)
        : flat(index), loops(std::move(variables)) {}
};

/// The map of a tape that is a single position; null for other tapes.
const affine_map* affine(const tape&);
/// Whether a tape reads vectors at the element's own index, or that index itself.
bool asks_for_flat_index(const tape&);

/// The coordinates of a row-major index, slowest dimension first. `counts` holds the extents of all
/// dimensions but the slowest. With `is_narrow` the element count fits in 32 bits, which divide faster.
std::vector<trace::node> row_major_coordinates(trace::node index, std::span<const trace::node> counts,
                                               bool is_narrow);

/// In a position's `detail`: it is computed from the element's row-major index, not from loops over its box.
inline constexpr std::uint32_t from_flat_index = 1;

class placement {
public:
    placement() = default;
    /// From a flat index, which the caller's loops compute.
    explicit placement(const tape&);
    /// From the kernel's own loops over the box, in the memory order of `first`, if any. `besides` are
    /// further maps in these loops; besides() returns them.
    placement(const tape&, const shape& box, const affine_map* first, bool needs_flat_index,
              std::span<const affine_map> besides = {});

    /// The iteration counts of the loops, slowest first.
    std::span<const std::int64_t> counts() const;
    /// The same for the dimensions of a grid, fastest first; the third is the product of all remaining loops.
    std::array<std::size_t, 3> grid_counts() const;
    /// The further maps, with strides of the loops.
    std::span<const walk::map> besides() const { return besides_; }
    /// Whether every map has stride 1 in the fastest loop.
    bool follows_rows() const;
    /// Whether kernels for both compute all positions in the same way; add_to() hashes what decides this.
    bool is_like(const placement&) const;
    void add_to(runtime::table_hash&) const;

    /// Lists the offsets, strides and counts that positions are computed from.
    template <class List>
    void declare_parameters(List&) const;

    /// The flat index inside the loops; an empty node if nothing needs it.
    trace::node flat_index(const parameter_list&, const std::vector<trace::node>& loops) const;
    /// The k-th position of the tape.
    trace::node record(std::size_t k, const parameter_list&, const coordinates&) const;

private:
    enum class last_stride : std::uint8_t { zero, one, other };
    static constexpr std::uint32_t is_flat =
        ~0u;  ///< instead of an entry's number: the flat index, or the variable of the only loop

    /// How a map is computed.
    struct form {
        bool is_nested = false;  ///< from a flat index
        bool is_narrow = false;  ///< nested, and its element count fits in 32 bits
        int dimensions = 0;
        last_stride last = last_stride::other;
        std::uint32_t strides_of = 0;  ///< the first entry with the same strides in the same loops
        /// Among neighbours the kernel knows more, so that it can share loads: the distance in strides from
        /// the entry that this one is near to (itself, another one, or `is_flat`) …
        std::uint32_t near_to = 0;
        std::array<std::int16_t, shape::max_dimensions> away{};
        /// … and where blocks of four elements begin: parameters are a quarter of the strides, and of the
        /// offset less its remainder.
        bool is_in_fours = false;
        std::uint8_t remainder = 0;
        /// Nested, the same for all elements of a row, and rows are multiples of ir::most_lanes: the
        /// parameter is that multiple, and the elements of a short vector find their row once.
        bool is_row_of_vectors = false;

        /// The number of strides that are parameters: all but a last one that is 0 or 1.
        int given_strides() const { return dimensions - (last == last_stride::other ? 0 : 1); }
        friend bool operator==(const form&, const form&) = default;
    };
    struct entry {
        form how;
        affine_map of;
        walk::numbers counts{};
        walk::map at;
    };
    /// The name of a parameter that an entry has for each of its dimensions.
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
    std::vector<std::uint32_t> numbers_;  ///< the entry of each position of the tape, in order
    std::uint32_t flat_ = is_flat;
};

}  // namespace balm::array
