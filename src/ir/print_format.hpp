#pragma once
// The format of a print or check in a kernel: known when the kernel is traced, so that the device only
// records the words of the values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "balm/device_type.hpp"
#include "balm/trace.hpp"

namespace balm::ir {

/// An argument of a format.
struct print_argument {
    enum class kind : std::uint8_t {
        device,     ///< of type `what`; the device records it in words
        number,     ///< a host scalar of type `what`
        character,  ///< a host char
        text,
    };
    kind from = kind::device;
    trace::type what;
    std::uint64_t bits = 0;
    std::string text;
};

struct print_format {
    std::string text;  ///< for {fmt}
    bool is_check = false;
    trace::location where;
    std::vector<print_argument> arguments;
    std::vector<std::size_t> sizes;  ///< arguments that are a width or a precision
    std::size_t words = 0;           ///< of all arguments that the device records
    std::string key;                 ///< equal for equal formats, C++ line included
};

}  // namespace balm::ir
