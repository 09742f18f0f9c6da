#pragma once
// A list with inline storage: up to N elements inside the object, more on the heap.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace balm::detail {

template <class T, std::size_t N>
class inline_vector {
public:
    inline_vector() noexcept : data_(inside()) {}
    inline_vector(const inline_vector& other) : inline_vector() { append(other.begin(), other.end()); }
    inline_vector(inline_vector&& other) noexcept { take(other); }
    inline_vector& operator=(const inline_vector& other) { return *this = inline_vector(other); }  // NOLINT
    inline_vector& operator=(inline_vector&& other) noexcept {
        if (this == &other) return *this;
        release();
        take(other);
        return *this;
    }
    ~inline_vector() { release(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t k) { return data_[k]; }
    const T& operator[](std::size_t k) const { return data_[k]; }
    T& back() { return data_[size_ - 1]; }

    friend bool operator==(const inline_vector& a, const inline_vector& b) {
        if (a.size_ != b.size_) return false;
        for (std::size_t k = 0; k < a.size_; ++k)
            if (!(a.data_[k] == b.data_[k])) return false;
        return true;
    }

    void push_back(T value) {
        make_room(size_ + 1);
        std::construct_at(data_ + size_, std::move(value));
        ++size_;
    }
    void append(const T* first, const T* last) {
        const auto count = static_cast<std::size_t>(last - first);
        make_room(size_ + count);
        std::uninitialized_copy_n(first, count, data_ + size_);
        size_ += count;
    }
    /// Appends `count` uninitialised elements for the caller to write, and returns a pointer to the first.
    T* extend(std::size_t count) requires std::is_trivial_v<T> {
        make_room(size_ + count);
        size_ += count;
        return data_ + size_ - count;
    }
    void clear() noexcept {
        std::destroy_n(data_, size_);
        size_ = 0;
    }
    /// Moves the elements of the other list, which is empty afterwards.
    void append(inline_vector&& other) {
        make_room(size_ + other.size_);
        relocate(other.data_, other.size_, data_ + size_);
        size_ += other.size_;
        other.size_ = 0;
    }

private:
    T* inside() { return std::launder(reinterpret_cast<T*>(bytes_)); }
    static void relocate(T* from, std::size_t count, T* to) noexcept {
        std::uninitialized_move_n(from, count, to);
        std::destroy_n(from, count);
    }
    void make_room(std::size_t count) {
        if (count <= capacity_) [[likely]]
            return;
        const std::size_t more = count < 2 * capacity_ ? 2 * capacity_ : count;
        T* const wider = std::allocator<T>{}.allocate(more);
        relocate(data_, size_, wider);
        free();
        data_ = wider;
        capacity_ = more;
    }
    /// Takes over the other's elements. This list must own no elements and no heap memory.
    void take(inline_vector& other) noexcept {
        size_ = std::exchange(other.size_, 0);
        if (other.data_ == other.inside()) {
            data_ = inside();
            capacity_ = N;
            relocate(other.data_, size_, data_);
        } else {
            data_ = std::exchange(other.data_, other.inside());
            capacity_ = std::exchange(other.capacity_, N);
        }
    }
    void release() noexcept {
        std::destroy_n(data_, size_);
        free();
    }
    void free() noexcept {
        if (data_ != inside()) std::allocator<T>{}.deallocate(data_, capacity_);
    }

    T* data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = N;
    alignas(T) std::byte bytes_[N * sizeof(T)];
};

}  // namespace balm::detail
