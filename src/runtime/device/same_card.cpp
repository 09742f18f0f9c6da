#include "balm/device_info.hpp"

bool balm::is_same_card(const device_info& a, const device_info& b) noexcept {
    if (a.api == b.api) return false;  // distinct, though PoCL gives several devices one name
    constexpr decltype(a.uuid) unknown{};
    if (a.uuid != unknown && b.uuid != unknown) return a.uuid == b.uuid;
    return !a.pci_address.empty() && a.pci_address == b.pci_address;
}
