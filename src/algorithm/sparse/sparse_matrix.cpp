// Sparse matrices: checks user input, and stores it on the devices.

#include "balm/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "algorithm/sparse/assembly.hpp"
#include "algorithm/sparse/block_storage.hpp"
#include "algorithm/sparse/host_entries.hpp"
#include "algorithm/sparse/sparse_state.hpp"
#include "array/spread/partition.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

/// Maximum rows and columns of a block.
constexpr std::size_t most_of_block = 16;

std::string no_elements(const char* what_is_done) {
    return fmt::format("a sparse matrix without elements cannot be {}; assign one to it first", what_is_done);
}

// ---- From the host

template <class I>
void store_parts(sparse_state& to, const host_csr& from, const std::vector<std::int64_t>& pointers,
                 scalar index, storage how) {
    std::vector<I> copy;
    const I* const columns = checked_columns(from, pointers, copy);
    if (how == storage::automatic && to.block.is_one_entry())
        to.block = blocks_of(from.rows, from.columns, pointers, columns, index);
    if (to.where.devices.size() > 1) return store_spread(to, from, pointers, columns, index, how);
    matrix_part part;
    part.device = to.where.devices[0];
    part.inner = stored({pointers, columns, from.values, 0, from.columns}, to.value, index, how, to.block,
                        part.device);
    to.parts.push_back(std::move(part));
}

/// An empty vector that says on which devices others are.
std::shared_ptr<vector_state> nothing_on(const device_shares& where, trace::type type) {
    if (where.devices.size() == 1) return std::make_shared<vector_state>(where.devices[0], type, 0);
    std::vector<vector_state::part> parts;
    for (const auto& each : where.devices)
        parts.push_back({0, std::make_shared<vector_state>(each, type, 0)});
    return std::make_shared<vector_state>(std::move(parts), type, 0, where.weights);
}

device_shares shares_of(const context& where) {
    device_shares made;
    for (const device& each : where.devices()) made.devices.push_back(each.state());
    if (where.size() > 1) made.weights = weights_of(where);
    return made;
}

std::shared_ptr<const sparse_state> make(device_shares where, const host_csr& from, trace::type value,
                                         scalar index, storage how, const block_shape& block = {}) {
    check_sizes(from, index);
    const std::vector<std::int64_t> pointers = checked_pointers(from);
    auto made = std::make_shared<sparse_state>();
    made->rows = from.rows;
    made->columns = from.columns;
    made->entries = from.value_count;
    made->value = value;
    made->block = block;
    made->near = nothing_on(where, value);
    made->where = std::move(where);
    if (index == scalar::i64)
        store_parts<std::int64_t>(*made, from, pointers, index, how);
    else
        store_parts<std::int32_t>(*made, from, pointers, index, how);
    return made;
}
template <class I>
std::shared_ptr<const sparse_state> make_sorted(device_shares where, const host_triplets& from,
                                                trace::type value, storage how) {
    const sorted_triplets<I> sorted = sorted_by_row<I>(from, trace::size_of(value));
    const host_csr csr{from.rows,
                       from.columns,
                       balm::detail::host_integers_of(sorted.row_pointers),
                       balm::detail::host_integers_of(sorted.column_indices),
                       sorted.values.data(),
                       from.value_count};
    return make(std::move(where), csr, value, scalar_of<I>, how);
}

/// The extents of blocks. Throws usage_error for extents that blocks cannot have, and for a wrong number of
/// values.
block_shape checked_block(const host_blocks& from) {
    const auto is_extent = [](std::size_t n) { return n >= 1 && n <= most_of_block; };
    if (from.block.dimensions() != 2 || !is_extent(from.block[0]) || !is_extent(from.block[1]))
        throw usage_error(
            fmt::format("the blocks of a sparse matrix cannot have the extents {}: they must be rows and "
                        "columns, 1 to {} of both",
                        to_string(from.block), most_of_block));
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / most_of_block;
    if (from.rows > most || from.columns > most)
        throw usage_error(fmt::format("a sparse matrix of {} x {} blocks has too many entries to count",
                                      grouped(from.rows), grouped(from.columns)));
    const block_shape block{from.block[0], from.block[1]};
    const std::size_t blocks = from.value_count / block.entries();
    if (from.value_count % block.entries() != 0 || blocks != from.column_indices.count)
        throw usage_error(fmt::format(
            "a sparse matrix got {} column indices of blocks and {} values; each block of {} x {} needs {} "
            "values",
            from.column_indices.count, from.value_count, block.rows, block.columns, block.entries()));
    return block;
}

