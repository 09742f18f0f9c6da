#pragma once
// Access to single elements of vectors from the host: x[i], and iterators. Each access is a transfer.

#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ostream>
#include <utility>

#include "vexcl/detail/assignments.hpp"

namespace vex {
namespace detail {

/// A reference to an element of V: conversion reads it, assignment writes it. Both block.
template <class V>
class vector_element {
    using T = typename V::value_type;

public:
    vector_element(V& of, std::size_t index) : of_(std::addressof(of)), index_(index) {}
    vector_element(const vector_element&) = default;

    operator T() const { return of_->get(index_); }  // NOLINT(google-explicit-constructor)
    T operator=(T value) const {                     // NOLINT
        of_->set(index_, value);
        return value;
    }
    T operator=(const vector_element& other) const { return *this = static_cast<T>(other); }  // NOLINT
#define VEX_COMPOUND(symbol, operation)                                       \
    template <class U>                                                        \
    requires requires(T t, U u) { t operation u; }                            \
    T operator symbol(const U& value) const {                                 \
        return *this = static_cast<T>(static_cast<T>(*this) operation value); \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

    friend void swap(vector_element a, vector_element b) {
        const T value = a;
        a = static_cast<T>(b);
        b = value;
    }

    /// Prints the value.
    friend std::ostream& operator<<(std::ostream& to, const vector_element& e) {
        return to << static_cast<T>(e);
    }

private:
    V* of_;
    std::size_t index_;
};

/// A random-access iterator over the elements of V. It works with standard algorithms, at one transfer per
/// access; vex::copy() transfers a range at once.
template <class V, class Element>
class vector_iterator {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = typename V::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Element;
    /// Distinguishes device iterators from host iterators, for vex::copy().
    static constexpr bool is_on_device = true;

    vector_iterator() = default;
    vector_iterator(V& v, std::size_t position) : vec(std::addressof(v)), pos(position) {}

    reference operator*() const { return Element(*vec, pos); }
    reference operator[](difference_type n) const { return *(*this + n); }
    vector_iterator& operator+=(difference_type n) {
        pos = static_cast<std::size_t>(static_cast<difference_type>(pos) + n);
        return *this;
    }
    vector_iterator& operator-=(difference_type n) { return *this += -n; }
    vector_iterator& operator++() { return *this += 1; }
    vector_iterator& operator--() { return *this -= 1; }
    vector_iterator operator++(int) {
        const vector_iterator before = *this;
        ++*this;
        return before;
    }
    vector_iterator operator--(int) {
        const vector_iterator before = *this;
        --*this;
        return before;
    }
    friend vector_iterator operator+(vector_iterator i, difference_type n) { return i += n; }
    friend vector_iterator operator+(difference_type n, vector_iterator i) { return i += n; }
    friend vector_iterator operator-(vector_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const vector_iterator& a, const vector_iterator& b) {
        return static_cast<difference_type>(a.pos) - static_cast<difference_type>(b.pos);
    }
    friend bool operator==(const vector_iterator& a, const vector_iterator& b) { return a.pos == b.pos; }
    friend auto operator<=>(const vector_iterator& a, const vector_iterator& b) { return a.pos <=> b.pos; }

    V* vec = nullptr;
    std::size_t pos = 0;
};

}  // namespace detail
}  // namespace vex
