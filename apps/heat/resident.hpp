#pragma once
// A world that stays on its devices, each of which holds some of its rows. A world comes in, launches and
// exchanges of rows between neighbours go out. Here because the exchange shall take no time: a device
// computes the rows that others need first, and they travel while it computes the rest.

#include <balm/device.hpp>
#include <memory>
#include <vector>

#include "advancing.hpp"
#include "conductance.hpp"
#include "world.hpp"

namespace heat {

/// The rows of the largest part where a world is split among so many devices: whole tiles, and at least as
/// many rows as a neighbour needs. A low world may have fewer parts than there are devices.
std::size_t rows_of_largest_part(std::size_t height, const plan& plan, std::size_t devices);

/// Sends a world to devices, some rows to each, in order.
std::unique_ptr<advancing> make_resident(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan);

}  // namespace heat
