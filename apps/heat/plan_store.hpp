#pragma once
// Stores the plans that searches have found. In: a device. Out: its plan. A search takes seconds, and its
// result is valid until the device or its driver changes.

#include <filesystem>
#include <optional>
#include <string>

#include "plan.hpp"

namespace heat {

/// The folder of stored plans, beside the compiled kernels: $BALM_CACHE_DIR, else $XDG_CACHE_HOME/balm, else
/// ~/.cache/balm; none with BALM_CACHE=0, or without a home.
std::optional<std::filesystem::path> plan_folder();

/// The name of a device's file in that folder. Devices of the same backend, platform, name, compute units and
/// driver share a file; a new driver has another.
std::string plan_file_name(const balm::device_info& device);

/// Stores a plan for a device, which must be one of its candidates. Creates the folder if it does not exist.
/// Returns the path of the file. Throws std::invalid_argument for other plans, and for rates that are not
/// positive and finite; std::runtime_error if the file cannot be written.
std::filesystem::path store_plan(const std::filesystem::path& folder, const balm::device_info& device,
                                 const plan& plan, double cells_per_second);

/// The plan chosen for a device.
struct chosen_plan {
    heat::plan plan;
    std::string origin;   ///< in words: the table, or the file and the measured rate
    std::string warning;  ///< a sentence if there is a file that is ignored; else empty
};

/// The plan in the device's file if there is one, else the table's. The file is untrusted: it can only name
/// one of the device's candidates, so whoever writes it can at most make a run slower. Anything but what
/// `store_plan` writes for this device is ignored. Never throws because of a file or its contents.
chosen_plan choose_plan(const std::optional<std::filesystem::path>& folder, const balm::device_info& device);

}  // namespace heat
