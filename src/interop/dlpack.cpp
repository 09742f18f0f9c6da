// Exports and imports DLPack tensors. Export: a struct that owns the memory until its deleter is called.
// Import: a tensor's memory, read on the host, or adopted like other driver memory.

#include "balm/dlpack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "array/map/placement.hpp"
#include "array/vector_state.hpp"
#include "balm/error.hpp"
#include "balm/interop.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::detail {

namespace {

constexpr std::size_t most_dimensions = shape::max_dimensions + 1;  // one for lanes

/// Waits until the commands that use the memory have completed.
void wait_for_uses(const std::shared_ptr<runtime::storage>& memory) {
    const device on(memory->device_handle());
    event last = run_native(
        on.queue().state(), [](void*) {}, {}, {memory}, wait_list());
    last.wait();
}

// ---- export ----

std::uint8_t code_of(char kind) {
    switch (kind) {
        case 'b': return dlpack::is_bool;
        case 'i': return dlpack::is_int;
        case 'u': return dlpack::is_uint;
        case 'c': return dlpack::is_complex;
        default: return dlpack::is_float;
    }
}

/// A tensor's struct, of either kind, with everything that it points to.
template <class M>
struct exported_tensor {
    M managed{};
    std::array<std::int64_t, most_dimensions> sizes{}, apart{};
    std::shared_ptr<void> owner;
    std::shared_ptr<runtime::storage> memory;

    static void release(M* of) { delete static_cast<exported_tensor*>(of->manager_ctx); }
};

/// The layout of an exported array; strides are counted in elements.
struct elements_at {
    shape extents;
    std::array<std::int64_t, shape::max_dimensions> strides{};
};

template <class M>
M* export_as(dlpack_source&& of, const elements_at& at) {
    auto made = std::make_unique<exported_tensor<M>>();
    M& managed = made->managed;
    dlpack::tensor& tensor = managed.dl_tensor;
    if (of.memory != nullptr) {
        wait_for_uses(of.memory);
        const native_memory native = native_of(of.memory, of.byte_offset);
        const device on(of.memory->device_handle());
        const bool is_cuda = on.info().api == backend::cuda;
        tensor.data = native.handle;
        tensor.byte_offset = native.byte_offset;
        tensor.device = {is_cuda ? dlpack::on_cuda : dlpack::on_opencl,
                         is_cuda ? static_cast<std::int32_t>(balm::native(on).device.value()) : 0};
    } else {
        tensor.data = of.data;
        tensor.device = {dlpack::on_cpu, 0};
    }
    const element_layout& element = of.element;
    int dimensions = at.extents.dimensions();
    for (int d = 0; d < dimensions; ++d) {
        const auto u = static_cast<std::size_t>(d);
        made->sizes[u] = static_cast<std::int64_t>(at.extents[d]);
        made->apart[u] = at.strides[u] * element.lanes_in_memory;
    }
    if (element.lanes > 1) {
        made->sizes[static_cast<std::size_t>(dimensions)] = element.lanes;
        made->apart[static_cast<std::size_t>(dimensions)] = 1;
        ++dimensions;
    }
    tensor.ndim = dimensions;
    tensor.dtype = {code_of(element.kind), static_cast<std::uint8_t>(8 * element.bytes), 1};
    tensor.shape = made->sizes.data();
    tensor.strides = made->apart.data();
    made->owner = std::move(of.owner);
    made->memory = std::move(of.memory);
    managed.manager_ctx = made.get();
    managed.deleter = exported_tensor<M>::release;
    if constexpr (requires { managed.version; }) {
        managed.version = {dlpack::major_version, dlpack::minor_version};
        managed.flags = of.is_constant ? static_cast<std::uint64_t>(dlpack::read_only) : 0;
    }
    return &made.release()->managed;
}

template <class M>
M* export_whole(dlpack_source&& of) {
    const array::affine_map rows = array::row_major(of.extents);
    return export_as<M>(std::move(of), {rows.box, rows.strides});
}

template <class M>
M* export_view(const array::selection& of, const element_layout& element) {
    const array::affine_map* const map = array::affine(of.where);
    const bool is_vector = of.of.steps.size() == 1 && of.of.steps[0].what == array::step::kind::vector &&
                           of.of.vectors.size() == 1 && of.of.produced.empty();
    if (!is_vector || map == nullptr)
        throw usage_error(
            fmt::format("A view of {} cannot become a DLPack tensor, because strides do not describe it; "
                        "assign it to a vector, or export what to_host() returns.",
                        is_vector ? "computed positions" : "an expression"));
    const array::vector_state& x = *of.of.vectors[0];
    dlpack_source source;
    source.memory = array::storage_of(x);
    source.byte_offset = x.offset() + static_cast<std::size_t>(map->offset) * x.element_size();
    source.element = element;
    source.extents = map->box;
    return export_as<M>(std::move(source), {map->box, map->strides});
}

}  // namespace

