#pragma once
// A list that is usually empty, and then has the size of a pointer: for members that few expressions use but
// all contain.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace balm::detail {

template <class T>
class rare_list {
public:
    rare_list() = default;
    rare_list(const rare_list& other) { append(other); }
    rare_list(rare_list&&) noexcept = default;
    rare_list& operator=(const rare_list& other) { return *this = rare_list(other); }
    rare_list& operator=(rare_list&&) noexcept = default;
    ~rare_list() = default;

    std::size_t size() const { return elements_ ? elements_->size() : 0; }
    bool empty() const { return !elements_; }
    const T* begin() const { return elements_ ? elements_->data() : nullptr; }
    const T* end() const { return begin() + size(); }
    T& operator[](std::size_t k) { return (*elements_)[k]; }
    const T& operator[](std::size_t k) const { return (*elements_)[k]; }

    void push_back(T value) { made().push_back(std::move(value)); }
    void append(const T* first, const T* last) {
        if (first != last) made().insert(made().end(), first, last);
    }
    void append(const rare_list& other) { append(other.begin(), other.end()); }

private:
    std::vector<T>& made() {
        if (!elements_) elements_ = std::make_unique<std::vector<T>>();
        return *elements_;
    }
    std::unique_ptr<std::vector<T>> elements_;
};

}  // namespace balm::detail
