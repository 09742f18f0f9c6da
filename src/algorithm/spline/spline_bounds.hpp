#pragma once
// What both kinds of spline check about their bounds, and derive from them.

#include <memory>
#include <string>
#include <utility>

#include "array/spread/parts.hpp"
#include "array/vector_state.hpp"
#include "balm/spline.hpp"

namespace balm::array {

/// The maximum number of control points, and of points, of a spline: positions are 32-bit integers.
inline constexpr std::size_t most_control_points = 0x7fffffff;

/// Throws usage_error for bounds that, in T, are not finite, are empty, or are too close for their cells.
template <class T>
void check_bounds(const spline_request&);

/// The number of control points of a grid of cells. Throws usage_error for more than most_control_points; the
/// message says whose they are (`of`), and what to do (`instead`).
std::size_t control_points_of(const spline_request&, const std::string& of, const char* instead);

/// The lattice of a grid of cells, without control points yet.
template <class T>
spline_lattice<T> lattice_of(const spline_request&);

/// A vector of `size` uninitialised elements on the devices of another one.
template <class T>
vector<T> vector_like(const vector_state& near, std::size_t size) {
    return vector<T>(make_like(near, balm::detail::array_type<T>(), size));
}
/// The elements on the first of a vector's devices: the vector itself if that is the only one.
template <class T>
vector<T> on_first_device(vector<T>&& v) {
    const vector_state& state = *v.state();
    if (!state.is_spread()) return std::move(v);
    vector<T> here(std::make_shared<vector_state>(state.device_handle(), state.type(), state.size()));
    copy(*here.state(), state);
    return here;
}
/// The elements on all devices of another vector: the vector itself if there is only one.
template <class T>
vector<T> on_devices_of(const vector_state& near, vector<T>&& v) {
    if (!near.is_spread()) return std::move(v);
    vector<T> there = vector_like<T>(near, v.size());
    copy(*there.state(), *v.state());
    return there;
}

}  // namespace balm::array