/// The entries of blocks as single entries: a row of entries has those of its row of blocks in order.
template <class I>
std::shared_ptr<const sparse_state> make_from_blocks(device_shares where, const host_blocks& from,
                                                     trace::type value, storage how) {
    const block_shape block = checked_block(from);
    // Errors in rows and columns of blocks are reported in terms of blocks.
    const host_csr of_blocks{from.rows,           from.columns, from.row_pointers,
                             from.column_indices, from.values,  from.column_indices.count};
    check_sizes(of_blocks, scalar_of<I>);
    const std::vector<std::int64_t> first = checked_pointers(of_blocks);
    std::vector<I> copy;
    const I* const columns_of_blocks = checked_columns(of_blocks, first, copy);
    host_csr all{from.rows * block.rows, from.columns * block.columns, {}, {}, nullptr, from.value_count};
    check_fit(all.rows, all.columns, all.value_count, scalar_of<I>);

    const std::size_t bytes = trace::size_of(value), line = block.columns * bytes;
    std::vector<std::int64_t> pointers{0};
    std::vector<I> columns;
    std::vector<std::byte> values(from.value_count * bytes);
    pointers.reserve(all.rows + 1);
    columns.reserve(from.value_count);
    std::byte* to = values.data();
    for (std::size_t r = 0; r < from.rows; ++r)
        for (std::size_t i = 0; i < block.rows; ++i) {
            for (auto k = static_cast<std::size_t>(first[r]); k < static_cast<std::size_t>(first[r + 1]);
                 ++k, to += line) {
                for (std::size_t j = 0; j < block.columns; ++j)
                    columns.push_back(static_cast<I>(columns_of_blocks[k] * static_cast<I>(block.columns) +
                                                     static_cast<I>(j)));
                std::memcpy(to, static_cast<const std::byte*>(from.values) + (k * block.rows + i) * line,
                            line);
            }
            pointers.push_back(static_cast<std::int64_t>(columns.size()));
        }
    all.row_pointers = balm::detail::host_integers_of(pointers);
    all.column_indices = balm::detail::host_integers_of(columns);
    all.values = values.data();
    return make(std::move(where), all, value, scalar_of<I>, how, block);
}

// ---- From a device

/// CSR in host memory.
template <class I>
struct host_entries {
    std::vector<I> row_pointers, column_indices;
    std::vector<std::byte> values;

    host_entries(std::size_t rows, std::size_t entries, trace::type value)
        : row_pointers(rows + 1), column_indices(entries), values(entries * trace::size_of(value)) {}
    host_csr of(std::size_t rows, std::size_t columns) const {
        return {rows,
                columns,
                balm::detail::host_integers_of(row_pointers),
                balm::detail::host_integers_of(column_indices),
                values.data(),
                column_indices.size()};
    }
};

