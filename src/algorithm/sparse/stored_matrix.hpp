#pragma once
// A sparse matrix, or some rows of one, in a device's memory. In: CSR on the host. Out: the arrays of the
// storage that suits the matrix and the device.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithm/sparse/block_functions.hpp"
#include "array/vector_state.hpp"
#include "balm/sparse_matrix.hpp"

namespace balm::array {

/// Rows of a slice: neighbouring work-items compute them, and load neighbouring entries.
inline constexpr std::size_t slice_rows = 32;
/// Diagonals at most, each of which has an argument of the kernel for its offset.
inline constexpr std::size_t most_diagonals = 64;
/// Entries of a row that kernels are unrolled for, if slices have all as many.
inline constexpr std::size_t most_unrolled = 16;
/// Balanced storage on GPUs: a group computes a tile, each work-item neighbouring entries of it.
inline constexpr std::size_t tile_items = 256, tile_entries_of_item = 16,
                             tile_entries = tile_items * tile_entries_of_item;
/// Where an entry lies there: those of a sub-group's 32 work-items interleave, so that neighbours load
/// neighbouring ones.
constexpr std::size_t place_in_tiles(std::size_t entry) {
    constexpr std::size_t run = tile_entries_of_item, block = run * 32;
    const std::size_t in_block = entry % block;
    return entry - in_block + in_block % run * 32 + in_block / run;
}

/// Entries in tiles: see balanced_kernels.hpp.
struct balanced_tiles {
    std::size_t count = 0, entries = 0;         ///< tiles, and entries of each
    bool are_of_items = false;                  ///< a work-item computes a tile: CPUs
    std::shared_ptr<vector_state> first;        ///< of each tile: the rows that begin ahead of it (i64)
    std::shared_ptr<vector_state> heads;        ///< GPUs: of each work-item (u32)
    std::shared_ptr<vector_state> filled_rows;  ///< GPUs: the rows that have entries; null: all
    std::size_t cut_count = 0;                  ///< rows that several tiles have parts of
    std::shared_ptr<vector_state> cuts;         ///< of each: row, first and last tile (i64)
    std::size_t long_count = 0;                 ///< the last of them, which have parts in many tiles
};

struct stored_matrix;
/// Rows of blocks of very different lengths, in pieces of limited lengths: the products of these are computed
/// first, and added up in the order of a row.
struct row_pieces {
    std::shared_ptr<const stored_matrix> products;  ///< a row of blocks for each piece
    std::shared_ptr<vector_state> starts;           ///< of each row of blocks: its first piece (i64)
    std::shared_ptr<vector_state> places;           ///< of each piece: which row of `products` it is (i64)
};

struct stored_matrix {
    storage how = storage::rows;
    trace::type value;
    scalar index = scalar::i32;
    std::size_t rows = 0, columns = 0, entries = 0;
    std::size_t kept = 0;               ///< entries that read_entries finds: of diagonals, no zeros
    std::size_t slots = 0;              ///< entries with their padding
    bool ascends = false;               ///< columns of rows are known to ascend, and none to occur twice
    bool has_long_rows = false;         ///< most rows are: their sums would wait for themselves
    std::size_t width = 0;              ///< slices: entries of each row, where all have as many
    std::vector<std::int64_t> offsets;  ///< diagonals: column - row, ascending
    std::size_t stride = 0;             ///< diagonals: elements from one to the next
    std::shared_ptr<vector_state> values, column_indices;
    std::shared_ptr<vector_state> starts;  ///< of rows (type `index`) or slices (i64)
    balanced_tiles tiles;
    block_shape block;  ///< slices count these; see block_storage.hpp
    row_pieces pieces;  ///< balanced storage of blocks
    std::string words;  ///< how it is stored

    bool is_inline() const { return how != storage::balanced; }
    std::size_t bytes() const;
};

/// Rows of a matrix in host memory, which have been checked: pointers count from the matrix's first entry,
/// columns from `first_column`.
struct host_rows {
    std::span<const std::int64_t> pointers;  ///< rows + 1
    const void* columns = nullptr;           ///< all of the matrix, of type `index`
    const void* values = nullptr;            ///< the same
    std::int64_t first_column = 0;
    std::size_t column_count = 0;

    std::size_t rows() const { return pointers.size() - 1; }
    std::size_t entries() const { return static_cast<std::size_t>(pointers.back() - pointers.front()); }
};

/// In blocks, unless these are single entries: each row of blocks then has whole ones, in the same order in
/// all of its rows. Throws usage_error where the storage asked for does not suit the matrix.
stored_matrix stored(const host_rows&, trace::type value, scalar index, storage asked, const block_shape&,
                     const std::shared_ptr<runtime::device_state>&);
/// Elements in a device's memory; of none, memory of one: kernels are given its address.
std::shared_ptr<vector_state> on_device(const std::shared_ptr<runtime::device_state>&, trace::type,
                                        const void* elements, std::size_t count);
/// Writes the rows of a part to the memory of the whole matrix: its entries behind those that
/// row_pointers[first_row] counts, and the row pointers that follow it.
void read_entries(const stored_matrix&, std::size_t first_row, std::size_t first_column, const csr_memory&);

/// "16,777,216"
std::string grouped(std::uint64_t);

}  // namespace balm::array
