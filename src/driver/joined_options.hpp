#pragma once
// The options of a compilation: those that always hold, and those that the user asks for, who wins.

#include <span>
#include <string>
#include <string_view>

namespace balm::backend_support {

/// An option that takes the place of another, which then must not be said: NVRTC would follow the first.
struct replacement {
    std::string_view by, replaced;  ///< names, without dashes and values
};

/// `usual`, without those that the user's options say again with another value or replace, and the user's.
std::string joined_options(std::string_view usual, std::string_view users, std::span<const replacement>);

}  // namespace balm::backend_support
