#pragma once
// A world that is resident on its devices, each of which holds some of its rows. In: a world. Out: launches,
// and exchanges of rows between neighbours. A device first computes the rows that its neighbours need, so
// that the exchange overlaps the computation of the rest.

#include <balm/device.hpp>
#include <memory>
#include <vector>

#include "advancing.hpp"
#include "conductance.hpp"
#include "world.hpp"

namespace heat {

/// The rows of the largest part if a world is split among `devices` devices: whole tiles, and at least as
/// many rows as a neighbour needs. A world of few rows may have fewer parts than there are devices.
std::size_t rows_of_largest_part(std::size_t height, const plan& plan, std::size_t devices);

/// Distributes the rows of a world among devices, in order.
std::unique_ptr<advancing> make_resident(const world& world, const conductance& c,
                                         const std::vector<balm::device>& devices, const plan& plan);

}  // namespace heat
