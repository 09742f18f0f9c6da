#pragma once
// Memory of one device: the part of a vector on one queue, or an allocation.

#include "vexcl/detail/opencl.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <balm/buffer.hpp>
#include <balm/interop.hpp>

#include "vexcl/backend/context.hpp"
#include "vexcl/types.hpp"

namespace vex {
namespace backend {

typedef cl_mem_flags mem_flags;
inline constexpr mem_flags MEM_READ_ONLY = CL_MEM_READ_ONLY;
inline constexpr mem_flags MEM_WRITE_ONLY = CL_MEM_WRITE_ONLY;
inline constexpr mem_flags MEM_READ_WRITE = CL_MEM_READ_WRITE;
typedef cl_map_flags map_flags;
inline constexpr map_flags MAP_READ = CL_MAP_READ;
inline constexpr map_flags MAP_WRITE = CL_MAP_WRITE;

/// Elements of T, mapped into host memory until this object is destroyed; or none.
template <class T>
class mapped_array {
    using element = detail::balm_element<T>;

public:
    mapped_array() = default;
    explicit mapped_array(balm::mapped<element> of) : of_(std::move(of)) {}
    explicit mapped_array(balm::mapped<const element> of) : of_(std::move(of)) {}

    /// The address of the first element; null if none are mapped.
    T* get() const {
        return std::visit(
            [](const auto& of) -> T* {
                if constexpr (requires { of.data(); })
                    return reinterpret_cast<T*>(const_cast<element*>(of.data()));
                else
                    return nullptr;
            },
            of_);
    }
    T& operator[](std::size_t i) const { return get()[i]; }
    explicit operator bool() const { return get() != nullptr; }
    /// Unmaps the elements.
    void reset() { of_ = std::monostate(); }

private:
    std::variant<std::monostate, balm::mapped<element>, balm::mapped<const element>> of_;
};
/// Maps memory of Balm's; with MAP_READ alone, commands may read it meanwhile.
template <class T, class Memory>
mapped_array<T> mapped(Memory& memory, map_flags flags) {
    return flags == MAP_READ ? mapped_array<T>(memory.map_to_read()) : mapped_array<T>(memory.map());
}

/// Elements of T in the memory of one device. A handle: copies refer to the same memory.
template <class T>
class device_vector {
    using element = detail::balm_element<T>;
    using elements = balm::buffer_range<element, balm::access::mixed>;

public:
    typedef T value_type;
    /// The native handle type of the backend that the program is compiled for.
#ifdef VEXCL_BACKEND_CUDA
    typedef unsigned long long raw_type;
#else
    typedef cl_mem raw_type;
#endif

    /// No elements.
    device_vector() = default;
    explicit device_vector(elements of) : of_(std::move(of)) {}
    /// Allocates n elements, copied from `host` if it is not null.
    device_vector(const command_queue& q, std::size_t n, const T* host = nullptr,
                  mem_flags = MEM_READ_WRITE) {
        if (n == 0) return;
        of_ = q.balm_device().mixed_buffer<element>(n);
        if (host != nullptr) write(q, 0, n, host, true);
    }
    template <class U>
    device_vector(const command_queue& q, std::size_t n, const U* host, mem_flags flags = MEM_READ_WRITE)
        : device_vector(q, n, std::vector<T>(host, host + n).data(), flags) {}

    /// Shares memory of another library, a cl_mem or an object that holds one, which belongs to the context
    /// of the queue: all elements that it has room for.
    template <detail::handle_argument<cl_mem> Memory>
    device_vector(const command_queue& q, const Memory& memory)
        : of_(balm::adopt_memory<element>(q.balm_device(), detail::handle_in<cl_mem>(memory))) {}

    std::size_t size() const { return of_ ? of_->size() : 0; }
    /// The native handle; null if there are no elements.
    raw_type raw() const { return of_ ? static_cast<raw_type>(balm::native(*of_).handle) : raw_type(); }
    /// The same memory, which converts to the classes of memory of OpenCL's C++ bindings and Boost.Compute.
    const device_vector& raw_buffer() const { return *this; }
    VEX_CONVERTS_TO_HOLDERS_OF(cl_mem)
    /// The same memory, as elements of another type.
    template <class U>
    device_vector<U> reinterpret() const {
        return of_ ? device_vector<U>(of_->template as<detail::balm_element<U>>()) : device_vector<U>();
    }

    /// Copies n elements from host memory, which may be reused immediately.
    void write(const command_queue& q, std::size_t offset, std::size_t n, const T* host, bool = false) const {
        if (n == 0) return;
        const balm::queue_scope on(q.balm_queue());
        of_->range(offset, offset + n).write(std::span(reinterpret_cast<const element*>(host), n));
    }
    /// Copies n elements to host memory. Blocks.
    void read(const command_queue& q, std::size_t offset, std::size_t n, T* host, bool = false) const {
        if (n == 0) return;
        const balm::queue_scope on(q.balm_queue());
        of_->range(offset, offset + n).read_into(std::span(reinterpret_cast<element*>(host), n));
    }

    using mapped_array = backend::mapped_array<T>;
    /// With MAP_READ alone, commands may read the memory meanwhile.
    mapped_array map(const command_queue& q, map_flags flags = MAP_READ | MAP_WRITE) const {
        const balm::queue_scope on(q.balm_queue());
        return size() == 0 ? mapped_array() : mapped<T>(*of_, flags);
    }

    /// The memory as an argument of Balm's kernels; empty if there are no elements.
    const std::optional<elements>& balm_elements() const { return of_; }

private:
    std::optional<elements> of_;
};

}  // namespace backend

using backend::device_vector;

}  // namespace vex
