#pragma once
// Vectors, partitioned over the devices of a context.

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/interop.hpp>
#include <balm/vector.hpp>

#include "vexcl/backend.hpp"
#include "vexcl/detail/assignments.hpp"
#include "vexcl/detail/expression.hpp"
#include "vexcl/detail/vector_element.hpp"
#include "vexcl/devlist.hpp"
#include "vexcl/operations.hpp"
#include "vexcl/profiler.hpp"
#include "vexcl/util.hpp"

namespace vex {

template <class T>
class address;

namespace detail {

/// Prints an element in a column: integers six characters wide, other numbers fourteen, with six digits.
template <class T>
void print_element(std::ostream& to, const T& value) {
    const std::ios_base::fmtflags flags = to.flags();
    const std::streamsize precision = to.precision(6);
    if constexpr (std::is_integral_v<T>)
        to << std::setw(6) << +value;
    else if constexpr (std::is_arithmetic_v<T>)
        to << std::scientific << std::setw(14) << value;
    else
        to << value;
    to.flags(flags);
    to.precision(precision);
}

}  // namespace detail

/// An array of elements of T, partitioned over queues: each queue's device holds one contiguous part. Copying
/// is deep.
///
///     vex::Context ctx(vex::Filter::Env);
///     vex::vector<double> x(ctx, host), y(ctx, x.size());
///     y = 2 * x - sin(x);
///     vex::copy(y, host);
template <class T>
class vector : public expression_base {
    static_assert(
        requires { typename detail::balm_element_of<T>::type; },
        "vex::vector: elements are numbers, OpenCL's short vectors, std::array and std::complex of numbers "
        "if "
        "vex::is_cl_native is specialised for them, and structures that BALM_STRUCT describes");
    using D = detail::balm_element<T>;
    using queue_vector = std::vector<command_queue>;
    using call_site = balm::detail::call_site;

public:
    typedef T value_type;
    typedef std::size_t size_type;
    typedef detail::vector_element<vector> element;
    typedef detail::vector_element<const vector> const_element;
    typedef detail::vector_iterator<vector, element> iterator;
    typedef detail::vector_iterator<const vector, const_element> const_iterator;

    // ---- construction: n elements, optionally copied from `host`, or the elements of an expression.
    // Messages identify the vector by the line of this call. ----

    /// No elements and no queues.
    vector() = default;
    vector(const vector&) = default;
    vector(vector&& other) noexcept { swap(other); }
    ~vector() = default;
    vector(const queue_vector& queues, std::size_t n, const T* host = nullptr,
           backend::mem_flags = backend::MEM_READ_WRITE, call_site from = call_site::here())
        : vector(detail::queue_list(queues), n, host, from) {}
    vector(const queue_vector& queues, const std::vector<T>& host,
           backend::mem_flags = backend::MEM_READ_WRITE, call_site from = call_site::here())
        : vector(detail::queue_list(queues), host.size(), host.data(), from) {}
    /// On the queues of the current context.
    vector(std::size_t n, const T* host = nullptr, backend::mem_flags flags = backend::MEM_READ_WRITE,
           call_site from = call_site::here())
        : vector(current_context().queue(), n, host, flags, from) {}
    vector(const std::vector<T>& host, backend::mem_flags flags = backend::MEM_READ_WRITE,
           call_site from = call_site::here())
        : vector(current_context().queue(), host, flags, from) {}
    /// Shares existing memory: its first `n` elements, or all of them if `n` is 0.
    vector(const command_queue& queue, const backend::device_vector<T>& memory, std::size_t n = 0)
        : queues_(queue_vector{queue}) {
        if (memory.balm_elements())
            of_ = balm::as_vector(memory.balm_elements()->range(0, n == 0 ? memory.size() : n));
    }
    /// Shares memory of another library, a cl_mem or an object that holds one, which belongs to the context
    /// of the queue.
    ///
    ///     vex::vector<double> x(ctx.queue(0), buffer);  // a cl::Buffer
    template <detail::handle_argument<cl_mem> Memory>
    vector(const command_queue& queue, const Memory& memory, std::size_t n = 0)
        : vector(queue, backend::device_vector<T>(queue, memory), n) {}
    /// Computes an expression, on the queues of its first vector. Throws std::runtime_error if the expression
    /// contains no vectors.
    template <detail::vexpr A>
    requires(!std::same_as<std::remove_cvref_t<A>, vector>) vector(const A& a)  // NOLINT
        : queues_(detail::queues_of(a)) {
        precondition(static_cast<bool>(queues_),
                     "Cannot determine the queues of an expression without vectors");
        const detail::on_queues scope(queues_);
        of_ = balm::vector<D>(detail::assigned<D>(a));
    }
    /// Takes over a Balm vector.
    template <std::same_as<balm::vector<D>> B>  // a template: braces are a std::vector<T>
    vector(const queue_vector& queues, B of) : of_(std::move(of)), queues_(detail::queue_list(queues)) {}
    vector(detail::queue_list queues, balm::vector<D> of) : of_(std::move(of)), queues_(std::move(queues)) {}

