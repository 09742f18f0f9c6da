#pragma once
// Arrays in NumPy files: .npy holds one, .npz several by name (NumPy Enhancement Proposal 1; an .npz is a zip
// archive of .npy files). Nothing needs to be installed.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "balm/context.hpp"
#include "balm/expr.hpp"
#include "balm/host_array.hpp"
#include "balm/npy_element.hpp"
#include "balm/npy_header.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace detail {

void read_npy(const std::string& path, const npy_layout&, npy_place);
void write_npy(const std::string& path, const npy_layout&, const shape&, const void* elements, npy_order);

class npz_file;
std::shared_ptr<const npz_file> open_npz(const std::string& path);
std::vector<std::string> npz_names(const npz_file&);
npy_header npz_header(const npz_file&, const std::string& name);
void read_npz(const npz_file&, const std::string& name, const npy_layout&, npy_place);

class npz_output;
std::shared_ptr<npz_output> create_npz(const std::string& path);
void write_npz(npz_output&, const std::string& name, const npy_layout&, const shape&, const void* elements,
               npy_order);
void close_npz(npz_output&);

/// The elements to write, in host memory; a host array keeps its shape.
template <npy_element T>
const host_array<T>& npy_elements(const host_array<T>& of) {
    return of;
}
template <array_value A>
auto npy_elements(const A& of) {
    return of.to_host();
}
template <class R>
requires(!array_value<R> && requires(const R& r) {
    {std::data(r)};
    {std::size(r)};
}) auto npy_elements(const R& of) {
    using T = std::remove_cvref_t<decltype(*std::data(of))>;
    return std::span<const T>(std::data(of), std::size(of));
}
template <npy_element T>
shape npy_extents(const host_array<T>& of) {
    return of.shape();
}
template <class T>
shape npy_extents(std::span<const T> of) {
    return shape(of.size());
}
template <class A>
concept npy_array = requires(const A& of) {
    npy_elements(of);
    requires npy_element<std::remove_cvref_t<decltype(*npy_elements(of).data())>>;
};
template <npy_element T, class Read>
host_array<T> npy_host_array(Read&& read) {
    host_array<T> made;
    read(npy_layout_of<T>(), [&made](const shape& extents) -> void* {
        made = host_array<T>(extents);
        return made.data();
    });
    return made;
}

}  // namespace detail

/// The header of a .npy file, without its elements. Throws usage_error as read_npy does.
///
///     if (balm::read_npy_header("field.npy").type == "<f8") …
npy_header read_npy_header(const std::string& path);

/// Reads the array of a .npy file (versions 1 to 3) in its shape. The file may be in C or Fortran order and
/// of either byte order; the result is row-major, in the host's byte order. T must be the file's type, which
/// read_npy_header returns. For short vectors, such as float4, the last dimension of the file is the lanes.
/// Data after the array is ignored. The file may be a pipe, such as "/dev/stdin".
///
/// A structured array is read into a structure declared with BALM_STRUCT. Members are matched with the file's
/// fields by name; their types and extents must be the same, their order and offsets need not, and fields
/// without a member are skipped. In fields, the lanes of short vectors are the last dimension of a sub-array.
///
/// Throws usage_error, which names the file, if it cannot be read, is malformed or truncated, if its type is
/// not T (Python objects and text never are), or if it has more than eight dimensions.
///
///     balm::host_array<float> field = balm::read_npy<float>("field.npy");
///     balm::vector<particle> particles = balm::read_npy<particle>(ctx, "particles.npy");
template <npy_element T>
host_array<T> read_npy(const std::string& path) {
    return detail::npy_host_array<T>([&](const detail::npy_layout& element, detail::npy_place place) {
        detail::read_npy(path, element, place);
    });
}
/// Reads the array into a vector, in row-major order.
///
///     balm::vector<float> x = balm::read_npy<float>(ctx, "field.npy");
template <npy_element T>
vector<T> read_npy(const context& where, const std::string& path) {
    return vector<T>(where, read_npy<T>(path));
}

/// Writes an array as a .npy file, and replaces an existing file. A host array, a view or an expression is
/// written in its shape; a vector, a std::vector or another contiguous range in one dimension. Structures
/// declared with BALM_STRUCT are written as a structured array, with the offsets and the size that they have
/// in memory. Blocks if the elements are on a device. Throws usage_error if the file cannot be written; part
/// of it may remain.
///
///     balm::write_npy("field.npy", balm::view(x, {rows, columns}));
template <detail::npy_array A>
void write_npy(const std::string& path, const A& array, npy_order order = npy_order::rows) {
    const auto& elements = detail::npy_elements(array);
    using T = std::remove_cvref_t<decltype(*elements.data())>;
    detail::write_npy(path, detail::npy_layout_of<T>(), detail::npy_extents(elements), elements.data(),
                      order);
}

/// A .npz file to read: arrays by name, as numpy.savez and numpy.savez_compressed write them.
///
///     const balm::npz_reader file("state.npz");
///     balm::vector<double> x = file.read<double>(ctx, "x");
///     balm::host_array<int> steps = file.read<int>("steps");
class npz_reader {
public:
    /// Reads the archive's directory. Throws usage_error if the file cannot be read or is malformed.
    explicit npz_reader(const std::string& path) : file_(detail::open_npz(path)) {}

    /// The names of the arrays, in the order of the archive.
    std::vector<std::string> names() const { return detail::npz_names(*file_); }
    /// The header of an array. Throws usage_error if there is no array of that name, or if it is malformed.
    npy_header header(const std::string& name) const { return detail::npz_header(*file_, name); }

    /// Reads an array in its shape, as balm::read_npy does. Also throws usage_error if there is no array of
    /// that name, if its checksum differs, or if its compression is not deflate.
    template <npy_element T>
    host_array<T> read(const std::string& name) const {
        return detail::npy_host_array<T>([&](const detail::npy_layout& element, detail::npy_place place) {
            detail::read_npz(*file_, name, element, place);
        });
    }
    /// Reads an array into a vector, in row-major order.
    template <npy_element T>
    vector<T> read(const context& where, const std::string& name) const {
        return vector<T>(where, read<T>(name));
    }

private:
    std::shared_ptr<const detail::npz_file> file_;
};

/// A .npz file to write, uncompressed.
///
///     balm::npz_writer file("state.npz");
///     file.write("x", x);
///     file.write("steps", std::vector{100});
///     file.close();
class npz_writer {
public:
    /// Creates a file, and replaces an existing one. Throws usage_error if it cannot be written.
    explicit npz_writer(const std::string& path) : file_(detail::create_npz(path)) {}

    /// Adds an array, as balm::write_npy writes one. Throws usage_error if it cannot be written, if the name
    /// is empty, too long or already used, and after close().
    template <detail::npy_array A>
    void write(const std::string& name, const A& array, npy_order order = npy_order::rows) {
        const auto& elements = detail::npy_elements(array);
        using T = std::remove_cvref_t<decltype(*elements.data())>;
        detail::write_npz(*file_, name, detail::npy_layout_of<T>(), detail::npy_extents(elements),
                          elements.data(), order);
    }
    /// Completes the file. Throws usage_error if it cannot be written. The destructor also completes it, but
    /// reports no error.
    void close() { detail::close_npz(*file_); }

private:
    std::shared_ptr<detail::npz_output> file_;  // completed with the last reference
};

}  // namespace balm
