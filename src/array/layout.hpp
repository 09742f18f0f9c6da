#pragma once
// How an expression's leaves become a kernel's parameters: equal vectors are one parameter, scalars are
// arguments. In: a program. Out: the numbering, which belongs to the kernel's identity, and the arguments.

#include <cstdint>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/expr.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// The leaves of a program by identity.
struct layout {
    detail::inline_vector<vector_state*, 10> vectors;         ///< each once, in order of appearance
    detail::inline_vector<std::uint16_t, 20> number_of_leaf;  ///< program::vectors -> vectors

    explicit layout(const program&);
    std::uint64_t hash(std::uint64_t seed) const;
};

/// The device that an expression's vectors live on; without vectors, but of a known size, the default one.
/// Throws usage_error for vectors of several devices, and for an expression without vectors or size.
const std::shared_ptr<runtime::device_state>& device_of(const program&);

/// How many elements an expression has. Throws usage_error where nothing in it says so.
std::size_t element_count(const program&);

/// Whether the expression reads elements of the vector at other positions than its own.
bool reads_as_memory(const program&, const vector_state&);

/// Whether the expression reads elements of the vector through another one that shares them.
bool reads_through_another(const layout&, const vector_state&);

/// Whether it has functions of an index that cost little more for four elements than for one.
bool is_cheaper_in_fours(const program&);

/// Whether two programs are the same but for the values of scalars and the identity of vectors.
bool same_structure(const program&, const program&);

/// The parameters of a program within a trace.
struct bound_leaves {
    std::vector<trace::node> vectors;
    std::vector<trace::node> images;
    std::vector<trace::node> scalars;
};
/// Declares a read-only parameter for each vector that is not `already` there, one for each image and one for
/// each scalar.
bound_leaves declare(trace::recording&, const program&, const layout&, const vector_state* target,
                     trace::node target_node);
/// The names of those parameters, appended to a signature: ", a, b, s".
std::string parameter_names(const program&, const layout&, const vector_state* target);

/// Records the program for one index; gives its value.
trace::node record(const program&, const layout&, const bound_leaves&, trace::node index);

/// The expression as one would write it, with the parameters' names: "2 * a - sin(b)".
std::string describe(const program&, const layout&, const vector_state* target);

/// Appends the arguments of those parameters.
void append_arguments(const program&, const layout&, const vector_state* target,
                      std::vector<runtime::argument>&);

/// Appends what the expression reads.
void append_reads(const program&, const layout&, std::vector<runtime::storage*>&);

runtime::argument argument_of(const runtime::storage&);
runtime::argument argument_of(const vector_state&);
runtime::argument argument_of(scalar type, std::uint64_t bits);

}  // namespace balm::array
