#pragma once
// The parameters of the kernels that arrays and algorithms trace. Each kernel has one function template that
// lists them, a line for each, to either kind of list: a parameter_list declares them for a trace,
// parameter_bindings bind them for a launch. The two can therefore not differ.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/expr.hpp"
#include "balm/trace.hpp"
#include "kernel/launch/device_kernel.hpp"
#include "runtime/backend.hpp"

namespace balm::array {

/// A word, and numbers if several parameters share it: "out", "out1", "stride1_0". Only traces spell it:
/// launches list names, too.
struct parameter_name {
    static constexpr std::int32_t no_dimension = -1, by_letter = -2;

    // NOLINTNEXTLINE(google-explicit-constructor): most names are a word
    constexpr parameter_name(const char* shared, std::size_t which = 0, std::int32_t of = no_dimension)
        : word(shared), number(static_cast<std::uint32_t>(which)), dimension(of) {}
    /// Letters in turn: a, b, c, a1, b1 …
    static constexpr parameter_name letter(const char* alphabet, std::size_t which) {
        return {alphabet, which, by_letter};
    }
    std::string spelled() const;

    const char* word;
    std::uint32_t number;
    std::int32_t dimension;
};

/// Declares the listed parameters, and remembers them by name and vector.
class parameter_list {
public:
    explicit parameter_list(trace::recording& r) : recording_(r) {}

    /// A scalar.
    void value(parameter_name, scalar, std::uint64_t);
    void number(parameter_name name, std::integral auto n) {
        value(name, scalar::i64, static_cast<std::uint64_t>(n));
    }
    /// A value larger than a scalar, in memory that remains valid until the launch.
    void value(parameter_name, trace::type, const std::byte*);
    /// An allocation as elements of a type, which the launch accesses as `use` says.
    void memory(parameter_name, trace::type element, trace::access use, runtime::storage&);
    void vector(parameter_name, const vector_state&, trace::access use, space = space::global);
    void image(parameter_name, const image_leaf&);

    /// The parameter declared by this name, or for this vector.
    trace::node operator[](parameter_name) const;
    trace::node operator[](const vector_state&) const;
    parameter_name name_of(const vector_state&) const;

private:
    struct declared {
        parameter_name name;
        trace::node node;
        const vector_state* vector = nullptr;
    };
    void declare(parameter_name, trace::type, trace::access, space = space::global,
                 const vector_state* = nullptr);

    trace::recording& recording_;
    std::vector<declared> declared_;
};

/// Binds the listed parameters, whose names and element types matter only to the trace. It has the functions
/// of parameter_list, inline because they are most of the work of a launch.
class parameter_bindings {
public:
    explicit parameter_bindings(kernels::launch_lists& to) : to_(to) {}

    // Arguments are constructed in place: a copy would wait for the stores of their members.
    void value(parameter_name, scalar type, std::uint64_t bits) {
        runtime::argument& a = to_.arguments.emplace_back();
        a.size = static_cast<std::uint32_t>(size_of(type));
        std::memcpy(a.bytes.data(), &bits, sizeof bits);  // little-endian hosts: the low bytes come first
    }
    void number(parameter_name name, std::integral auto n) {
        value(name, scalar::i64, static_cast<std::uint64_t>(n));
    }
    void value(parameter_name, trace::type type, const std::byte* from) {
        runtime::argument& a = to_.arguments.emplace_back();
        a.size = static_cast<std::uint32_t>(trace::size_of(type));
        if (a.size <= a.bytes.size())
            std::memcpy(a.bytes.data(), from, a.size);
        else
            a.long_value = from;
    }
    void memory(parameter_name, trace::type, trace::access use, runtime::storage& bound) {
        bind(bound, 0, use);
    }
    void vector(parameter_name, const vector_state& v, trace::access use, space = space::global) {
        bind(*v.memory(), v.offset(), use);
    }
    void image(parameter_name, const image_leaf&);

private:
    void bind(runtime::storage& storage, std::size_t offset, trace::access use) {
        to_.arguments.emplace_back().set(storage.native(), offset);
        if (use != trace::access::out) to_.reads.push_back(&storage);
        if (use != trace::access::in) to_.writes.push_back(&storage);
    }

    kernels::launch_lists& to_;
};

/// Finds the listed numbers that are in [0, 2^31): launch_facts::small_counts. Scalars of expressions
/// are not among them: changing one never recompiles.
class small_counts {
public:
    std::uint64_t found() const { return found_; }

    void number(parameter_name, std::integral auto n) {
        const bool is_small = std::cmp_greater_equal(n, 0) && std::cmp_less(n, std::int64_t{1} << 31);
        if (next_ < 64 && is_small) found_ |= std::uint64_t{1} << next_;
        ++next_;
    }
    void value(parameter_name, scalar, std::uint64_t) { ++next_; }
    void value(parameter_name, trace::type, const std::byte*) { ++next_; }
    void memory(parameter_name, trace::type, trace::access, runtime::storage&) { ++next_; }
    void vector(parameter_name, const vector_state&, trace::access, space = space::global) { ++next_; }
    void image(parameter_name, const image_leaf&) { ++next_; }

private:
    std::uint64_t found_ = 0;
    std::size_t next_ = 0;
};

/// Adds up the bytes of the listed arguments, without vectors.
class listed_bytes {
public:
    std::size_t found() const { return found_; }
    /// How many are integers by which a kernel may divide: not strides and offsets.
    std::size_t integers() const { return integers_; }

    void number(parameter_name, std::integral auto) { found_ += word; }
    void value(parameter_name, scalar type, std::uint64_t) {
        found_ += word;
        integers_ += is_integer(type);
    }
    void value(parameter_name, trace::type type, const std::byte*) {
        found_ += (trace::size_of(type) + word - 1) / word * word;
    }
    void vector(parameter_name, const vector_state&, trace::access, space = space::global) {}
    void image(parameter_name, const image_leaf&) { found_ += word; }

private:
    static constexpr std::size_t word = sizeof(std::uint64_t);
    std::size_t found_ = 0, integers_ = 0;
};

}  // namespace balm::array
