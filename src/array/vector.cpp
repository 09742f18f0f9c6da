// Vectors: allocation, copies to and from the host, fills. Expressions are computed in evaluate.cpp.

#include "balm/vector.hpp"

#include <fmt/format.h>

#include "array/spread/partition.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"

namespace balm {

namespace detail {

void index_out_of_range(std::size_t index, std::size_t size) {
    throw usage_error(fmt::format("index {} is out of range for a vector of {} elements", index, size));
}

void vector_without_device() {
    throw usage_error("this vector has no device, and so no elements; assign to it first");
}

const std::shared_ptr<runtime::storage>& no_memory() {
    static const auto& none = *new std::shared_ptr<runtime::storage>;
    return none;
}

}  // namespace detail

namespace array {

namespace {

void check_precision(const runtime::device_state& device, trace::type type) {
    if (type.element == scalar::f64 && !device.info().has_double)
        throw usage_error(fmt::format("{} does not support double precision; use float", device.words()));
}

balm::detail::memory_part part_of(const vector_state& v) {
    return {v.memory(), v.element_size(), shape(v.size()), v.offset(), 0, 0, "a vector"};
}

}  // namespace

vector_state::vector_state(std::shared_ptr<runtime::device_state> device, trace::type type, std::size_t size)
    : device_(std::move(device)), type_(type), element_size_(trace::size_of(type)), size_(size) {
    const shape extents(size);
    check_precision(*device_, type);
    memory_ = device_->allocate(balm::detail::bytes_of(extents, element_size_),
                                {"a vector", extents, element_size_});
}

vector_state::vector_state(std::shared_ptr<runtime::storage> memory, trace::type type, std::size_t size,
                           std::size_t offset)
    : device_(memory->device_handle()),
      type_(type),
      element_size_(trace::size_of(type)),
      size_(size),
      memory_(std::move(memory)),
      offset_(offset),
      is_whole_(memory_->is_padded() && offset == 0 && bytes() == memory_->bytes()) {
    check_precision(*device_, type);
}

std::shared_ptr<vector_state> make_vector(const context& where, trace::type type, std::size_t size,
                                          trace::location made_at) {
    std::shared_ptr<vector_state> made = make_vector(where, type, size);
    made->set_made_at(made_at);
    return made;
}

std::shared_ptr<vector_state> make_vector(const context& where, trace::type type, std::size_t size) {
    if (where.size() == 1) return std::make_shared<vector_state>(where.device(0).state(), type, size);
    balm::detail::bytes_of(shape(size),
                           trace::size_of(type));  // errors name the whole size, not that of a part
    const std::vector<std::size_t> first = partition(size, weights_of(where));
    std::vector<vector_state::part> parts;
    for (std::size_t k = 0; k < where.size(); ++k)
        parts.push_back({first[k], std::make_shared<vector_state>(where.device(k).state(), type,
                                                                  first[k + 1] - first[k])});
    return std::make_shared<vector_state>(std::move(parts), type, size, where.weights());
}

context context_of(const vector_state& v) {
    if (!v.is_spread()) return context({device(v.device_handle())});
    std::vector<device> devices;
    for (const vector_state::part& p : v.parts()) devices.emplace_back(p.elements->device_handle());
    const context where(std::move(devices));
    return v.weights().empty() ? where : where.weighted(std::vector(v.weights().begin(), v.weights().end()));
}

std::size_t size_of(const vector_state& v) { return v.size(); }
std::size_t offset_of(const vector_state& v) { return v.offset(); }

void write(vector_state& to, std::size_t offset, const void* from, std::size_t count) {
    const std::size_t bytes = to.element_size();
    for_each_part(to, offset, count,
                  [&](const vector_state& part, std::size_t first, std::size_t some, std::size_t done) {
                      part.device().default_queue().enqueue_write(
                          *part.memory(), part.offset() + first * bytes,
                          static_cast<const std::byte*>(from) + done * bytes, some * bytes, nullptr);
                  });
}

void read(const vector_state& from, std::size_t offset, void* to, std::size_t count) {
    const std::size_t bytes = from.element_size();
    for_each_part(from, offset, count,
                  [&](const vector_state& part, std::size_t first, std::size_t some, std::size_t done) {
                      part.device().default_queue().read(static_cast<std::byte*>(to) + done * bytes,
                                                         *part.memory(), part.offset() + first * bytes,
                                                         some * bytes);
                  });
}

namespace {

/// Whether a whole vector is filled or copied by a statement, which other statements can be fused with: in a
/// recording, if the kernel's elements have the bits of those in memory.
bool is_fused(const vector_state& to) {
    return runtime::command_list::of_thread() != nullptr && !to.is_spread() && to.type().is_scalar() &&
           to.type() != scalar::f16 && !to.weak_from_this().expired();
}

}  // namespace

void fill(vector_state& to, const void* value) {
    const std::size_t bytes = to.element_size();
    if (is_fused(to)) [[unlikely]] {
        std::uint64_t bits = 0;
        std::memcpy(&bits, value, bytes);
        tape filled;
        filled.push_value(step::kind::scalar, to.type(), bits);
        return assign(to, std::move(filled));
    }
    for_each_part(
        to, 0, to.size(), [&](const vector_state& part, std::size_t first, std::size_t some, std::size_t) {
            if (bytes > 16 || (bytes & (bytes - 1)) != 0) {  // no driver fills memory with such values
                balm::detail::memory_part filled = part_of(part);
                filled.offset += first * bytes;
                filled.extents = shape(some);
                balm::detail::part_fill(filled, value, {});
                return;
            }
            part.device().default_queue().enqueue_fill(*part.memory(), part.offset() + first * bytes,
                                                       some * bytes,
                                                       {static_cast<const std::byte*>(value), bytes});
        });
}

void copy(vector_state& to, const vector_state& from) {
    if (to.size() != from.size())
        throw usage_error(
            fmt::format("a vector of {} elements cannot be assigned to one of {}", from.size(), to.size()));
    if (is_fused(to) && !from.is_spread() && &from.device() == &to.device() &&
        !from.weak_from_this().expired()) [[unlikely]] {
        tape copied;
        copied.push_vector(std::const_pointer_cast<vector_state>(from.shared_from_this()));  // NOLINT
        return assign(to, std::move(copied));
    }
    copy_elements(to, 0, from, 0, to.size());
}

}  // namespace array
}  // namespace balm
