#pragma once
// A heat world, and its two file formats. Bytes of a stream come in and a checked world goes out, or the
// other way round. Here because every program of the heat course passes worlds to the next one in a pipe.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

namespace heat {

/// What a cell is. A cell is one of the three: the sum of both flags (3), which would be a fixed
/// temperature that nobody can feel, is refused like any unknown flag.
enum cell_kind : std::uint32_t {
    normal = 0,     ///< conducts heat
    fixed = 1,      ///< a source or a sink: keeps its temperature
    insulator = 2,  ///< no heat passes; what lies outside the world counts as one
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

/// The two ways of writing a world: readable, temperatures to 8 decimals; or exact and compact.
enum class format { text, binary };

/// The bytes that were read are no heat world. The message is one sentence that says what is wrong where.
class format_error : public std::runtime_error {
public:
    format_error(const std::string& message, std::uint64_t offset)
        : std::runtime_error(message), offset_(offset) {}

    /// Where in the input the fault lies, in bytes from its start.
    std::uint64_t offset() const noexcept { return offset_; }

private:
    std::uint64_t offset_;
};

/// Throws std::invalid_argument, in one sentence, unless sizes, flags, alpha and temperatures are as the
/// members of `world` say.
void check(const world& world);

/// Reads one world in either format, to the end of the stream; text is converted by all cores. Memory grows
/// with the bytes that arrive, and is not taken for the size that the header claims alone. Throws
/// format_error on any damage (the last newline missing included: that is how a cut input looks),
/// std::runtime_error when the stream cannot be read.
world read_world(std::istream& input);

/// Writes a world and flushes; text is made by all cores. `check` comes first: a world that could not be read
/// back is not written. Throws std::runtime_error when the stream does not take every byte (disk full, pipe
/// closed).
void write_world(std::ostream& output, const world& world, format format);

}  // namespace heat
