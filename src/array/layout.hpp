#pragma once
// How an expression's leaves become a kernel's parameters: equal vectors are one parameter; scalars are
// arguments, one for each repeated scalar. In: a tape. Out: the numbering, which is part of the cache key,
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
    scalar_numbers number_of_scalar;                   ///< the tape's scalars -> arguments, if any repeats
    placement places;
    std::bitset<64> in_constant_memory;  ///< which of the first vectors are read there

    /// By default, positions are computed from a flat index.
    explicit layout(const tape& p) : layout(p, placement(p)) {}
    layout(const tape&, placement);
    void add_to(runtime::table_hash&) const;
    /// Whether the same leaves are equal vectors, and the same scalars one argument.
    bool repeats_like(const layout&) const;
    /// Whether equal tapes with these layouts are computed by the same kernel.
    bool is_like(const layout&) const;
    /// The argument of the tape's k-th scalar.
    std::size_t argument_of_scalar(std::size_t k) const {
        return number_of_scalar.empty() ? k : number_of_scalar[k];
    }
    /// The number of a vector; the number of vectors if the expression does not read it.
    std::uint32_t number_of(const vector_state&) const;
    /// Whether each vector has its memory to itself, so that vector loads may over-read.
    bool has_whole_vectors() const;
};

/// The targets of an assignment; empty for a reduction.
using target_list = std::span<const target>;

/// The vectors of the targets, each once.
using written_list = detail::inline_vector<vector_state*, 4>;
written_list written_by(target_list);

/// Computes what producers make, each once, and stores it among the tape's vectors. Comes first wherever a
/// tape is evaluated.
void materialise(tape&);
/// The same for several tapes; a shared producer computes once.
void materialise(std::span<tape>);

/// The device of an expression's vectors; without vectors, the device that it was placed on, or, if its size
/// is known, the default one. Throws usage_error for vectors on several devices, and for an expression
/// without vectors or size.
const std::shared_ptr<runtime::device_state>& device_of(const tape&);

/// One of the expression's vectors, preferably one over several devices, or an empty one on its devices:
/// where a producer's result will be.
std::shared_ptr<vector_state> vector_near(const tape&, trace::type);

/// The element count of an expression. Throws usage_error if nothing in it determines it.
std::size_t element_count(const tape&);

/// Whether the expression has functions of an index that cost little more for four elements than for one.
bool is_cheaper_in_fours(const tape&);

/// Whether the step divides integers.
inline bool is_integer_division(const step& s) {
    const auto what = static_cast<builtin>(s.detail);
    return s.what == step::kind::apply && s.type.is_scalar() && is_integer(s.type.element) &&
           (what == builtin::div || what == builtin::rem);
}

/// Whether two tapes are equal except for the values of scalars and the identity of vectors.
bool same_structure(const tape&, const tape&);
/// Equal for tapes of the same structure.
std::uint64_t structure_hash(const tape&);

/// The node as an element of this type: scalars are converted, everything else already has it.
trace::node as_element(trace::node, trace::type);

/// Where the steps of each value of a tape end.
std::vector<std::size_t> ends_of_values(const tape&);

/// The type of a tape's last value.
trace::type type_of_last(const tape&);

/// Converts the last value.
void push_convert(tape&, trace::type);

/// Lists a parameter for each vector, image, scalar and number that positions are computed from, except for
/// written vectors, which are already listed.
template <class List>
void declare_leaves(List&, const tape&, const layout&, std::span<vector_state* const> written = {});

/// The tape and layout of kernels that read only their own parameters.
const tape& empty_tape();
const layout& no_leaves();

/// Records the tape for one index; returns its values. A tape is usually one expression; several expressions,
/// appended to one tape, yield a value each and share their leaves. With `lanes`, returns the values for that
/// many consecutive indices as vectors; what is the same for all may stay one value.
std::vector<trace::node> record(const tape&, const layout&, const parameter_list&, const coordinates&,
                                int lanes = 1);

/// Whether the tape can be recorded in lanes that equal the scalars.
bool has_lanes(const tape&);
/// Whether the tape calls library functions that CPUs compute several times faster on vectors, where they
/// round differently. A kernel that records such a tape in lanes lets the recording use_vector_functions(),
/// and records single elements by record_as_in_lanes(): an element has the same bits wherever it is computed.
bool calls_vector_functions(const tape&);
/// Records the tape for one index, with the functions of vectors.
std::vector<trace::node> record_as_in_lanes(const tape&, const layout&, const parameter_list&, coordinates);
/// Whether one CPU computes the materialised tape, and it or a function in it calls such functions.
bool has_slow_values(const tape&);
/// Stores the values that do, if there are such: a statement computes them on vectors, the loop of an
/// algorithm one by one. Not what takes more than an eighth of the device's memory.
void store_slow_values(tape&);

/// The expressions as source text, with the parameters' names: "2 * a - sin(b)". The first of several
/// statements follows those before it: "r1 = 2 * a; r1 + b".
std::vector<std::string> describe(const tape&, const layout&, const parameter_list&);

/// The expression with what is known about its operands, for messages: "2 * f64[4] - sin(f64[5] of
/// heat.cpp:12)". A view has its extents: "view(f64[6], 2 x 3)".
std::string with_extents(const tape&, bool with_devices = false);

/// Throws usage_error if a function in an expression to be reduced writes memory.
void refuse_writing(const tape&);
/// Throws usage_error if a function writes a vector that shares elements with another one of the expression,
/// or with a target.
void refuse_written_overlap(const tape&, target_list);

}  // namespace balm::array
