#pragma once
// What decides how a matrix is stored, wherever it has been looked at, on the host or on the device.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// Entries from which on a row's sum, in one piece, waits for itself.
inline constexpr std::size_t long_row = 16;
/// Rows of a chunk that a work-item of a CPU computes inside expressions (ir/lower/lower.cpp).
inline constexpr std::size_t cpu_rows = 4096;

/// What of a matrix decides its storage.
struct matrix_look {
    std::size_t rows = 0, entries = 0;
    std::optional<std::vector<std::int64_t>> diagonals;  ///< column - row, ascending; none: too many
    std::size_t slice_slots = 0, widest_slice = 0, narrowest_slice = 0;
    std::size_t longest_row = 0, filled_rows = 0, long_rows = 0;
    std::size_t fullest_chunk = 0;  ///< entries of the CPU's chunk of rows that has most
};

/// Whether so many diagonals take no more bytes than entries with their column indices, and mostly hold
/// entries.
bool suits_diagonals(const matrix_look&, std::size_t diagonals, std::size_t value_bytes,
                     std::size_t index_bytes);
storage chosen(const matrix_look&, std::size_t value_bytes, std::size_t index_bytes, bool on_cpu,
               std::size_t units);
[[noreturn]] void refuse_diagonals();
/// "7 diagonals of …"
std::string described(const stored_matrix&, const matrix_look&);
/// Whether matrices on the device are stored as on CPUs.
bool is_stored_as_on_cpu(runtime::device_state&);

/// A row that is in parts of several tiles.
struct tile_cut {
    std::int64_t row, first, last;
};
/// The rows of balanced storage on GPUs that several tiles have parts of, as numbers among the rows that have
/// entries, given those that begin ahead of each tile, and all.
std::vector<tile_cut> cuts_between(const std::vector<std::int64_t>& first, std::int64_t filled_rows,
                                   bool has_padding);
/// Cuts as the kernels take them: rows, then first tiles, then last ones. Those of few parts come first.
std::vector<std::int64_t> listed_cuts(std::vector<tile_cut>, bool on_cpu, balanced_tiles&);
/// Entries of a tile on CPUs.
std::size_t entries_of_cpu_tile(std::size_t entries, std::size_t units);

}  // namespace balm::array