dlpack::managed_tensor* export_dlpack(dlpack_source&& of) {
    return export_whole<dlpack::managed_tensor>(std::move(of));
}
dlpack::versioned_tensor* export_dlpack_versioned(dlpack_source&& of) {
    return export_whole<dlpack::versioned_tensor>(std::move(of));
}
dlpack::managed_tensor* export_dlpack(const array::selection& of, const element_layout& element) {
    return export_view<dlpack::managed_tensor>(of, element);
}
dlpack::versioned_tensor* export_dlpack_versioned(const array::selection& of, const element_layout& element) {
    return export_view<dlpack::versioned_tensor>(of, element);
}

// ---- import ----

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw usage_error(fmt::format("A DLPack tensor cannot be imported: {}.", why));
}

template <class M>
void give_back(void* managed) {
    auto* const of = static_cast<M*>(managed);
    if (of->deleter != nullptr) of->deleter(of);
}

template <class M>
dlpack_import import_of(M* managed) {
    const dlpack::tensor& tensor = managed->dl_tensor;
    if (tensor.ndim < 0 || tensor.ndim > static_cast<std::int32_t>(most_dimensions))
        refuse(fmt::format("it has {} dimensions; Balm's arrays have one to {}", tensor.ndim,
                           shape::max_dimensions));
    if (tensor.ndim > 0 && tensor.shape == nullptr) refuse("it has no shape");
    for (std::int32_t d = 0; d < tensor.ndim; ++d)
        if (tensor.shape[d] < 0) refuse(fmt::format("its dimension {} has the size {}", d, tensor.shape[d]));
    bool is_read_only = false;
    if constexpr (requires { managed->flags; }) is_read_only = (managed->flags & dlpack::read_only) != 0;
    return {&tensor, managed, give_back<M>, is_read_only};
}

std::string type_in_words(const dlpack::data_type& type) {
    const char* const kind = type.code == dlpack::is_int       ? "int"
                             : type.code == dlpack::is_uint    ? "uint"
                             : type.code == dlpack::is_float   ? "float"
                             : type.code == dlpack::is_complex ? "complex"
                             : type.code == dlpack::is_bool    ? "bool"
                                                               : nullptr;
    if (kind == nullptr) return fmt::format("type code {} with {} bits", type.code, type.bits);
    return fmt::format("{}{}{}", kind, type.bits, type.lanes == 1 ? "" : fmt::format(" x {}", type.lanes));
}

std::string place_of(const dlpack::device& where) {
    const char* const kind = where.device_type == dlpack::on_cpu            ? "the host"
                             : where.device_type == dlpack::on_cuda         ? "CUDA"
                             : where.device_type == dlpack::on_cuda_host    ? "CUDA pinned memory"
                             : where.device_type == dlpack::on_opencl       ? "OpenCL"
                             : where.device_type == dlpack::on_cuda_managed ? "CUDA managed memory"
                                                                            : nullptr;
    if (kind == nullptr) return fmt::format("a device of DLPack type {}", where.device_type);
    return fmt::format("{} (device {})", kind, where.device_id);
}

/// The layout of an import. Strides are counted in numbers; `lane` is the stride between the lanes of a short
/// vector.
struct imported_numbers {
    shape extents;
    std::array<std::int64_t, shape::max_dimensions> strides{};
    std::int64_t lane = 0;
    bool is_row_major = false;  ///< contiguous, in Balm's layout of the elements

