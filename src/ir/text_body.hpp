#pragma once
// The body of a function or kernel that is given as OpenCL C instead of being traced: the texts it is found
// in, and what the passes must know of them.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace balm::ir {

/// One text of a program, and the name that messages give it. Files that it includes are part of `words`.
struct named_text {
    std::string name;
    std::string words;
};
using text_list = std::vector<std::shared_ptr<const named_text>>;

/// Without texts the function is only declared: another text of the same program defines it.
struct text_body {
    text_list texts;
    bool has_barrier = false;
    bool asks_for_its_place = false;  ///< get_global_id and the like: work-items may get different results
    /// What the text of a function calls the structures among its parameters and, last, its result; no matter
    /// for other types. The program that calls it has types of its own with the same layout.
    std::vector<std::string> structures;
    /// The work-group size that a kernel says it needs (reqd_work_group_size); 0: none.
    std::array<std::size_t, 3> required_local{0, 0, 0};
};

}  // namespace balm::ir
