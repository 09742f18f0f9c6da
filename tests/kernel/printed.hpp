#pragma once
// The text of a kernel.

#include <memory>
#include <string>

#include "emit/printer.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"

namespace balm::test {

inline std::string printed(const std::shared_ptr<const ir::function>& kernel,
                           runtime::dialect language = runtime::dialect::opencl_c) {
    return emit::print(ir::lower(*kernel, {}).kernel, language);
}

}  // namespace balm::test