    /// A vector that shares the same bytes, as elements of another type.
    template <class U>
    vector<U> reinterpret() const {
        return vector<U>(queues_, of_.template as<detail::balm_element<U>>());
    }

    void swap(vector& other) noexcept {
        using std::swap;
        swap(of_, other.of_);
        swap(queues_, other.queues_);
    }
    friend void swap(vector& a, vector& b) noexcept { a.swap(b); }
    /// Replaces the vector by one constructed from these arguments.
    void resize(const vector& other, backend::mem_flags = backend::MEM_READ_WRITE) {
        vector(other).swap(*this);
    }
    void resize(const queue_vector& queues, std::size_t n, const T* host = nullptr,
                backend::mem_flags flags = backend::MEM_READ_WRITE, call_site from = call_site::here()) {
        vector(queues, n, host, flags, from).swap(*this);
    }
    void resize(const queue_vector& queues, const std::vector<T>& host,
                backend::mem_flags flags = backend::MEM_READ_WRITE, call_site from = call_site::here()) {
        vector(queues, host, flags, from).swap(*this);
    }
    void resize(std::size_t n, const T* host = nullptr, backend::mem_flags flags = backend::MEM_READ_WRITE,
                call_site from = call_site::here()) {
        vector(n, host, flags, from).swap(*this);
    }
    /// Sets every element to zero.
    void clear() { *this = T(); }

    // ---- size and partition ----

    std::size_t size() const { return of_.size(); }
    bool empty() const { return size() == 0; }
    /// The number of parts, one for each queue.
    std::size_t nparts() const { return queues_.size(); }
    std::size_t part_size(unsigned d) const { return nparts() == 1 ? size() : (*this)(d).size(); }
    /// The index of a part's first element.
    std::size_t part_start(unsigned d) const { return d == 0 ? 0 : partition()[d]; }
    /// The index of each part's first element, followed by size().
    std::vector<std::size_t> partition() const {
        std::vector<std::size_t> starts{0};
        for (const auto& part : of_.parts()) starts.push_back(starts.back() + part.size());
        starts.resize(nparts() + 1, starts.back());
        return starts;
    }
    const queue_vector& queue_list() const { return queues_.queues(); }
    /// The memory of part d; const, so that `auto&` binds to it.
    const backend::device_vector<T> operator()(unsigned d = 0) const {
        auto parts = of_.parts();
        return d < parts.size() ? backend::device_vector<T>(std::move(parts[d]))
                                : backend::device_vector<T>();
    }
    /// Maps part d into host memory until the result is destroyed.
    auto map(unsigned d = 0) {
        return (*this)(d).map(queue_list()[d], backend::MAP_READ | backend::MAP_WRITE);
    }
    /// To read: commands may read the part meanwhile.
    auto map(unsigned d = 0) const { return (*this)(d).map(queue_list()[d], backend::MAP_READ); }

    // ---- single elements; each access is a transfer ----

    element operator[](std::size_t i) { return element(*this, i); }
    const const_element operator[](std::size_t i) const { return const_element(*this, i); }
    /// The same; throws std::out_of_range for an index that is not less than size().
    element at(std::size_t i) { return element(*this, checked(i)); }
    const const_element at(std::size_t i) const { return const_element(*this, checked(i)); }
    T get(std::size_t i) const {
        const detail::on_queues scope(queues_);
        return detail::from_balm<T>(D(of_[i]));
    }
    void set(std::size_t i, const T& value) {
        const detail::on_queues scope(queues_);
        of_.set(i, detail::to_balm(value));
    }
    iterator begin() { return iterator(*this, 0); }
    iterator end() { return iterator(*this, size()); }
    const_iterator begin() const { return const_iterator(*this, 0); }
    const_iterator end() const { return const_iterator(*this, size()); }

