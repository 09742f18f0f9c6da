#pragma once
// What determines how a matrix is stored, whether it was analysed on the host or on the device.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// Entries from which on a row's running sum waits for itself.
inline constexpr std::size_t long_row = 16;
/// Rows of a chunk that a work-item of a CPU computes inside expressions (ir/lower/lower.cpp).
inline constexpr std::size_t cpu_rows = 4096;

/// The properties of a matrix that determine its storage.
struct matrix_look {
    std::size_t rows = 0, entries = 0;
    std::optional<std::vector<std::int64_t>> diagonals;  ///< column - row, ascending; none: too many
    std::size_t slice_slots = 0, widest_slice = 0, narrowest_slice = 0;
    std::size_t longest_row = 0, filled_rows = 0, long_rows = 0;
    std::size_t fullest_chunk = 0;  ///< entries of the fullest of a CPU's chunks of rows
};

/// Whether this many diagonals take no more bytes than entries with column indices, and mostly hold entries.
bool suits_diagonals(const matrix_look&, std::size_t diagonals, std::size_t value_bytes,
                     std::size_t index_bytes);
storage chosen(const matrix_look&, std::size_t value_bytes, std::size_t index_bytes, bool on_cpu,
               std::size_t units);
[[noreturn]] void refuse_diagonals();
/// "7 diagonals of …"
std::string described(const stored_matrix&, const matrix_look&);
/// Whether matrices on the device are stored as on CPUs: for work-items, since it has no groups of
/// tile_items.
bool is_stored_as_on_cpu(runtime::device_state&);

/// A row with parts in several tiles.
struct tile_cut {
    std::int64_t row, first, last;
};
/// The rows of balanced storage on GPUs with parts in several tiles, numbered among the rows with entries.
/// `first` counts the rows that begin before each tile, `filled_rows` all of them.
std::vector<tile_cut> cuts_between(const std::vector<std::int64_t>& first, std::int64_t filled_rows,
                                   bool has_padding);
/// The cuts as the kernels take them: rows, then first tiles, then last ones. Cuts with few parts come first.
std::vector<std::int64_t> listed_cuts(std::vector<tile_cut>, bool on_cpu, balanced_tiles&);
/// Entries per tile on CPUs.
std::size_t entries_of_cpu_tile(std::size_t entries, std::size_t units);

}  // namespace balm::array
