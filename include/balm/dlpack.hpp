#pragma once
// Exchanges arrays with other libraries in the same process as DLPack's managed tensors (the format of
// PyTorch, JAX, CuPy, NumPy and others), without a copy if both use the same memory.
//
// DLPack's header is not needed: the functions take and return any struct with the layout of DLManagedTensor
// or DLManagedTensorVersioned, and balm::dlpack defines both for programs without the header.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/buffer.hpp"
#include "balm/context.hpp"
#include "balm/host_array.hpp"
#include "balm/mapping.hpp"
#include "balm/plain_element.hpp"
#include "balm/vector.hpp"
#include "balm/view.hpp"

namespace balm {

/// DLPack's structs, with the layout and member names of version 1.
namespace dlpack {

/// Kinds of memory, with DLPack's values.
enum : std::int32_t { on_cpu = 1, on_cuda = 2, on_cuda_host = 3, on_opencl = 4, on_cuda_managed = 13 };
/// Kinds of numbers, with DLPack's values.
enum : std::uint8_t { is_int = 0, is_uint = 1, is_float = 2, is_complex = 5, is_bool = 6 };
/// Bits of the flags of a versioned tensor.
enum : std::uint64_t { read_only = 1, copied = 2 };
/// The version of the format that Balm writes. A tensor of another major version has another layout.
inline constexpr std::uint32_t major_version = 1, minor_version = 0;

/// The device that holds memory (DLDevice).
struct device {
    std::int32_t device_type;
    std::int32_t device_id;
};
/// The type of an element (DLDataType).
struct data_type {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};
/// An array (DLTensor). Strides are counted in elements; null: row-major.
struct tensor {
    void* data;
    dlpack::device device;
    std::int32_t ndim;
    data_type dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
/// An array and its deleter (DLManagedTensor).
struct managed_tensor {
    tensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(managed_tensor*);
};
/// A version of the format (DLPackVersion).
struct version {
    std::uint32_t major;
    std::uint32_t minor;
};
/// The same with a version and flags (DLManagedTensorVersioned).
struct versioned_tensor {
    dlpack::version version;
    void* manager_ctx;
    void (*deleter)(versioned_tensor*);
    std::uint64_t flags;
    tensor dl_tensor;
};

}  // namespace dlpack

/// A struct with the layout of DLManagedTensor or DLManagedTensorVersioned.
template <class M>
concept dlpack_managed = std::is_standard_layout_v<M> && requires(M& m) {
    m.manager_ctx;
    m.deleter(&m);
    m.dl_tensor.byte_offset;
    requires sizeof(m.dl_tensor) == sizeof(dlpack::tensor);
};

namespace detail {

template <class M>
concept dlpack_versioned = dlpack_managed<M> && requires(M& m) {
    m.version.major;
    m.flags;
};
template <dlpack_managed M>
using own_dlpack_struct =
    std::conditional_t<dlpack_versioned<M>, dlpack::versioned_tensor, dlpack::managed_tensor>;
/// M as Balm's struct with the same layout. The other library, too, is compiled with a struct of its own.
template <dlpack_managed M>
own_dlpack_struct<M>* as_own(M* of) {
    static_assert(
        sizeof(M) == sizeof(own_dlpack_struct<M>) &&
            offsetof(M, dl_tensor) == offsetof(own_dlpack_struct<M>, dl_tensor) &&
            offsetof(M, deleter) == offsetof(own_dlpack_struct<M>, deleter),
        "Balm: this struct does not have the layout of DLManagedTensor or DLManagedTensorVersioned");
    return reinterpret_cast<own_dlpack_struct<M>*>(of);
}

/// The source of an export: host memory, or elements on a device.
struct dlpack_source {
    std::shared_ptr<void> owner;  ///< kept alive until the deleter is called
    void* data = nullptr;         ///< on the host
    bool is_constant = false;
    std::shared_ptr<runtime::storage> memory;  ///< on a device, if not null
    std::size_t byte_offset = 0;
    element_layout element;
    shape extents;
};
dlpack::managed_tensor* export_dlpack(dlpack_source&&);
dlpack::versioned_tensor* export_dlpack_versioned(dlpack_source&&);
dlpack::managed_tensor* export_dlpack(const array::selection&, const element_layout&);
dlpack::versioned_tensor* export_dlpack_versioned(const array::selection&, const element_layout&);
template <dlpack_managed M, class... A>
M* exported(A&&... a) {
    if constexpr (dlpack_versioned<M>)
        return reinterpret_cast<M*>(export_dlpack_versioned(std::forward<A>(a)...));
    else
        return reinterpret_cast<M*>(export_dlpack(std::forward<A>(a)...));
}
template <dlpack_managed M, class Owner, class T>
M* exported_host(Owner&& of, T* data, const shape& extents) {
    dlpack_source source;
    source.owner = std::make_shared<std::remove_cvref_t<Owner>>(std::forward<Owner>(of));
    source.data = const_cast<std::remove_const_t<T>*>(data);
    source.is_constant = std::is_const_v<T>;
    source.element = layout_of<std::remove_const_t<T>>();
    source.extents = extents;
    return exported<M>(std::move(source));
}

/// An imported tensor of either kind: its DLTensor, and a function that calls its deleter.
struct dlpack_import {
    const dlpack::tensor* tensor = nullptr;
    void* managed = nullptr;
    void (*give_back)(void* managed) = nullptr;
    bool is_read_only = false;
};
dlpack_import checked_import(dlpack::managed_tensor*);
dlpack_import checked_import(dlpack::versioned_tensor*);
/// The tensor's extents, without the last dimension if that holds the lanes.
shape extents_of_import(const dlpack_import&, const element_layout&);
void copy_import(const dlpack_import&, const element_layout&, void* to);
bool is_on_host(const dlpack_import&);
std::shared_ptr<array::vector_state> share_import(const dlpack_import&, const context&, const element_layout&,
                                                  trace::type, std::size_t alignment);

}  // namespace detail

// ---- out ----

/// Exports the elements of a vector, a view of one, or a buffer as a tensor, which other libraries use in
/// place: on CUDA devices (kDLCUDA) by address, on OpenCL devices, including CPUs, by cl_mem (kDLOpenCL,
/// device 0: the cl_mem determines its context). Nothing is copied, and the elements stay alive until the
/// tensor's deleter is called. Views keep their strides, in the order of their dimensions. The lanes of short
/// vectors become the last dimension. For libraries that compute on the host, export x.map() or x.to_host().
///
/// The call waits until the commands that use the elements have completed. Balm cannot see the other
/// library's commands: they must be complete, or declared by run_native, before Balm uses the elements again.
///
/// Throws usage_error for a vector over several devices or without one, and for a view of an expression or at
/// computed positions, which has no strides.
///
///     DLManagedTensor* t = balm::to_dlpack<DLManagedTensor>(x);
///     t->deleter(t);  // called by the consumer
template <dlpack_managed M = dlpack::managed_tensor, plain_element T>
[[nodiscard]] M* to_dlpack(const vector<T>& x) {
    detail::dlpack_source source;
    source.memory = x.elements().storage();
    source.byte_offset = x.byte_offset();
    source.element = detail::layout_of<T>();
    source.extents = x.extents();
    return detail::exported<M>(std::move(source));
}
template <dlpack_managed M = dlpack::managed_tensor, plain_element T>
[[nodiscard]] M* to_dlpack(const buffer_range<T, access::mixed>& x) {
    detail::dlpack_source source;
    source.memory = x.storage();
    source.byte_offset = x.byte_offset();
    source.element = detail::layout_of<T>();
    source.extents = x.part().extents;
    return detail::exported<M>(std::move(source));
}
template <dlpack_managed M = dlpack::managed_tensor, class T>
requires plain_element<std::remove_const_t<T>>
[[nodiscard]] M* to_dlpack(const view<T>& x) {
    return detail::exported<M>(x.what(), detail::layout_of<std::remove_const_t<T>>());
}
/// Exports host memory as a tensor (kDLCPU), which owns it: nothing is copied. The elements of x.map() are
/// returned to the device when the deleter is called; until then, commands that conflict with the mapping
/// throw.
///
///     PyObject* capsule = PyCapsule_New(balm::to_dlpack(x.to_host()), "dltensor", …);
template <dlpack_managed M = dlpack::managed_tensor, plain_element T>
[[nodiscard]] M* to_dlpack(host_array<T>&& x) {
    T* const data = x.data();
    const shape extents = x.shape();
    return detail::exported_host<M>(std::move(x), data, extents);
}
template <dlpack_managed M = dlpack::managed_tensor, plain_element T>
requires(!std::same_as<T, bool>) [[nodiscard]] M* to_dlpack(std::vector<T>&& x) {
    T* const data = x.data();
    const shape extents(x.size());
    return detail::exported_host<M>(std::move(x), data, extents);
}
template <dlpack_managed M = dlpack::managed_tensor, class T>
requires plain_element<std::remove_const_t<T>>
[[nodiscard]] M* to_dlpack(mapped<T>&& x) {
    T* const data = x.data();
    const shape extents(x.size());
    return detail::exported_host<M>(std::move(x), data, extents);
}

// ---- in ----

/// The extents of a tensor, to view the imported vector with. Throws usage_error for null, another major
/// version, and more than eight dimensions. A tensor without dimensions has one element.
///
///     const balm::shape extents = balm::dlpack_extents(t);
///     balm::vector<float> x = balm::from_dlpack<float>(ctx, t);
///     auto M = balm::view(x, extents);
template <dlpack_managed M>
shape dlpack_extents(M* tensor) {
    return detail::extents_of_import(detail::checked_import(detail::as_own(tensor)), {});
}

/// Copies the elements of a tensor in host memory (kDLCPU, kDLCUDAHost), in row-major order, then calls the
/// tensor's deleter. T is the tensor's type; for a short vector, the last dimension holds the lanes.
///
/// Throws usage_error for another type, for device memory, and as dlpack_extents; the tensor is then
/// unchanged and still belongs to the caller.
///
///     balm::host_array<float> h = balm::from_dlpack<float>(t);
template <plain_element T, dlpack_managed M>
host_array<T> from_dlpack(M* tensor) {
    const detail::dlpack_import from = detail::checked_import(detail::as_own(tensor));
    host_array<T> made(detail::extents_of_import(from, detail::layout_of<T>()));
    detail::copy_import(from, detail::layout_of<T>(), made.data());
    from.give_back(from.managed);
    return made;
}

/// The elements of a tensor as a vector, in row-major order. Elements in host memory are copied to the
/// context's devices, and the deleter is called. Elements on a CUDA device (kDLCUDA, kDLCUDAManaged) or in a
/// cl_mem (kDLOpenCL) are shared, on the context's only device, which must be theirs; the deleter is called
/// when the last handle of the vector is gone and the commands that use it have completed. Elements that are
/// not contiguous in row-major order, or whose tensor is read-only (DLPACK_FLAG_BITMASK_READ_ONLY), are
/// copied on the device, and the deleter is called.
///
/// The producer's commands must be complete before the call, or be in the device's native queue
/// (balm::native(device.queue())): the vector's first commands run after them.
///
/// Throws usage_error as the other from_dlpack, for elements on another device, and as adopt_memory and
/// as_vector do; out_of_memory_error. The tensor then still belongs to the caller.
template <plain_element T, dlpack_managed M>
vector<T> from_dlpack(const context& where, M* tensor) {
    const detail::dlpack_import from = detail::checked_import(detail::as_own(tensor));
    if (detail::is_on_host(from)) {
        host_array<T> elements(detail::extents_of_import(from, detail::layout_of<T>()));
        detail::copy_import(from, detail::layout_of<T>(), elements.data());
        vector<T> made(where, elements);
        from.give_back(from.managed);
        return made;
    }
    return vector<T>(
        detail::share_import(from, where, detail::layout_of<T>(), detail::array_type<T>(), alignof(T)));
}

}  // namespace balm
