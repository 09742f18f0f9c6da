#pragma once
// Building blocks of product_functions.cpp and block_functions.cpp: parameters, the operand's elements, and a
// table of the functions that are already traced.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "algorithm/sparse/operand_form.hpp"
#include "algorithm/sparse/product_functions.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/trace.hpp"

namespace balm::array::row_function {

using namespace balm::dsl;

struct function_key {
    const char* kind;
    trace::type value;
    scalar index;
    operand_form form;
    std::size_t size = 0, rows_of_block = 1, columns_of_block = 1;
};
/// The function of each key, traced on first use.
template <class Make>
function_pointer known(const function_key& wanted, const Make& make) {
    using key = std::tuple<std::string, scalar, int, scalar, std::size_t, std::size_t, scalar, int,
                           std::size_t, std::size_t, std::size_t>;
    static auto& mutex = *new std::mutex;
    static auto& list = *new std::map<key, function_pointer>;
    const std::scoped_lock lock(mutex);
    function_pointer& found =
        list[{wanted.kind, wanted.value.element, wanted.value.lanes, wanted.index, wanted.form.lanes,
              wanted.form.known_groups(), wanted.form.type.element, wanted.form.type.lanes, wanted.size,
              wanted.rows_of_block, wanted.columns_of_block}];
    if (!found) found = make();
    return found;
}

template <class T>
trace::type type_of() {
    return balm::detail::type_of_element<T>();
}

/// The entries of a matrix in memory, as factors of type T: see with_operands.
template <class T>
class factors {
public:
    factors(trace::node memory, trace::type stored) : memory_(memory), stored_(stored) {}

    template <class I>
    Var<T> operator[](const Var<I>& at) const {
        const trace::node loaded = trace::load(memory_, trace::read(at.node()), {});
        const trace::type wanted = type_of<T>();
        return Var<T>(stored_.element == wanted.element ? loaded : trace::convert(loaded, wanted.element));
    }
    /// Whether entries are stored as T, so that `memory` is of T.
    bool are_stored() const { return stored_ == type_of<T>(); }
    const trace::node& memory() const { return memory_; }

private:
    trace::node memory_;
    trace::type stored_;
};

/// The parameters of a function, in order.
class parameters {
public:
    explicit parameters(const std::string& signature) : recording_(signature, 0, {}) {}
    Index index() { return Index(recording_.parameter(scalar::i64, trace::access::value)); }
    template <class T>
    In<T> memory() {
        return In<T>(recording_.parameter(type_of<T>(), trace::access::in));
    }
    template <class T>
    factors<T> entries(trace::type stored) {
        return factors<T>(recording_.parameter(stored, trace::access::in), stored);
    }
    template <class T>
    function_pointer finish(const Var<T>& result) {
        const trace::node value = trace::read(result.node());
        return recording_.finish(&value);
    }

private:
    trace::recording recording_;
};

/// The end of a function's signature, with the number of groups if it is an argument.
inline const char* signature_end(const operand_form& form) {
    return form.known_groups() == 0 ? ", groups)" : ")";
}

/// The row and the group of columns of an element of the product.
class place {
public:
    /// Declares the last parameter if the form needs it.
    place(parameters& given, const operand_form& form, const Index& element) : row(element) {
        const std::size_t known = form.known_groups();
        if (known == 1) return;
        is_one_column_ = false;
        groups_ = known == 0 ? given.index() : Index(static_cast<std::int64_t>(known));
        row = element / groups_;
        group_ = element - row * groups_;
    }
    /// Where the same group of another row is, in the operand or in partial results.
    Index at(const Index& other_row) const {
        return is_one_column_ ? other_row : Index(other_row * groups_ + group_);
    }

    Index row;

private:
    bool is_one_column_ = true;
    Index groups_, group_;
};

/// sum += value * x if the condition is true; otherwise x counts as 0. x is always loaded, so that no load
/// waits for another.
template <class T, class X>
void add_if(const Bool& is_there, Var<X>& sum, const Var<T>& value, const Var<X>& x) {
    Var<X> element = x;
    BALM_IF (!is_there) {
        element = Var<X>();
    }
    sum += value * element;
}

}  // namespace balm::array::row_function
