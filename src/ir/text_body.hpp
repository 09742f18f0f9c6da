#pragma once
// The body of a function or kernel that is given as OpenCL C instead of being traced: the texts that contain
// it, and the facts that passes need.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace balm::ir {

/// One text of a program, and its name in messages. Files that it includes are part of `words`.
struct named_text {
    std::string name;
    std::string words;
};
using text_list = std::vector<std::shared_ptr<const named_text>>;

/// Without texts the function is only declared: another text of the same program defines it.
struct text_body {
    text_list texts;
    bool has_barrier = false;
    bool asks_for_its_place = false;  ///< calls get_global_id and the like: results may be divergent
    /// The text's names for the structures among the parameters and, last, the result; ignored for other
    /// types. The program that calls the function has other types with the same layout.
    std::vector<std::string> structures;
    /// The work-group size that a kernel requires (reqd_work_group_size); 0: none.
    std::array<std::size_t, 3> required_local{0, 0, 0};
};

}  // namespace balm::ir
