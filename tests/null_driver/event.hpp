#pragma once
// An event that has happened: all that a device without work needs.

#include "runtime/backend.hpp"

namespace balm::null {

class event final : public runtime::driver_event {
public:
    bool is_complete() override { return true; }
    void wait() override {}
    timestamps times() override { return {}; }
};

}  // namespace balm::null
