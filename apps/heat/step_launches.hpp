#pragma once
// Launches of the heat step over rows of tiles. A plan, a layout and its codes come in; events of launches go
// out. Here because a world may be advanced at once, edge first, or band by band, always by the same kernels.

#include <balm/balm.hpp>
#include <functional>

#include "conductance.hpp"
#include "layout.hpp"
#include "plan.hpp"

namespace heat {

/// The state on a device, twice: steps go from one to the other. Borders and excess hold 0 in both.
struct state_pair {
    balm::mixed_buffer<float> now, next;
};

/// What the kernels know of the cells of a layout.
struct cell_buffers {
    cell_buffers(const balm::device& device, const plan& plan, const layout& where);

    balm::in_buffer<std::uint8_t> codes;  ///< one an element of the layout
    balm::in_buffer<std::uint8_t> plain;  ///< plain_rows of them; one element where the plan needs none
};

/// Whether a plan needs the flags of `plain_rows`.
inline bool needs_plain_rows(const plan& plan) {
    return plan.method == method::stream || plan.method == method::sweep;
}

/// The steps of the next launch where `left` are to be done, at least 1.
unsigned steps_of_launch(const plan& plan, unsigned left);

/// The launches on one device, for one layout.
class step_launches {
public:
    step_launches(const balm::device& device, const plan& plan, const layout& where, const conductance& c,
                  const cell_buffers& cells);

    /// Enqueues a launch that advances rows of tiles by so many steps (of `steps_of_launch`), from state.now
    /// to state.next.
    balm::event run(const state_pair& state, unsigned steps, const tile_rows& rows) const;

    /// Shares the work of launches from now on among the device's units by `plain` (of plain_rows), where the
    /// plan can; else all rows count the same.
    void balance(const std::vector<std::uint8_t>& plain) const {
        if (balance_) balance_(plain);
    }

private:
    using launch = std::function<balm::event(const state_pair&, unsigned steps, const tile_rows&)>;

    unsigned steps_;
    std::function<void(const std::vector<std::uint8_t>&)> balance_;
    launch one_step_, several_steps_;  // one_step_ is missing where several_steps_ does any number
};

}  // namespace heat
