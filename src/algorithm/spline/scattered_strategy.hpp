#pragma once
// For tests: how points are distributed while a scattered spline is fitted.

namespace balm::array {

/// From now on, on all devices, several work-items share the points around a control point as on GPUs; false
/// restores each device's own strategy.
void force_scattered_fits_of_gpus(bool everywhere);

}  // namespace balm::array
