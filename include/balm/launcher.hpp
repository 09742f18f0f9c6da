#pragma once
// execute(): how devices, queues and programs of modules launch kernels.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "balm/bound_kernel.hpp"
#include "balm/event.hpp"
#include "balm/refused.hpp"

namespace balm {

namespace detail {

/// The grid of a launch, one number per dimension; `local` and `offset` may be null.
struct nd_range {
    int dimensions;
    const std::size_t* global;
    const std::size_t* local = nullptr;
    const std::int64_t* offset = nullptr;
};

}  // namespace detail

/// Launches kernels: the base class of `balm::device`, `balm::queue` and `balm::program`. The last arguments
/// of every execute() are the events that the launch waits for. Throws usage_error if the work-groups do not
/// divide the grid or do not fit the device.
template <class Derived>
class launcher {
public:
    /// Launches a kernel over `global` work-items, after the events; Balm chooses the work-group size.
    ///
    ///     balm::event done = device.execute(mat_mult(2, a, b, r), {2, 2}, a_written, b_written);
    template <int N, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, Waits&&... waits) const {
        return launched(kernel, {N, global.data()}, wait_list(std::forward<Waits>(waits)...));
    }
    /// Launches a kernel over `global` work-items in work-groups of `local`, which must divide it.
    template <int N, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const launch_size<N>& local,
                    Waits&&... waits) const {
        return launched(kernel, {N, global.data(), local.data()}, wait_list(std::forward<Waits>(waits)...));
    }
    /// Launches a kernel over a number of work-groups of a given size:
    /// `execute(kernel(a), balm::groups(120, 256))`.
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const group_grid<M>& grid, Waits&&... waits) const {
        detail::check_dimensions<N, M>();
        return launched(kernel, {N, grid.global().data(), grid.size.data()},
                        wait_list(std::forward<Waits>(waits)...));
    }
    /// Launches a kernel over a grid with an offset, at which global_id begins:
    /// `execute(kernel(a), {64, 64}, balm::offset(8, 0))`.
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const grid_offset<M>& from,
                    Waits&&... waits) const {
        detail::check_dimensions<N, M>();
        return launched(kernel, {N, global.data(), nullptr, from.start.data()},
                        wait_list(std::forward<Waits>(waits)...));
    }
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const launch_size<N>& local,
                    const grid_offset<M>& from, Waits&&... waits) const {
        detail::check_dimensions<N, M>();
        return launched(kernel, {N, global.data(), local.data(), from.start.data()},
                        wait_list(std::forward<Waits>(waits)...));
    }
    template <int N>
    BALM_REFUSED(BALM_WITHOUT_GRID)
    pending execute(const bound_kernel<N>& kernel) const;
    template <int N, class... P, class... A>
    BALM_REFUSED("Balm: bind the kernel's arguments first: device.execute(kernel(x, y), {n})")
    pending execute(const typed_kernel<N, P...>& kernel, const A&... arguments) const;

private:
    pending launched(const bound_call& kernel, const detail::nd_range& grid, const wait_list& waits) const {
        return pending(static_cast<const Derived&>(*this).launch(kernel, grid, waits));
    }
};

}  // namespace balm
