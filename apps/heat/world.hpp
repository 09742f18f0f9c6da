#pragma once
// A heat world, and its two file formats. In: the bytes of a stream, or a world. Out: a checked world, or its
// bytes. Every program of the heat course passes worlds to the next one in a pipe.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

namespace heat {

/// The kind of a cell, exactly one of the three. The sum of both flags (3), a fixed temperature without any
/// effect, is refused like any unknown flag.
enum cell_kind : std::uint32_t {
    normal = 0,     ///< conducts heat
    fixed = 1,      ///< a source or a sink: keeps its temperature
    insulator = 2,  ///< does not conduct heat; cells outside the world count as insulators
};

/// A grid of cells, row by row from the top: cell (x, y) is at y * width + x.
struct world {
    unsigned width = 0;                     ///< cells in a row, at least 1
    unsigned height = 0;                    ///< rows, at least 1
    float alpha = 0;                        ///< propagation constant per second, finite, at least 0
    std::vector<std::uint32_t> properties;  ///< the `cell_kind` of each cell
    std::vector<float> state;               ///< the temperature of each cell, from 0 (cold) to 1 (hot)

    /// The number of cells.
    std::size_t size() const noexcept { return std::size_t{width} * height; }
};

/// The two file formats of a world: readable, with temperatures to 8 decimals; or exact and compact.
enum class format { text, binary };

/// The input is not a heat world. The message is one sentence that says what is wrong and where.
class format_error : public std::runtime_error {
public:
    format_error(const std::string& message, std::uint64_t offset)
        : std::runtime_error(message), offset_(offset) {}

    /// The position of the error in the input, in bytes from its start.
    std::uint64_t offset() const noexcept { return offset_; }

private:
    std::uint64_t offset_;
};

/// Throws std::invalid_argument, with a message of one sentence, unless sizes, flags, alpha and temperatures
/// are as documented at the members of `world`.
void check(const world& world);

/// Reads one world in either format, to the end of the stream; text is converted by several threads. Memory
/// grows with the bytes that arrive; it is not allocated merely because the header claims a size. Throws
/// format_error on any damage (including a missing last newline, a sign of truncated input),
/// std::runtime_error if the stream cannot be read.
world read_world(std::istream& input);

/// Writes a world and flushes; text is produced by several threads. Calls `check` first: a world that could
/// not be read back is not written. Throws std::runtime_error if the stream does not accept every byte (disk
/// full, pipe closed).
void write_world(std::ostream& output, const world& world, format format);

}  // namespace heat
