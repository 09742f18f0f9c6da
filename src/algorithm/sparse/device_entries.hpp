#pragma once
// Matrices in CSR in device memory: the results of assembly and of products of matrices, and the input of
// storages.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "algorithm/sparse/stored_matrix.hpp"
#include "balm/balm.hpp"

namespace balm::array {

/// A matrix, or some rows of one, in CSR on one device.
struct device_csr {
    std::size_t rows = 0, columns = 0, entries = 0;
    trace::type value;
    scalar index = scalar::i32;
    /// The rows + 1 row pointers and the column indices have type `index`. No memory is empty.
    std::shared_ptr<vector_state> starts, column_indices, values;
    /// Columns ascend in each row, and none occurs twice.
    bool ascends = false;
};

/// An uninitialised vector of `count` elements on a device, at least one, since kernels are given its
/// address.
template <class E>
vector<E> elements_on(const std::shared_ptr<runtime::device_state>& device, std::size_t count) {
    return vector<E>(std::make_shared<vector_state>(device, balm::detail::array_type<E>(),
                                                    std::max<std::size_t>(count, 1)));
}
inline std::int64_t signed_of(std::size_t count) { return static_cast<std::int64_t>(count); }
/// 0, 1, … count - 1.
inline auto numbers_to(std::size_t count) { return element_index(0, signed_of(count)); }

/// The segment of each element: segment s has the elements starts[s] to starts[s + 1] - 1, and may be empty.
template <class N>
vector<N> segment_numbers(const vector<N>& starts, std::size_t segments, std::size_t elements) {
    static const auto& mark_start = *new auto(function("mark_start(segment, starts, numbers)",
                                                       [](dsl::Index s, dsl::In<N> of, dsl::Out<N> numbers) {
                                                           BALM_IF (of[s] < of[s + 1]) {
                                                               numbers[of[s]] = dsl::cast<N>(s);
                                                           }
                                                       }));
    vector<N> made = elements_on<N>(starts.state()->device_handle(), elements);
    made = N{0};
    eval(mark_start(numbers_to(segments), starts, made));
    made = inclusive_scan(max_of(made));
    return made;
}
/// starts[s] of segments with these lengths, then the end of the last one, which is returned, too. Waits.
template <class N, array_value L>
std::pair<vector<N>, std::size_t> starts_of(L&& lengths, std::size_t segments,
                                            const std::shared_ptr<runtime::device_state>& device) {
    vector<N> made = elements_on<N>(device, segments + 1);
    made.set(0, 0);
    if (segments == 0) return {std::move(made), 0};
    made(slice(1, static_cast<std::int64_t>(segments) + 1)) =
        inclusive_scan(cast<N>(static_cast<L&&>(lengths)));
    const auto end = static_cast<std::size_t>(made[segments]);
    return {std::move(made), end};
}

/// The entries of a stored matrix: those that read_entries finds, in its order.
device_csr entries_on_device(const stored_matrix&);
/// The same matrix with ascending columns, and one entry per position.
device_csr with_ascending_columns(device_csr);
/// The transpose; the entries of a row are in the order of the original rows.
device_csr transposed(const device_csr&);
/// Triplets sorted into CSR; entries of the same position are added up. Indices must have been checked.
device_csr combined(std::size_t rows, std::size_t columns, const expr<std::int64_t>& row_indices,
                    const expr<std::int64_t>& column_indices, const std::shared_ptr<vector_state>& values,
                    std::size_t count, scalar index);
/// Each entry times the factor of its row, of its column, or the only factor. `factors` has the entries'
/// type.
enum class factors_of : std::uint8_t { rows, columns, all };
device_csr scaled(const device_csr&, const std::shared_ptr<vector_state>& factors, factors_of);
/// a + b, or a - b, of matrices of the same extents and types on one device; and their elementwise product.
device_csr added(const device_csr& a, const device_csr& b, bool is_difference);
device_csr hadamard(device_csr a, device_csr b);
/// Rows from `first` to `last` - 1.
device_csr some_rows(const device_csr&, std::size_t first, std::size_t last);
/// The sum of the entries on the diagonal of each of the first rows.
std::shared_ptr<vector_state> diagonal_of(const device_csr&);
/// The product of two matrices on one device with the same entry type and index type. Throws usage_error if
/// it has more entries than the index type can count.
device_csr multiplied(const device_csr&, const device_csr&);

/// The requested storage, or the one that suits the matrix. Throws usage_error as for host_rows.
stored_matrix stored(const device_csr&, storage asked);

}  // namespace balm::array
