#pragma once
// Launches of the heat step over rows of tiles. In: a plan, a layout and its codes. Out: events of launches.
// A world may be advanced as a whole, edges first, or band by band, always by the same kernels.

#include <balm/balm.hpp>
#include <functional>

#include "conductance.hpp"
#include "layout.hpp"
#include "plan.hpp"

namespace heat {

/// Two states on a device: a step reads one and writes the other. Excess, and borders without a neighbour,
/// hold 0 in both.
struct state_pair {
    balm::mixed_buffer<float> now, next;
};

/// The buffers that describe the cells of a layout to the kernels.
struct cell_buffers {
    cell_buffers(const balm::device& device, const plan& plan, const layout& where);

    balm::in_buffer<std::uint8_t> codes;  ///< one per element of the layout
    balm::in_buffer<std::uint8_t> plain;  ///< plain_rows of them; one element if the plan needs none
};

/// Whether a plan needs the flags of `plain_rows`.
inline bool needs_plain_rows(const plan& plan) {
    return plan.method == method::stream || plan.method == method::sweep;
}

/// The launches on one device, for one layout.
class step_launches {
public:
    step_launches(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                  const cell_buffers& cells);

    /// Enqueues a launch that advances rows of tiles by `steps` steps, from 1 to plan.steps, from state.now
    /// to state.next, which hold this band of the world.
    balm::event run(const state_pair& state, unsigned steps, const tile_rows& rows,
                    std::size_t band = 0) const {
        return launch_(state, steps, rows, band);
    }

    /// Balances the work of later launches on a band among the device's compute units by `plain` (from
    /// plain_rows), if the plan supports it. By default all rows cost the same.
    void balance(const std::vector<std::uint8_t>& plain, std::size_t band = 0) const {
        if (balance_) balance_(plain, band);
    }

private:
    std::function<balm::event(const state_pair&, unsigned steps, const tile_rows&, std::size_t band)> launch_;
    std::function<void(const std::vector<std::uint8_t>&, std::size_t band)> balance_;
};

}  // namespace heat