    /// The positions of the first and the last number, relative to the number at index 0. Their bytes, and
    /// the bytes from the start of the tensor's memory, are less than 2^62.
    std::pair<std::int64_t, std::int64_t> reach(const element_layout& element,
                                                std::uint64_t byte_offset) const {
        std::int64_t first = 0, last = 0;
        const auto extend = [&](std::int64_t steps, std::int64_t apart) {
            std::int64_t& end = apart < 0 ? first : last;
            std::int64_t far = 0;
            if (__builtin_mul_overflow(steps, apart, &far) || __builtin_add_overflow(end, far, &end))
                refuse_reach();
        };
        for (int d = 0; d < extents.dimensions(); ++d)
            extend(static_cast<std::int64_t>(extents[d]) - 1, strides[static_cast<std::size_t>(d)]);
        extend(element.lanes - 1, lane);
        const std::int64_t most = farthest / (std::int64_t{element.lanes_in_memory} * element.bytes);
        if (first < -most || last > most || byte_offset > static_cast<std::uint64_t>(farthest))
            refuse_reach();
        return {first, last};
    }

private:
    static constexpr std::int64_t farthest = std::int64_t{1} << 61;  // of two that are added
    [[noreturn]] static void refuse_reach() {
        refuse("its sizes, strides and byte offset reach farther than any memory");
    }
};

std::int64_t product_of(std::int64_t a, std::int64_t b, std::string_view what) {
    std::int64_t made = 0;
    if (__builtin_mul_overflow(a, b, &made)) refuse(fmt::format("its {} overflow 64 bits", what));
    return made;
}

imported_numbers numbers_of(const dlpack_import& from, const element_layout& element) {
    const dlpack::tensor& tensor = *from.tensor;
    const bool has_lanes_in_type = tensor.dtype.lanes > 1;
    const bool takes_last = element.lanes > 1 && !has_lanes_in_type;
    const int all = tensor.ndim, dimensions = takes_last ? all - 1 : all;
    if (dimensions > shape::max_dimensions)
        refuse(fmt::format("it has {} dimensions; Balm's arrays have one to {}", all, shape::max_dimensions));
    if (takes_last && (all == 0 || tensor.shape[all - 1] != element.lanes))
        refuse(fmt::format("for short vectors of {} lanes its last dimension must be {}", element.lanes,
                           element.lanes));
    imported_numbers made;
    std::vector<std::size_t> sizes;
    sizes.reserve(most_dimensions);
    for (int d = 0; d < dimensions; ++d) sizes.push_back(static_cast<std::size_t>(tensor.shape[d]));
    made.extents = sizes.empty() ? shape(1) : shape(sizes);
    // A compact array may have none; strides count elements, which are numbers or groups of lanes.
    const std::int64_t unit = has_lanes_in_type ? tensor.dtype.lanes : 1;
    std::int64_t step = unit;
    for (int d = all; d-- > 0;) {
        const std::int64_t size = tensor.shape[d];
        // The stride of a single element, or of none, has no meaning, and may have any value.
        const std::int64_t apart = size <= 1 || made.extents.count() == 0 ? 0
                                   : tensor.strides == nullptr
                                       ? step
                                       : product_of(tensor.strides[d], unit, "strides");
        if (d < dimensions)
            made.strides[static_cast<std::size_t>(d)] = apart;
        else
            made.lane = apart;
        if (made.extents.count() != 0) step = product_of(step, size, "sizes");
    }
    if (has_lanes_in_type) made.lane = 1;
    made.is_row_major = element.lanes == 1 || made.lane == 1;
    std::int64_t expected = element.lanes_in_memory;
    for (int d = made.extents.dimensions(); d-- > 0;) {
        const auto size = static_cast<std::int64_t>(made.extents[d]);
        if (size > 1 && made.strides[static_cast<std::size_t>(d)] != expected) made.is_row_major = false;
        expected *= std::max<std::int64_t>(size, 1);
    }
    return made;
}

