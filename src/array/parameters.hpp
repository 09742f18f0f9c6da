#pragma once
// The parameters of the kernels that arrays and algorithms trace. A kernel has one function that lists them,
// a line for each: given a trace it declares them, given a launch it binds them, so that the two cannot
// differ.

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "array/vector_state.hpp"
#include "balm/expr.hpp"
#include "balm/trace.hpp"
#include "base/thread_stock.hpp"
#include "runtime/backend.hpp"

namespace balm::array {

/// What a launch is given besides its grid; runtime::scratch<launch_lists> allocates nothing.
struct launch_lists {
    std::vector<runtime::argument> arguments;
    std::vector<runtime::storage*> reads, writes;

    void clear() noexcept {
        arguments.clear();
        reads.clear();
        writes.clear();
    }
};

/// A word, and numbers where several parameters share it: "out", "out1", "stride1_0". It is spelled for
/// traces alone: launches list names, too.
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

/// Declares the parameters that are listed, or binds them.
class parameter_list {
public:
    explicit parameter_list(trace::recording& declares) : recording_(&declares) {}
    explicit parameter_list(launch_lists& binds) : launch_(&binds) {}

    /// A scalar.
    void value(parameter_name, scalar, std::uint64_t bits);
    void number(parameter_name name, std::integral auto n) {
        value(name, scalar::i64, static_cast<std::uint64_t>(n));
    }
    /// A value that is more than a scalar, as it lies in memory until the launch.
    void value(parameter_name, trace::type, const std::byte*);
    /// An allocation as elements of a type, which the launch reads or writes as `use` says.
    void memory(parameter_name, trace::type element, trace::access use, runtime::storage&);
    void vector(parameter_name, const vector_state&, trace::access use, space = space::global);
    void image(parameter_name, const image_leaf&);

    /// What was declared by this name, or for this vector.
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
    void bind(runtime::storage&, std::size_t offset, trace::access);

    trace::recording* const recording_ = nullptr;
    launch_lists* const launch_ = nullptr;
    std::vector<declared> declared_;
};

}  // namespace balm::array
