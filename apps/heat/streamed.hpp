#pragma once
// A world that is larger than the memory of its devices. It stays in host memory and is streamed through the
// devices in bands of rows. In: a world. Out: transfers and launches. A transfer costs as much as many steps,
// so each band is advanced by many steps while it is on a device, and the next one is transferred meanwhile.

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
    /// Rows loaded above and below a band: as many as there may be steps while it is on a device.
    std::size_t halo = 0;
};

/// The bands of a world of `height` rows of `width` cells, of which two are on a device at a time. They may
/// take `memory` bytes there, and one buffer `allocation` bytes. Returns nothing if not even one row fits.
std::optional<band_shape> shape_of_bands(std::size_t width, std::size_t height, const plan& plan,
                                         std::uint64_t memory, std::uint64_t allocation);

/// The least memory for which `shape_of_bands` finds bands.
std::uint64_t least_memory_for_bands(std::size_t width, const plan& plan);

/// Copies a world into pinned host memory, to be advanced in bands on the devices in turn.
std::unique_ptr<advancing> make_streamed(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan,
                                         const band_shape& bands);

}  // namespace heat