void check_type(const dlpack_import& from, const element_layout& element) {
    const dlpack::data_type& type = from.tensor->dtype;
    const bool has_lanes = type.lanes == 1 || (element.lanes > 1 && type.lanes == element.lanes);
    if (type.code != code_of(element.kind) || type.bits != 8 * element.bytes || !has_lanes)
        refuse(fmt::format("its elements are {}, not {}", type_in_words(type),
                           type_in_words({code_of(element.kind), static_cast<std::uint8_t>(8 * element.bytes),
                                          element.lanes})));
}

/// Elements need memory; a tensor without any may have none.
void check_data(const dlpack_import& from) {
    if (from.tensor->data == nullptr) refuse("its data pointer is null");
}

/// Keeps a tensor alive until the memory that is adopted from it is no longer used.
class imported_memory {
public:
    imported_memory(std::shared_ptr<runtime::storage> memory, const dlpack_import& of)
        : memory_(std::move(memory)), of_(of) {}
    imported_memory(const imported_memory&) = delete;
    imported_memory& operator=(const imported_memory&) = delete;
    ~imported_memory() {
        if (!is_kept_) return;
        try {
            wait_for_uses(memory_);
        } catch (const error&) {  // the device has failed or was freed: nothing uses the memory any more
        }
        memory_.reset();
        of_.give_back(of_.managed);
    }

    /// Takes ownership of the tensor.
    void keep() { is_kept_ = true; }

private:
    std::shared_ptr<runtime::storage> memory_;
    dlpack_import of_;
    bool is_kept_ = false;
};

const device& device_for(const dlpack_import& from, const context& where) {
    const dlpack::device& place = from.tensor->device;
    const bool is_cuda = place.device_type == dlpack::on_cuda || place.device_type == dlpack::on_cuda_managed;
    if (!is_cuda && place.device_type != dlpack::on_opencl)
        refuse(fmt::format("its elements are on {}, which Balm does not support", place_of(place)));
    if (where.size() != 1)
        refuse(fmt::format(
            "its elements are on {}, but the context has {} devices; pass a context of that device",
            place_of(place), where.size()));
    const device& on = where.device(0);
    const bool fits = on.info().api == (is_cuda ? backend::cuda : backend::opencl) &&
                      (place.device_type != dlpack::on_cuda ||
                       native(on).device.value() == static_cast<std::uintptr_t>(place.device_id));
    if (!fits)
        refuse(fmt::format("its elements are on {}, but the context is on '{}' ({})", place_of(place),
                           on.info().name, to_string(on.info().api)));
    return on;
}

}  // namespace

dlpack_import checked_import(dlpack::managed_tensor* managed) {
    if (managed == nullptr) refuse("it is null");
    return import_of(managed);
}
dlpack_import checked_import(dlpack::versioned_tensor* managed) {
    if (managed == nullptr) refuse("it is null");
    if (managed->version.major != dlpack::major_version)
        refuse(fmt::format("it has DLPack version {}.{}; Balm supports version {}", managed->version.major,
                           managed->version.minor, dlpack::major_version));
    return import_of(managed);
}

shape extents_of_import(const dlpack_import& from, const element_layout& element) {
    return numbers_of(from, element).extents;
}

bool is_on_host(const dlpack_import& from) {
    const std::int32_t type = from.tensor->device.device_type;
    return type == dlpack::on_cpu || type == dlpack::on_cuda_host;
}

