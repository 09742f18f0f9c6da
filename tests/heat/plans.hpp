#pragma once
// Plans for the tests of the heat step: every kernel, with the table's shapes and with small ones. Devices
// come in, a test's body is called. Here because several tests hold all plans on all devices to something.

#include <gtest/gtest.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <iterator>

#include "plan.hpp"

namespace heat_test {

struct named_plan {
    const char* name;
    heat::plan plan;
};

/// Tables' plans for GPUs without sub-groups of 32 lanes, and for CPUs.
inline const heat::plan tile{heat::method::tile, 8, 128, 128, 4, 16},
    stream{heat::method::stream, 16, 64 + 32, 32 + 32};

/// Small tiles put many borders between tiles into a small world.
inline const named_plan plans[] = {
    {"single", heat::single_plan(balm::device_type::gpu)},
    {"single, CPU", heat::single_plan(balm::device_type::cpu)},
    {"tile", tile},
    {"small tile", {heat::method::tile, 4, 32, 16, 4, 4}},
    {"small sweep", {heat::method::sweep, 4, 128, 2 + 8, 4, 2, 8}},
    {"stream", stream},
    {"small stream", {heat::method::stream, 16, 16 + 32, 4 + 32}},
};

/// Calls body(device, plan) for every device and every plan that it runs, that of the table among them.
template <class Body>
void on_every_device_and_plan(Body body) {
    const balm::context all(balm::filter::any);
    for (const balm::device& device : all.devices()) {
        SCOPED_TRACE(device.name());
        for (const named_plan& each : plans) {
            SCOPED_TRACE(each.name);
            if (each.plan.work_items() <= device.info().max_work_group_size) body(device, each.plan);
        }
        const heat::plan own = heat::plan_for(device.info());
        const bool is_done = std::any_of(std::begin(plans), std::end(plans),
                                         [&](const named_plan& each) { return each.plan == own; });
        SCOPED_TRACE("the device's own");
        if (!is_done) body(device, own);
    }
}

}  // namespace heat_test
