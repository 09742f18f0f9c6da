#pragma once
// The state of a module: its definition, and an instance for each device that uses it, with the memory of its
// constants, the compiler's options and its compiled kernels.

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "balm/compile_options.hpp"
#include "base/hash.hpp"
#include "ir/ir.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/memory/storage.hpp"

namespace balm::detail {

class instance_state;

/// A module and its instances. Modules that link it keep it alive.
class module_state {
public:
    ir::constant_list constants;
    std::vector<std::shared_ptr<const ir::function>> kernels;
    std::vector<std::shared_ptr<module_state>> links;
    compile_options options;
    bool is_defined = false;
    std::exception_ptr fault;  ///< of a definition before main, which nothing could catch

    /// Whether the constant belongs to the module, or to one that it links, directly or indirectly.
    bool knows(const ir::constant_data&) const;

    /// The instance on a device. The first call makes it; concurrent calls wait. Throws the exception that
    /// ended the definition, build_error, out_of_memory_error.
    std::shared_ptr<instance_state> instance_on(const std::shared_ptr<runtime::device_state>&);

private:
    struct slot {
        std::shared_ptr<runtime::device_state> device;
        std::mutex mutex;
        std::shared_ptr<instance_state> instance;
    };
    std::shared_ptr<slot> slot_of(const std::shared_ptr<runtime::device_state>&);

    std::mutex mutex_;
    std::vector<std::shared_ptr<slot>> slots_;
};

/// A module on a device. Safe to use from any thread.
class instance_state {
public:
    instance_state(const module_state&, std::shared_ptr<runtime::device_state>);

    const std::shared_ptr<runtime::device_state>& device() const { return device_; }
    /// The module's options, as text for the compiler.
    const std::string& options() const { return options_; }
    /// The options' share of a program's identity; zero without options.
    const runtime::digest& options_key() const { return options_key_; }
    /// The memory of a constant that a kernel reads. Throws usage_error if it belongs to a module that this
    /// one does not link.
    runtime::storage& memory_of(const ir::constant_data&, const ir::function& reader) const;
    /// The same for a constant that the host writes or reads.
    runtime::storage& memory_of(const ir::constant_data&) const;
    /// The instance of a module that this one links, directly or indirectly; null if it does not link it.
    std::shared_ptr<instance_state> linked(const module_state&) const;

private:
    runtime::storage* find(const ir::constant_data&) const;

    struct constant {
        std::shared_ptr<const ir::constant_data> data;
        std::shared_ptr<runtime::storage> memory;
    };
    struct link {
        std::shared_ptr<const module_state> of;
        std::shared_ptr<instance_state> instance;
    };

    std::shared_ptr<runtime::device_state> device_;
    std::string options_;
    runtime::digest options_key_{};
    std::vector<constant> constants_;  ///< of this module, not of linked ones
    std::vector<link> links_;
};

}  // namespace balm::detail
