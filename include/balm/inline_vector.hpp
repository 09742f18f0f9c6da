#pragma once
// A short list that needs no heap: up to N elements inside the object, more outside.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace balm::detail {

template <class T, std::size_t N>
class inline_vector {
public:
    inline_vector() = default;
    inline_vector(const inline_vector& other) { append(other.begin(), other.end()); }
    inline_vector(inline_vector&& other) noexcept { take(other); }
    inline_vector& operator=(inline_vector other) noexcept {
        clear();
        more_.clear();
        take(other);
        return *this;
    }
    ~inline_vector() { clear(); }

    std::size_t size() const { return more_.empty() ? size_ : more_.size(); }
    bool empty() const { return size() == 0; }
    T* begin() { return more_.empty() ? inside() : more_.data(); }
    T* end() { return begin() + size(); }
    const T* begin() const { return const_cast<inline_vector*>(this)->begin(); }
    const T* end() const { return begin() + size(); }
    T& operator[](std::size_t k) { return begin()[k]; }
    const T& operator[](std::size_t k) const { return begin()[k]; }
    T& back() { return begin()[size() - 1]; }

    void push_back(T value) {
        if (more_.empty() && size_ < N) {
            ::new (static_cast<void*>(inside() + size_)) T(std::move(value));
            ++size_;
            return;
        }
        spill();
        more_.push_back(std::move(value));
    }
    void append(const T* first, const T* last) {
        for (; first != last; ++first) push_back(*first);
    }

private:
    T* inside() { return std::launder(reinterpret_cast<T*>(bytes_)); }
    void spill() {
        if (!more_.empty()) return;
        more_.reserve(2 * N);
        for (std::size_t k = 0; k < size_; ++k) more_.push_back(std::move(inside()[k]));
        clear();
    }
    void take(inline_vector& other) noexcept {
        more_ = std::move(other.more_);
        for (std::size_t k = 0; k < other.size_; ++k)
            ::new (static_cast<void*>(inside() + k)) T(std::move(other.inside()[k]));
        size_ = other.size_;
        other.clear();
        other.more_.clear();
    }
    void clear() noexcept {
        std::destroy_n(inside(), size_);
        size_ = 0;
    }

    alignas(T) std::byte bytes_[N * sizeof(T)];
    std::size_t size_ = 0;
    std::vector<T> more_;
};

}  // namespace balm::detail