/// A matrix of the entries on the first device. With several devices, the others get their entries from the
/// host, which determines what they need from each other.
template <class I>
std::shared_ptr<const sparse_state> make_from_device(device_shares where, const device_csr& from,
                                                     storage how) {
    if (where.devices.size() > 1) {
        host_entries<I> entries(from.rows, from.entries, from.value);
        read(*from.starts, 0, entries.row_pointers.data(), entries.row_pointers.size());
        read(*from.column_indices, 0, entries.column_indices.data(), from.entries);
        read(*from.values, 0, entries.values.data(), from.entries);
        return make(std::move(where), entries.of(from.rows, from.columns), from.value, from.index, how);
    }
    auto made = std::make_shared<sparse_state>();
    made->rows = from.rows;
    made->columns = from.columns;
    made->entries = from.entries;
    made->value = from.value;
    made->near = nothing_on(where, from.value);
    made->where = std::move(where);
    matrix_part part;
    part.device = made->where.devices[0];
    part.inner = stored(from, how);
    made->parts.push_back(std::move(part));
    return made;
}
std::shared_ptr<const sparse_state> make(device_shares where, const device_csr& from, storage how) {
    return from.index == scalar::i64 ? make_from_device<std::int64_t>(std::move(where), from, how)
                                     : make_from_device<std::int32_t>(std::move(where), from, how);
}

/// The entries of a matrix on its first device. Entries of blocks, and of several devices, are copied through
/// the host.
template <class I>
device_csr entries_by_host(const sparse_state& matrix) {
    host_entries<I> entries(matrix.rows, kept_entries_of(&matrix), matrix.value);
    read_csr(matrix, {entries.row_pointers.data(), entries.column_indices.data(), entries.values.data()});
    const auto& device = matrix.where.devices[0];
    device_csr made;
    made.rows = matrix.rows;
    made.columns = matrix.columns;
    made.entries = entries.column_indices.size();
    made.value = matrix.value;
    made.index = matrix.index();
    made.starts = on_device(device, made.index, entries.row_pointers.data(), made.rows + 1);
    made.column_indices = on_device(device, made.index, entries.column_indices.data(), made.entries);
    made.values = on_device(device, made.value, entries.values.data(), made.entries);
    return made;
}
device_csr entries_of_all(const sparse_state& matrix) {
    const stored_matrix& first = matrix.parts[0].inner;
    if (!matrix.is_spread() && first.block.is_one_entry()) return entries_on_device(first);
    return matrix.index() == scalar::i64 ? entries_by_host<std::int64_t>(matrix)
                                         : entries_by_host<std::int32_t>(matrix);
}

/// A matrix whose transpose is in CSR in host memory.
template <class I>
std::shared_ptr<const sparse_state> make_from_columns(device_shares where, const host_csr& from,
                                                      trace::type value, storage how) {
    check_sizes(from, scalar_of<I>);
    const std::vector<std::int64_t> checked = checked_pointers(from);
    const std::vector<I> pointers(checked.begin(), checked.end());
    std::vector<I> copy;
    const I* const rows = checked_columns(from, checked, copy);
    const auto& device = where.devices[0];
    device_csr columns;
    columns.rows = from.rows;
    columns.columns = from.columns;
    columns.entries = from.value_count;
    columns.value = value;
    columns.index = scalar_of<I>;
    columns.starts = on_device(device, columns.index, pointers.data(), pointers.size());
    columns.column_indices = on_device(device, columns.index, rows, from.value_count);
    columns.values = on_device(device, value, from.values, from.value_count);
    return make(std::move(where), transposed(columns), how);
}

/// Throws usage_error unless both are matrices of the same extents on the same devices.
void check_same_extents(const sparse_state* a, const sparse_state* b, const char* what_is_done) {
    if (!a || !b) throw usage_error(no_elements(what_is_done));
    if (a->rows != b->rows || a->columns != b->columns)
        throw usage_error(fmt::format(
            "sparse matrices of {} x {} and {} x {} cannot be {}; both must have the same extents", a->rows,
            a->columns, b->rows, b->columns, what_is_done));
    if (a->where.devices != b->where.devices)
        throw usage_error(
            fmt::format("sparse matrices on different devices cannot be {}; make both with the same context",
                        what_is_done));
}

}  // namespace

