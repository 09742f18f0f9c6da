#pragma once
// Where the text of a device's prints goes.

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

namespace balm::runtime {

/// The output of a context, which its devices share.
struct print_outlet {
    std::recursive_mutex mutex;  ///< held while a launch's text is written, by code of the user's
    std::function<void(std::string_view)> write;
    std::size_t buffer_bytes = std::size_t{1} << 20;  ///< for the records of one launch
};

/// What writes to std::cout; for devices that no context has told otherwise.
std::shared_ptr<print_outlet> make_standard_outlet();

}  // namespace balm::runtime
