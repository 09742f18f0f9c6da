#pragma once
// Plans that a search has found, kept from run to run. A device comes in, its plan goes out. Here because a
// search takes seconds, and its result holds until the device or its driver changes.

#include <filesystem>
#include <optional>
#include <string>

#include "plan.hpp"

namespace heat {

/// Where plans are kept: beside the compiled kernels. $BALM_CACHE_DIR, else $XDG_CACHE_HOME/balm, else
/// ~/.cache/balm; nothing with BALM_CACHE=0, or without a home.
std::optional<std::filesystem::path> plan_folder();

/// The name of a device's file in that folder. Devices of the same name, kind, size and driver share one; a
/// new driver has another.
std::string plan_file_name(const balm::device_info& device);

/// Keeps a plan for a device: one of its candidates. Makes the folder if it is not there. Returns the file's
/// name. Throws std::invalid_argument for other plans and rates, std::runtime_error when the file cannot be
/// written.
std::filesystem::path store_plan(const std::filesystem::path& folder, const balm::device_info& device,
                                 const plan& plan, double cells_per_second);

/// The plan that a device is stepped by.
struct chosen_plan {
    heat::plan plan;
    std::string origin;   ///< in words: the table, or the file and the rate that was measured
    std::string warning;  ///< a sentence, where there is a file and it is ignored; else empty
};

/// The plan in the device's file if there is one, else that of the table. Of a file nothing is trusted: it
/// can only name one of the device's candidates, so whoever writes it can make a run slower and nothing else.
/// A file that is anything but what `store_plan` writes for this device is ignored. Never throws for what a
/// file contains or is.
chosen_plan choose_plan(const std::optional<std::filesystem::path>& folder, const balm::device_info& device);

}  // namespace heat
