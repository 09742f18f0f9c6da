#pragma once
// Joins the default options of a compilation with the user's, which take precedence.

#include <span>
#include <string>
#include <string_view>

namespace balm::backend_support {

/// An option that replaces another one, which must then be left out: NVRTC would obey the first.
struct replacement {
    std::string_view by, replaced;  ///< names, without dashes and values
};

/// `usual`, without the options that the user's set to another value or replace, followed by the user's.
std::string joined_options(std::string_view usual, std::string_view users, std::span<const replacement>);

}  // namespace balm::backend_support