std::shared_ptr<const sparse_state> make_sparse(const context& where, const host_csr& from, trace::type value,
                                                scalar index, storage how) {
    if (from.is_csc)
        return index == scalar::i64 ? make_from_columns<std::int64_t>(shares_of(where), from, value, how)
                                    : make_from_columns<std::int32_t>(shares_of(where), from, value, how);
    return make(shares_of(where), from, value, index, how);
}
std::shared_ptr<const sparse_state> make_sparse(const context& where, const host_triplets& from,
                                                trace::type value, scalar index, storage how) {
    return index == scalar::i64 ? make_sorted<std::int64_t>(shares_of(where), from, value, how)
                                : make_sorted<std::int32_t>(shares_of(where), from, value, how);
}
std::shared_ptr<const sparse_state> make_sparse(const context& where, const host_blocks& from,
                                                trace::type value, scalar index, storage how) {
    return index == scalar::i64 ? make_from_blocks<std::int64_t>(shares_of(where), from, value, how)
                                : make_from_blocks<std::int32_t>(shares_of(where), from, value, how);
}

std::shared_ptr<const sparse_state> sparse_state::kept_transpose() const {
    const std::scoped_lock lock(mutex_);
    const runtime::recording_pause pause;  // it is there for all products
    if (!transpose_) transpose_ = transposed(this, storage::automatic);
    return transpose_;
}
std::shared_ptr<const sparse_state> sparse_state::known_transpose() const {
    const std::scoped_lock lock(mutex_);
    return transpose_;
}

std::shared_ptr<const sparse_state> transposed(const sparse_state* matrix, storage how) {
    if (!matrix) throw usage_error(no_elements("transposed"));
    return make(matrix->where, transposed(entries_of_all(*matrix)), how);
}
std::shared_ptr<const sparse_state> assembled(const device_triplets& from, trace::type value, scalar index,
                                              storage how) {
    device_shares where;
    if (!from.near->is_spread()) where.devices.push_back(from.near->device_handle());
    for (const vector_state::part& each : from.near->parts()) {
        where.devices.push_back(each.elements->device_handle());
        where.weights.push_back(from.near->size() > 0 ? static_cast<double>(each.elements->size()) : 1.0);
    }
    return make(std::move(where), assembled_entries(from, value, index), how);
}
std::shared_ptr<const sparse_state> multiplied(const sparse_state* a, const sparse_state* b, storage how) {
    if (!a || !b) throw usage_error(no_elements("multiplied"));
    if (a->columns != b->rows)
        throw usage_error(
            fmt::format("a sparse matrix of {} x {} cannot be multiplied by one of {} x {}; the second must "
                        "have one row per column of the first",
                        a->rows, a->columns, b->rows, b->columns));
    if (a->where.devices != b->where.devices)
        throw usage_error(
            "sparse matrices on different devices cannot be multiplied; make both with the same context");
    return make(a->where, multiplied(entries_of_all(*a), entries_of_all(*b)), how);
}

