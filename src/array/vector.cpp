// Vectors: allocation, copies to and from the host, fills. What is computed goes through evaluate.cpp.

#include "balm/vector.hpp"

#include <fmt/format.h>

#include "array/vector_state.hpp"
#include "balm/error.hpp"

namespace balm {

namespace detail {

void index_out_of_range(std::size_t index, std::size_t size) {
    throw usage_error(fmt::format("element {} of a vector of {} elements is asked for", index, size));
}

void vector_without_device() {
    throw usage_error("the elements of a vector are asked for that has no device; assign to it first");
}

}  // namespace detail

namespace array {

namespace {

void check_precision(const runtime::device_state& device, scalar type) {
    if (type == scalar::f64 && !device.info().has_double)
        throw usage_error(fmt::format("{} has no double precision; use float", device.words()));
}

}  // namespace

vector_state::vector_state(std::shared_ptr<runtime::device_state> device, scalar type, std::size_t size)
    : device_(std::move(device)), type_(type), size_(size) {
    if (size > SIZE_MAX / size_of(type) || static_cast<std::int64_t>(size) < 0)
        throw usage_error(fmt::format("a vector of {} elements is asked for", size));
    check_precision(*device_, type);
    memory_ = device_->allocate(size * size_of(type), {"a vector", shape(size), size_of(type)});
}

vector_state::vector_state(std::shared_ptr<runtime::storage> memory, scalar type, std::size_t size,
                           std::size_t offset)
    : device_(memory->device_handle()),
      type_(type),
      size_(size),
      memory_(std::move(memory)),
      offset_(offset),
      is_whole_(memory_->is_padded() && offset == 0 && bytes() == memory_->bytes()) {
    check_precision(*device_, type);
}

std::shared_ptr<vector_state> make_vector(const context& where, scalar type, std::size_t size) {
    if (where.size() != 1)
        throw usage_error(
            fmt::format("a vector lives on one device, but the context has {}; choose one with "
                        "balm::filter::count(1)",
                        where.size()));
    return std::make_shared<vector_state>(where.device(0).state(), type, size);
}

std::size_t size_of(const vector_state& v) { return v.size(); }
const std::shared_ptr<runtime::storage>& storage_of(const vector_state& v) { return v.memory(); }
std::size_t offset_of(const vector_state& v) { return v.offset(); }

void write(vector_state& to, std::size_t offset, const void* from, std::size_t count) {
    const std::size_t bytes = balm::size_of(to.type());
    to.device().default_queue().enqueue_write(*to.memory(), to.offset() + offset * bytes, from, count * bytes,
                                              nullptr);
}

void read(const vector_state& from, std::size_t offset, void* to, std::size_t count) {
    const std::size_t bytes = balm::size_of(from.type());
    from.device().default_queue().read(to, *from.memory(), from.offset() + offset * bytes, count * bytes);
}

void fill(vector_state& to, const void* value) {
    const std::size_t bytes = balm::size_of(to.type());
    to.device().default_queue().enqueue_fill(*to.memory(), to.offset(), to.size() * bytes,
                                             {static_cast<const std::byte*>(value), bytes});
}

void copy(vector_state& to, const vector_state& from) {
    if (to.size() != from.size())
        throw usage_error(
            fmt::format("a vector of {} elements is assigned to one of {}", from.size(), to.size()));
    if (to.overlaps(from)) {
        const auto part = [](const vector_state& of) {
            return balm::detail::memory_part{
                of.memory(), balm::size_of(of.type()), shape(of.size()), of.offset(), 0, 0, "a vector"};
        };
        balm::detail::part_copy(part(to), part(from), {});
        return;
    }
    to.device().default_queue().enqueue_copy(*to.memory(), to.offset(), *from.memory(), from.offset(),
                                             from.bytes());
}

}  // namespace array
}  // namespace balm