    /// Copies n elements from host memory, which may be reused immediately.
    void write_data(std::size_t offset, std::size_t n, const T* host, bool, const queue_vector& on = {}) {
        transfer(offset, n, on, [&](auto range, std::size_t done) {
            range.write(std::span(reinterpret_cast<const D*>(host) + done, range.size()));
        });
    }
    /// Copies n elements to host memory. Blocks.
    void read_data(std::size_t offset, std::size_t n, T* host, bool, const queue_vector& on = {}) const {
        transfer(offset, n, on, [&](auto range, std::size_t done) {
            range.read_into(std::span(reinterpret_cast<D*>(host) + done, range.size()));
        });
    }

    // ---- assignment: an expression is one kernel on each device ----

    const vector& operator=(const vector& other) {  // NOLINT
        if (this == std::addressof(other)) return *this;
        if (empty()) queues_ = other.queues_;
        const detail::on_queues scope(queues_);
        of_ = other.of_;
        return *this;
    }
    const vector& operator=(vector&& other) noexcept {  // NOLINT
        swap(other);
        return *this;
    }
    template <detail::operand A>
    const vector& operator=(const A& a) {  // NOLINT
        if (!queues_) queues_ = detail::queues_of(a);
        const detail::on_queues scope(queues_);
        if constexpr (detail::host_scalar<A> && balm::scalar_type<D>)
            of_ = static_cast<D>(a);
        else
            of_ = detail::assigned<D>(a);
        return *this;
    }
#define VEX_COMPOUND(symbol, operation)         \
    template <detail::operand A>                \
    const vector& operator symbol(const A& a) { \
        return *this = *this operation a;       \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

    /// In expressions, a pointer to the current element; on the host, a pointer to the vector.
    vex::address<T> operator&() const;  // NOLINT(google-runtime-operator)

    // ---- the interface that detail/expression.hpp requires ----

    balm::expr<D> balm_expr() const { return balm::expr<D>(of_); }
    const detail::queue_list& queues() const { return queues_; }
    const balm::vector<D>& balm_vector() const { return of_; }
    balm::vector<D>& balm_vector() { return of_; }
    auto balm_targets() const { return std::tie(const_cast<balm::vector<D>&>(of_)); }
    template <detail::operand A>
    auto balm_values(const A& a) const {
        return std::tuple(detail::assigned<D>(a));
    }

    /// Prints five elements per row (ten if T is an integer type), after the index of the first one.
    friend std::ostream& operator<<(std::ostream& to, const vector& v) {
        const std::size_t in_row = std::is_integral_v<T> ? 10 : 5;
        std::vector<T> host(v.size());
        v.read_data(0, host.size(), host.data(), true);
        to << '{';
        for (std::size_t i = 0; i < host.size(); ++i) {
            if (i % in_row == 0) to << '\n' << std::setw(6) << i << ':';
            if constexpr (std::is_integral_v<T> || !std::is_arithmetic_v<T>) to << ' ';
            detail::print_element(to, host[i]);
        }
        return to << "\n}\n";
    }

private:
    template <class U>
    friend class vector;

    vector(detail::queue_list queues, std::size_t n, const T* host, call_site from)
        : queues_(std::move(queues)) {
        if (queues_.context() == nullptr) {
            precondition(n == 0, "A vector with elements needs a device; the list of queues is empty");
            return;
        }
        of_ = balm::vector<D>(*queues_.context(), n, from);
        if (host != nullptr) write_data(0, n, host, true);
    }
    std::size_t checked(std::size_t i) const {
        if (i >= size()) throw std::out_of_range("vex::vector::at: the index is out of range");
        return i;
    }
    /// Splits the n elements from `offset` on by parts: calls move(range, done) for each range of a part,
    /// where `done` elements precede it.
    template <class Move>
    void transfer(std::size_t offset, std::size_t n, const queue_vector& on, Move&& move) const {
        if (n == 0) return;
        std::optional<detail::on_queues> scope;
        if (on.empty())
            scope.emplace(queues_);
        else
            scope.emplace(on);
        std::size_t start = 0, done = 0;
        for (const auto& part : of_.parts()) {
            const std::size_t first = std::max(offset, start);
            const std::size_t last = std::min(offset + n, start + part.size());
            if (first < last) {
                move(part.range(first - start, last - start), done);
                done += last - first;
            }
            start += part.size();
        }
        precondition(done == n, "vex::vector: a copy exceeds the end of the vector");
    }

    balm::vector<D> of_;
    detail::queue_list queues_;
};

/// The index of the first element of each part of a vector of n elements on these queues, followed by n.
inline std::vector<std::size_t> partition(std::size_t n, const std::vector<command_queue>& queues) {
    if (queues.size() < 2) return {0, n};
    return vector<char>(queues, n).partition();
}
/// The speed of a = b + c on a queue's device, for set_partitioning().
inline double device_vector_perf(const command_queue& queue) {
    const std::vector<command_queue> one{queue};
    constexpr std::size_t n = std::size_t{1} << 20;
    vector<float> a(one, n), b(one, n), c(one, n);
    b = 1;
    c = 2;
    a = b + c;
    profiler<> time(one);
    time.tic_cl("");
    a = b + c;
    return 1 / time.toc();
}

// ---- copies between host and devices ----

/// Copies all elements between host and devices; host elements of another type are converted. Blocks
/// regardless of `blocking`.
template <class Td, class Th>
void copy(const vector<Td>& from, Th* to, bool blocking = true) {
    if constexpr (std::same_as<Td, Th>) {
        from.read_data(0, from.size(), to, blocking);
    } else {
        std::vector<Td> all(from.size());
        from.read_data(0, all.size(), all.data(), true);
        std::copy(all.begin(), all.end(), to);
    }
}
template <class Td, class Th>
void copy(const Th* from, vector<Td>& to, bool blocking = true) {
    if constexpr (std::same_as<Td, Th>) {
        to.write_data(0, to.size(), from, blocking);
    } else {
        const std::vector<Td> all(from, from + to.size());
        to.write_data(0, all.size(), all.data(), true);
    }
}
template <class Td, class Th>
void copy(const vector<Td>& from, std::vector<Th>& to, bool blocking = true) {
    copy(from, to.data(), blocking);
}
template <class Td, class Th>
requires std::convertible_to<Th, Td>
void copy(const std::vector<Th>& from, vector<Td>& to, bool blocking = true) {
    copy(from.data(), to, blocking);
}
/// Copies all elements between vectors, and converts them.
template <class From, class To>
void copy(const vector<From>& from, vector<To>& to) {
    to = from;
}
namespace detail {
template <class I>
inline constexpr bool is_device_iterator = requires {
    I::is_on_device;
};
}  // namespace detail
/// Copies a range from host to devices or from devices to host; the host range is contiguous.
///
///     vex::copy(x.begin() + 10, x.begin() + 20, host.begin());
template <class I, class O>
requires(detail::is_device_iterator<I> && !detail::is_device_iterator<O>) O
    copy(I first, I last, O to, bool blocking = true) {
    if (first == last) return to;
    first.vec->read_data(first.pos, static_cast<std::size_t>(last - first), &*to, blocking);
    return to + (last - first);
}
template <class I, class O>
requires(!detail::is_device_iterator<I> && detail::is_device_iterator<O>) O
    copy(I first, I last, O to, bool blocking = true) {
    if (first == last) return to;
    to.vec->write_data(to.pos, static_cast<std::size_t>(last - first), &*first, blocking);
    return to + (last - first);
}
/// Copies on these queues instead of the vector's.
template <class Td, class Th>
void copy(const std::vector<command_queue>& queues, const vector<Td>& from, Th&& to, bool blocking = true) {
    const detail::on_queues scope(queues);
    copy(from, std::forward<Th>(to), blocking);
}
template <class Td, class Th>
void copy(const std::vector<command_queue>& queues, const std::vector<Th>& from, vector<Td>& to,
          bool blocking = true) {
    const detail::on_queues scope(queues);
    copy(from, to, blocking);
}
template <class Td, class Th>
void copy(const std::vector<command_queue>& queues, const Th* from, vector<Td>& to, bool blocking = true) {
    const detail::on_queues scope(queues);
    copy(from, to, blocking);
}
template <class I, class O>
requires(detail::is_device_iterator<I> != detail::is_device_iterator<O>) O
    copy(const std::vector<command_queue>& queues, I first, I last, O to, bool blocking = true) {
    const detail::on_queues scope(queues);
    return copy(first, last, to, blocking);
}

}  // namespace vex

#include "vexcl/detail/tied_assignment.hpp"
#include "vexcl/vector_pointer.hpp"
