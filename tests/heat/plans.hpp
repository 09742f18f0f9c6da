#pragma once
// Plans for the tests of the heat step: every kernel, with the table's shapes and with small ones. Devices
// come in, a test's body is called. Here because several tests hold all plans on all devices to something.

#include <gtest/gtest.h>

#include <balm/balm.hpp>

#include "plan.hpp"

namespace heat_test {

struct named_plan {
    const char* name;
    heat::plan plan;
};

/// Small tiles put many borders between tiles into a small world.
inline const named_plan plans[] = {
    {"single", heat::single_plan(balm::device_type::gpu)},
    {"single, CPU", heat::single_plan(balm::device_type::cpu)},
    {"tile", heat::plan_for(balm::device_type::gpu)},
    {"small tile", {heat::method::tile, 4, 32, 16, 4, 4}},
    {"stream", heat::plan_for(balm::device_type::cpu)},
    {"small stream", {heat::method::stream, 3, 8 + 6, 4 + 6}},
};

/// Calls body(device, plan) for every device and every plan that it runs.
template <class Body>
void on_every_device_and_plan(Body body) {
    const balm::context all(balm::filter::any);
    for (const balm::device& device : all.devices()) {
        SCOPED_TRACE(device.name());
        for (const named_plan& each : plans) {
            SCOPED_TRACE(each.name);
            const std::size_t items = each.plan.method == heat::method::stream
                                          ? 1
                                          : std::size_t{each.plan.tile_width / each.plan.item_width} *
                                                (each.plan.tile_height / each.plan.item_height);
            if (items <= device.info().max_work_group_size) body(device, each.plan);
        }
    }
}

}  // namespace heat_test
