#pragma once
// Pointers to elements of vectors, in expressions and as arguments of functions.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <balm/vector.hpp>

#include "vexcl/detail/element_view.hpp"
#include "vexcl/vector.hpp"

namespace vex {

/// A place in the memory of a vector: its beginning, or an element that an expression of integers gives.
template <class D>
class pointer {
public:
    pointer(balm::vector<D> memory, detail::queue_list queues, bool is_constant = false)
        : memory_(std::move(memory)), queues_(std::move(queues)), is_constant_(is_constant) {}
    pointer(balm::vector<D> memory, detail::queue_list queues, balm::expr<std::int64_t> index)
        : memory_(std::move(memory)), queues_(std::move(queues)), index_(std::move(index)) {}

    template <detail::operand I>
    const pointer operator+(const I& i) const {
        return moved(detail::assigned<std::int64_t>(i));
    }
    template <detail::operand I>
    const pointer operator-(const I& i) const {
        return moved(-detail::assigned<std::int64_t>(i));
    }
    /// The element, to read and to assign.
    const vector_view<D> operator*() const {
        balm::vector<D> memory = memory_.share();
        return {memory[index()], queues_};
    }
    template <detail::operand I>
    const vector_view<D> operator[](const I& i) const {
        return *(*this + i);
    }

    const balm::vector<D>& memory() const { return memory_; }
    const detail::queue_list& queues() const { return queues_; }
    /// Counted from the beginning of the memory.
    balm::expr<std::int64_t> index() const {
        return index_ ? *index_ : balm::expr<std::int64_t>(balm::constant(std::int64_t{0}));
    }
    /// Whether a function may read it in the constant address space.
    bool is_constant() const { return is_constant_; }

    pointer(const pointer& other)
        : memory_(other.memory_.share()),
          queues_(other.queues_),
          index_(other.index_),
          is_constant_(other.is_constant_) {}
    pointer(pointer&&) noexcept = default;
    pointer& operator=(const pointer&) = delete;
    ~pointer() = default;

private:
    const pointer moved(balm::expr<std::int64_t> by) const {
        return pointer(memory_.share(), queues_, index_ ? *index_ + std::move(by) : std::move(by));
    }

    balm::vector<D> memory_;
    detail::queue_list queues_;
    std::optional<balm::expr<std::int64_t>> index_;
    bool is_constant_ = false;
};

/// What &x is: a pointer to the element of x that an expression of its size computes, and the host's pointer
/// to x.
template <class T>
class address : public pointer<detail::balm_element<T>> {
public:
    explicit address(const vector<T>& of)
        : pointer<detail::balm_element<T>>(of.balm_vector().share(), of.queues(),
                                           balm::element_index(0, of.size())),
          of_(std::addressof(of)) {}
    operator vector<T>*() const { return const_cast<vector<T>*>(of_); }  // NOLINT

private:
    const vector<T>* of_;
};
template <class T>
vex::address<T> vector<T>::operator&() const {  // NOLINT(google-runtime-operator)
    return vex::address<T>(*this);
}

/// The beginning of a vector on one device, for functions that take memory.
///
///     VEX_FUNCTION(double, left, (const double*, x)(size_t, i), return i > 0 ? x[i - 1] : 0;);
///     y = left(vex::raw_pointer(x), vex::element_index());
template <class T>
const pointer<detail::balm_element<T>> raw_pointer(const vector<T>& x) {
    precondition(x.nparts() == 1, "raw_pointer is for vectors on one device");
    return {x.balm_vector().share(), x.queues()};
}

}  // namespace vex