std::shared_ptr<const sparse_state> scaled(const sparse_state* matrix, const void* factor, storage how) {
    if (!matrix) throw usage_error(no_elements("scaled"));
    const auto factors = on_device(matrix->where.devices[0], matrix->value, factor, 1);
    return make(matrix->where, scaled(entries_of_all(*matrix), factors, factors_of::all), how);
}
std::shared_ptr<const sparse_state> scaled(const sparse_state* matrix, tape&& factors, bool by_rows,
                                           storage how) {
    if (!matrix) throw usage_error(no_elements("scaled"));
    const std::size_t count = by_rows ? matrix->rows : matrix->columns;
    if (factors.size >= 0 && static_cast<std::size_t>(factors.size) != count)
        throw usage_error(
            fmt::format("{} factors cannot scale the {} {} of a sparse matrix; it needs one for each",
                        factors.size, count, by_rows ? "rows" : "columns"));
    check_devices_of_operand(*matrix, factors, "scaled");
    refuse_writing(factors);
    if (factors.size < 0) factors.size = static_cast<std::int64_t>(count);
    materialise(factors);
    const auto all = as_vector(factors, matrix->value, count, *matrix->near);
    auto here = all;
    if (all->is_spread()) {
        here = std::make_shared<vector_state>(matrix->where.devices[0], matrix->value,
                                              std::max<std::size_t>(count, 1));
        if (count > 0) copy_elements(*here, 0, *all, 0, count);
    }
    const factors_of by = by_rows ? factors_of::rows : factors_of::columns;
    return make(matrix->where, scaled(entries_of_all(*matrix), here, by), how);
}
std::shared_ptr<const sparse_state> added(const sparse_state* a, const sparse_state* b, bool is_difference,
                                          storage how) {
    check_same_extents(a, b, is_difference ? "subtracted" : "added");
    check_fit(a->rows, a->columns, kept_entries_of(a) + kept_entries_of(b), a->index());
    return make(a->where, added(entries_of_all(*a), entries_of_all(*b), is_difference), how);
}
std::shared_ptr<const sparse_state> hadamard(const sparse_state* a, const sparse_state* b, storage how) {
    check_same_extents(a, b, "multiplied by element");
    return make(a->where, hadamard(entries_of_all(*a), entries_of_all(*b)), how);
}
std::shared_ptr<const sparse_state> some_rows(const sparse_state* matrix, std::size_t first, std::size_t last,
                                              storage how) {
    if (!matrix) throw usage_error(no_elements("cut into rows"));
    if (first > last || last > matrix->rows)
        throw usage_error(
            fmt::format("rows {} to {} of a sparse matrix of {} rows do not exist; rows(A, first, last) "
                        "takes 0 <= first <= "
                        "last <= A.rows()",
                        first, last, matrix->rows));
    return make(matrix->where, some_rows(entries_of_all(*matrix), first, last), how);
}
std::shared_ptr<vector_state> diagonal_of(const sparse_state* matrix) {
    if (!matrix) throw usage_error(no_elements("read"));
    auto here = diagonal_of(entries_of_all(*matrix));
    if (!matrix->is_spread()) return here;
    auto made = make_like(*matrix->near, matrix->value, here->size());
    if (here->size() > 0) copy_elements(*made, 0, *here, 0, here->size());
    return made;
}

std::size_t kept_entries_of(const sparse_state* matrix) {
    if (!matrix) throw usage_error(no_elements("read"));
    std::size_t sum = 0;
    for (const matrix_part& each : matrix->parts) sum += each.inner.kept + each.border.kept;
    return sum;
}
void read_csr(const sparse_state& matrix, const csr_memory& to) {
    std::memset(to.row_pointers, 0,
                matrix.index() == scalar::i64 ? sizeof(std::int64_t) : sizeof(std::int32_t));
    if (!matrix.is_spread()) return read_entries(matrix.parts[0].inner, 0, 0, to);
    for (const matrix_part& each : matrix.parts) read_part(each, to);
}

std::size_t rows_of(const sparse_state& matrix) { return matrix.rows; }
std::size_t columns_of(const sparse_state& matrix) { return matrix.columns; }
std::size_t entries_of(const sparse_state& matrix) { return matrix.entries; }
std::size_t bytes_of(const sparse_state& matrix) {
    std::size_t sum = 0;
    for (const matrix_part& each : matrix.parts) sum += each.bytes();
    if (const auto transpose = matrix.known_transpose()) sum += bytes_of(*transpose);
    return sum;
}
storage how_stored(const sparse_state& matrix) { return matrix.parts[0].inner.how; }
shape block_of(const sparse_state& matrix) {
    const block_shape& block = matrix.parts[0].inner.block;
    return {block.rows, block.columns};
}

std::string describe(const sparse_state* matrix) {
    if (matrix == nullptr) return "no matrix";
    if (!matrix->is_spread()) return matrix->parts[0].inner.words;
    std::string words;
    for (const matrix_part& each : matrix->parts) {
        words += fmt::format("{}rows from {} on, on {}: {}", words.empty() ? "" : "; ",
                             grouped(each.first_row), each.device->words(), each.inner.words);
        if (each.has_border())
            words += fmt::format(", and {} rows that need {} elements, some of other devices: {}",
                                 grouped(each.border.rows), grouped(each.border.columns), each.border.words);
    }
    return words;
}

}  // namespace balm::array
