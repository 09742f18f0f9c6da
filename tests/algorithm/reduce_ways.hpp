#pragma once
// Every way in which a reduction may be shared out: on CPU devices also as on GPUs.

#include "algorithm/reduce/reduce_shapes.hpp"
#include "balm/reduce.hpp"
#include "support/devices.hpp"

namespace balm::test {

struct shapes_of_gpus {
    explicit shapes_of_gpus(bool everywhere) { array::use_shapes_of_gpus(everywhere); }
    shapes_of_gpus(const shapes_of_gpus&) = delete;
    shapes_of_gpus& operator=(const shapes_of_gpus&) = delete;
    ~shapes_of_gpus() { array::use_shapes_of_gpus(false); }
};

/// Runs `body(context, policy)` on every device, with both policies.
template <class Body>
void in_all_ways(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        const bool has_other = ctx.device(0).info().type == device_type::cpu;
        for (const bool as_on_gpus : {false, true})
            for (const policy how : {policy::run_to_run, policy::portable}) {
                if (as_on_gpus && !has_other) continue;
                SCOPED_TRACE(std::string(as_on_gpus ? "shared out as on GPUs" : "shared out as ever") +
                             (how == policy::portable ? ", portable" : ""));
                const shapes_of_gpus chosen(as_on_gpus);
                body(ctx, how);
            }
    });
}

}  // namespace balm::test
