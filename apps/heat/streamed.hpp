#pragma once
// A world that is larger than the memory of its devices. It stays in the host's memory and passes through the
// devices in bands of rows. A world comes in, transfers and launches go out. Here because a transfer costs as
// much as many steps do: so each band is advanced by many steps while it is on a device, and the next one is
// on its way meanwhile.

#include <balm/device.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "advancing.hpp"
#include "conductance.hpp"
#include "world.hpp"

namespace heat {

/// How a world is cut into bands.
struct band_shape {
    std::size_t rows = 0;   ///< of a band; the last may have fewer
    std::size_t count = 0;  ///< of bands
    /// Rows above and below that come with it: as many as there may be steps while it is on a device.
    std::size_t halo = 0;
};

/// The bands of a world of so many rows of so many cells, of which two are on a device at a time. `memory` is
/// how many bytes they may take there, `allocation` how many one buffer. Nothing if not even a row fits.
std::optional<band_shape> shape_of_bands(std::size_t width, std::size_t height, const plan& plan,
                                         std::uint64_t memory, std::uint64_t allocation);

/// The least memory for which `shape_of_bands` finds bands.
std::uint64_t least_memory_for_bands(std::size_t width, const plan& plan);

/// Takes a world into pinned host memory, to be advanced in bands on the devices by turns.
std::unique_ptr<advancing> make_streamed(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan,
                                         const band_shape& bands);

}  // namespace heat
