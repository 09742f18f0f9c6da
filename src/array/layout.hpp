#pragma once
// How an expression's leaves become a kernel's parameters: equal vectors are one parameter, scalars are
// arguments, of what repeats one. In: a tape. Out: the numbering, which belongs to the kernel's identity,
// and the list of the parameters.

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/expression/repeats.hpp"
#include "array/map/placement.hpp"
#include "array/parameters.hpp"
#include "balm/expr.hpp"
#include "balm/trace.hpp"
#include "balm/view.hpp"

namespace balm::array {

/// The leaves of a tape by identity.
struct layout {
    detail::inline_vector<vector_state*, 10> vectors;  ///< each once, in order of appearance
    leaf_numbers number_of_leaf;                       ///< tape::vectors -> vectors
    scalar_numbers number_of_scalar;                   ///< the tape's -> arguments, if any repeats
    placement places;
    std::bitset<64> in_constant_memory;  ///< which of the first vectors are read there

    /// Positions are computed from a flat index, unless told otherwise.
    explicit layout(const tape& p) : layout(p, placement(p)) {}
    layout(const tape&, placement);
    void add_to(runtime::table_hash&) const;
    /// Whether the same leaves are the same vector, and the same scalars one argument.
    bool repeats_like(const layout&) const;
    /// Whether equal tapes with these layouts are computed by the same kernel.
    bool is_like(const layout&) const;
    /// Which argument the tape's k-th scalar is.
    std::size_t argument_of_scalar(std::size_t k) const {
        return number_of_scalar.empty() ? k : number_of_scalar[k];
    }
    /// The number of a vector; the number of vectors for one that the expression does not read.
    std::uint32_t number_of(const vector_state&) const;
    /// Whether each has its memory to itself, so that short vectors may be read there.
    bool has_whole_vectors() const;
};

/// Those of an assignment; none, of a reduction.
using target_list = std::span<const target>;

/// The vectors of the targets, each once.
using written_list = detail::inline_vector<vector_state*, 4>;
written_list written_by(target_list);

/// Computes what producers make, each once, and puts it among the tape's vectors: first of all, wherever a
/// tape is evaluated.
void materialise(tape&);
/// The same for several tapes, what they share once.
void materialise(std::span<tape>);

/// The device that an expression's vectors live on; without vectors the one that it was placed on, else, of a
/// known size, the default one.
/// Throws usage_error for vectors of several devices, and for an expression without vectors or size.
const std::shared_ptr<runtime::device_state>& device_of(const tape&);

/// One of the expression's vectors, of several devices' if one is, or an empty one on its devices: where a
/// producer's result will be.
std::shared_ptr<vector_state> vector_near(const tape&, trace::type);

/// How many elements an expression has. Throws usage_error where nothing in it says so.
std::size_t element_count(const tape&);

/// Whether it has functions of an index that cost little more for four elements than for one.
bool is_cheaper_in_fours(const tape&);

/// Whether two tapes are the same but for the values of scalars and the identity of vectors.
bool same_structure(const tape&, const tape&);
/// The same for tapes of the same structure.
std::uint64_t structure_hash(const tape&);

/// The node as a value of an element of this type: scalars are converted, all else is of it already.
trace::node as_element(trace::node, trace::type);

/// Lists a parameter for each vector, image, scalar and number that positions are computed from, but for the
/// vectors that are written, which are listed already.
template <class List>
void list_leaves(List&, const tape&, const layout&, std::span<vector_state* const> written = {});

/// What kernels have that read their own parameters only.
const tape& empty_tape();
const layout& no_leaves();

/// Records the tape for one index; gives its values. A tape is mostly one expression; several of them,
/// appended to one list, leave a value each and share their leaves.
/// With `lanes`, the values for as many indices in a row, as vectors; what is the same for all may stay one
/// value.
std::vector<trace::node> record(const tape&, const layout&, const parameter_list&, const coordinates&,
                                int lanes = 1);

/// Whether the tape can be recorded in lanes, which then are what scalars would be.
bool has_lanes(const tape&);

/// The expressions as one would write them, with the parameters' names: "2 * a - sin(b)".
std::vector<std::string> describe(const tape&, const layout&, const parameter_list&);

/// The expression with what is known of its operands, for messages: "2 * f64[4] - sin(f64[5] of
/// heat.cpp:12)". A view has its extents: "view(f64[6], 2 x 3)".
std::string with_extents(const tape&, bool with_devices = false);

/// Throws usage_error where a function in an expression to be reduced writes memory.
void refuse_writing(const tape&);
/// Throws usage_error where a function writes a vector that shares elements with another of the expression,
/// or with a target.
void refuse_written_overlap(const tape&, target_list);

}  // namespace balm::array
