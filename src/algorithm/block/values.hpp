#pragma once
// Several values at once in a kernel that is being traced: a key with its values, a value with its position,
// a flag beside either. Their types are known only when the kernel is traced.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "balm/dsl/value.hpp"
#include "balm/trace.hpp"

namespace balm::block {

using dsl::Bool;
using dsl::Index;
using dsl::Int;
using dsl::UInt;

using values = std::vector<trace::node>;
using types = std::vector<trace::type>;
/// The elements of one work-item: values for each.
using elements = std::vector<values>;

template <class T>
trace::node node_of(const dsl::Var<T>& value) {
    return trace::read(value.node());
}
inline trace::node node_of(int number) {
    return trace::constant(scalar::i32, static_cast<std::uint32_t>(number));
}

types types_of(const values&);

/// Variables initialised with these values.
values variables(std::string_view word, const values& initial);
values read(const values& variables);
void write(const values& variables, const values& now);
/// The values of one or the other: scalars by a select, vectors and structures by a branch.
values chosen(const Bool& condition, const values& if_true, const values& if_false);
/// The values of `first`, then those of `second`.
values joined(values first, const values& second);

/// Parallel arrays in one address space, one for each value.
class arrays {
public:
    /// Local arrays belong to the whole kernel: declare them before IF, WHILE and loops.
    arrays(std::string_view word, const types&, std::size_t count, space where);
    explicit arrays(values pointers) : pointers_(std::move(pointers)) {}

    template <class I>
    values load(const I& k) const {
        return loaded(node_of(k));
    }
    template <class I>
    void store(const I& k, const values& now) const {
        stored(node_of(k), now);
    }
    /// The first `count` arrays.
    arrays first(std::size_t count) const {
        return arrays(values(pointers_.begin(), pointers_.begin() + static_cast<std::ptrdiff_t>(count)));
    }
    /// The memory of one array.
    const trace::node& memory(std::size_t array = 0) const { return pointers_[array]; }
    /// The same memory as elements of other types, one for each array.
    arrays as(const types&) const;

private:
    values loaded(const trace::node& k) const;
    void stored(const trace::node& k, const values&) const;

    values pointers_;
};

/// Local memory that several sets of arrays use in turn: storing to one overwrites the others. Declare it
/// where local arrays are declared.
class room {
public:
    explicit room(std::size_t bytes);
    /// Arrays in this memory. Throws trace_error if they do not fit.
    arrays of(const types&, std::size_t count) const;
    /// The number of bytes that such arrays take.
    static std::size_t bytes_of(const types&, std::size_t count);

private:
    trace::node memory_;
    std::size_t bytes_;
};

}  // namespace balm::block