void copy_import(const dlpack_import& from, const element_layout& element, void* to) {
    check_type(from, element);
    if (!is_on_host(from))
        refuse(
            fmt::format("its elements are on {}, not in host memory; give from_dlpack the context of that "
                        "device, or copy them to the host first",
                        place_of(from.tensor->device)));
    const imported_numbers at = numbers_of(from, element);
    const std::size_t count = at.extents.count(), bytes = element.bytes,
                      room = element.lanes_in_memory * bytes;
    if (count == 0) return;
    check_data(from);
    at.reach(element, from.tensor->byte_offset);
    const auto* const first = static_cast<const std::byte*>(from.tensor->data) + from.tensor->byte_offset;
    auto* into = static_cast<std::byte*>(to);
    if (at.is_row_major && element.lanes == element.lanes_in_memory) {
        std::memcpy(into, first, count * room);
    } else {
        std::memset(into, 0, count * room);
        std::array<std::size_t, shape::max_dimensions> index{};
        std::int64_t place = 0;
        for (std::size_t k = 0; k < count; ++k, into += room) {
            for (int lane = 0; lane < element.lanes; ++lane)
                std::memcpy(into + static_cast<std::size_t>(lane) * bytes,
                            first + (place + lane * at.lane) * static_cast<std::int64_t>(bytes), bytes);
            for (int d = at.extents.dimensions(); d-- > 0;) {
                const auto u = static_cast<std::size_t>(d);
                place += at.strides[u];
                if (++index[u] < at.extents[d]) break;
                place -= at.strides[u] * static_cast<std::int64_t>(at.extents[d]);
                index[u] = 0;
            }
        }
    }
    if (element.kind != 'b') return;
    auto* const truths = static_cast<std::byte*>(to);  // 0 or 1 in C++, whatever the producer wrote
    for (std::size_t k = 0; k < count * room; ++k) truths[k] = std::byte{truths[k] != std::byte{0}};
}

std::shared_ptr<array::vector_state> share_import(const dlpack_import& from, const context& where,
                                                  const element_layout& element, trace::type type,
                                                  std::size_t alignment) {
    check_type(from, element);
    const device& on = device_for(from, where);
    const imported_numbers at = numbers_of(from, element);
    const std::size_t count = at.extents.count(), room = element.lanes_in_memory;
    const std::size_t element_bytes = room * element.bytes;
    if (count == 0) {
        auto none = std::make_shared<array::vector_state>(on.state(), type, 0);
        from.give_back(from.managed);
        return none;
    }
    check_data(from);
    if (element.lanes > 1 && at.lane != 1) refuse("the lanes of its short vectors are not contiguous");
    std::array<std::int64_t, shape::max_dimensions> apart{};  // in elements
    for (int d = 0; d < at.extents.dimensions(); ++d) {
        const auto u = static_cast<std::size_t>(d);
        if (at.strides[u] % static_cast<std::int64_t>(room) != 0)
            refuse(fmt::format(
                "its short vectors are {} numbers apart; the distance for {} lanes must be a multiple of {}",
                at.strides[u], element.lanes, room));
        apart[u] = at.strides[u] / static_cast<std::int64_t>(room);
    }
    const auto [first, last] = at.reach(element, from.tensor->byte_offset);
    const std::size_t before = static_cast<std::size_t>(-first / static_cast<std::int64_t>(room));
    const std::size_t span = before + static_cast<std::size_t>(last / static_cast<std::int64_t>(room)) + 1;

    const dlpack::tensor& tensor = *from.tensor;
    const bool is_address = tensor.device.device_type != dlpack::on_opencl;
    const std::size_t back = before * element_bytes;
    if (!is_address && tensor.byte_offset < back) refuse("its strides reach before the start of its memory");
    const native_handle handle =
        is_address ? native_handle(static_cast<std::byte*>(tensor.data) + tensor.byte_offset - back)
                   : native_handle(tensor.data);
    memory_part part = adopted_part(on.state(), handle, span, element_bytes, alignment,
                                    is_address ? 0 : tensor.byte_offset - back);
    const auto kept = std::make_shared<imported_memory>(part.memory, from);
    part.memory = std::shared_ptr<runtime::storage>(kept, part.memory.get());
    std::shared_ptr<array::vector_state> shared = vector_over(part, type);
    if (at.is_row_major && !from.is_read_only) {
        kept->keep();
        return shared;
    }
    array::tape elements;
    elements.push_vector(shared);
    const std::span<const std::int64_t> each(apart.data(), static_cast<std::size_t>(at.extents.dimensions()));
    const array::selection chosen =
        array::viewed(std::move(elements), at.extents, strides(each), static_cast<std::int64_t>(before));
    auto copied = std::make_shared<array::vector_state>(on.state(), type, count);
    array::assign(*copied, array::read(chosen));
    kept->keep();  // the deleter is called when `shared` goes and the copy is complete
    return copied;
}

}  // namespace balm::detail
