#pragma once
// For tests: how points are shared out while a scattered spline is fitted.

namespace balm::array {

/// From now on several work-items share the points around a control point as on GPUs, on all devices, or on
/// each device's own terms again.
void force_scattered_fits_of_gpus(bool everywhere);

}  // namespace balm::array
