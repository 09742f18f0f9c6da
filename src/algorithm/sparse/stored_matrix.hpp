#pragma once
// A sparse matrix, or some of its rows, in device memory. In: CSR on the host. Out: the arrays of the storage
// that suits the matrix and the device.

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

/// Rows per slice: neighbouring work-items compute them, and load neighbouring entries.
inline constexpr std::size_t slice_rows = 32;
/// Maximum number of diagonals; the offset of each is an argument of the kernel.
inline constexpr std::size_t most_diagonals = 64;
/// Maximum entries per row for which kernels are unrolled, if all slices have as many.
inline constexpr std::size_t most_unrolled = 16;
/// Balanced storage on GPUs: a group computes a tile; each work-item has contiguous entries of it.
inline constexpr std::size_t tile_items = 256, tile_entries_of_item = 16,
                             tile_entries = tile_items * tile_entries_of_item;
/// The slot of an entry there: the entries of a sub-group's 32 work-items interleave, so that neighbours load
/// neighbouring ones.
constexpr std::size_t place_in_tiles(std::size_t entry) {
    constexpr std::size_t run = tile_entries_of_item, block = run * 32;
    const std::size_t in_block = entry % block;
    return entry - in_block + in_block % run * 32 + in_block / run;
}

/// Entries in tiles: see balanced_kernels.hpp.
struct balanced_tiles {
    std::size_t count = 0, entries = 0;         ///< number of tiles, and entries per tile
    bool are_of_items = false;                  ///< a work-item computes a tile (CPUs)
    std::shared_ptr<vector_state> first;        ///< per tile: the number of rows that begin before it (i64)
    std::shared_ptr<vector_state> heads;        ///< GPUs: per work-item (u32)
    std::shared_ptr<vector_state> filled_rows;  ///< GPUs: the rows that have entries; null: all
    std::size_t cut_count = 0;                  ///< rows with parts in several tiles
    std::shared_ptr<vector_state> cuts;         ///< per cut row: row, first and last tile (i64)
    std::size_t long_count = 0;                 ///< how many of the last ones have parts in many tiles
};

struct stored_matrix;
/// Rows of blocks with very different lengths, as pieces of limited length: the products of the pieces are
/// computed first, and added up in the order of a row.
struct row_pieces {
    std::shared_ptr<const stored_matrix> products;  ///< one row of blocks per piece
    std::shared_ptr<vector_state> starts;           ///< per row of blocks: its first piece (i64)
    std::shared_ptr<vector_state> places;           ///< per piece: its row in `products` (i64)
};

struct stored_matrix {
    storage how = storage::rows;
    trace::type value;
    scalar index = scalar::i32;
    std::size_t rows = 0, columns = 0, entries = 0;
    std::size_t kept = 0;               ///< entries that read_entries finds; of diagonals, one per position
    std::size_t slots = 0;              ///< entries including padding
    bool ascends = false;               ///< columns are known to ascend in each row, and none to occur twice
    bool has_long_rows = false;         ///< most rows are long: a running sum would wait for itself
    std::size_t width = 0;              ///< slices: entries per row, if all rows have as many
    std::vector<std::int64_t> offsets;  ///< diagonals: column - row, ascending
    std::size_t stride = 0;             ///< diagonals: elements from one to the next
    std::shared_ptr<vector_state> values, column_indices;
    std::shared_ptr<vector_state> starts;  ///< of rows (type `index`) or slices (i64)
    balanced_tiles tiles;
    block_shape block;  ///< the blocks that slices count; see block_storage.hpp
    row_pieces pieces;  ///< balanced storage of blocks
    std::string words;  ///< description of the storage

    bool is_inline() const { return how != storage::balanced; }
    std::size_t bytes() const;
};

/// Rows of a matrix in host memory, already checked. Pointers count from the matrix's first entry, columns
/// from `first_column`.
struct host_rows {
    std::span<const std::int64_t> pointers;  ///< rows + 1
    const void* columns = nullptr;           ///< of the whole matrix, of type `index`
    const void* values = nullptr;            ///< of the whole matrix
    std::int64_t first_column = 0;
    std::size_t column_count = 0;

    std::size_t rows() const { return pointers.size() - 1; }
    std::size_t entries() const { return static_cast<std::size_t>(pointers.back() - pointers.front()); }
};

/// Stores rows; in blocks, unless these are single entries or the storage is diagonals. Each row of blocks
/// must have whole blocks, in the same order in all of its rows. Throws usage_error if the requested storage
/// does not suit the matrix.
stored_matrix stored(const host_rows&, trace::type value, scalar index, storage asked, const block_shape&,
                     const std::shared_ptr<runtime::device_state>&);
/// Copies elements to device memory, which has at least one element, since kernels are given its address.
std::shared_ptr<vector_state> on_device(const std::shared_ptr<runtime::device_state>&, trace::type,
                                        const void* elements, std::size_t count);
/// Writes the rows of a part to the memory of the whole matrix: its entries after those that
/// row_pointers[first_row] counts, and the row pointers that follow it.
void read_entries(const stored_matrix&, std::size_t first_row, std::size_t first_column, const csr_memory&);

/// "16,777,216"
std::string grouped(std::uint64_t);

}  // namespace balm::array
