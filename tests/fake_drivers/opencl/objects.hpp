#pragma once
// The objects of a fake OpenCL, built as libOpenCL.so.1: an ICD loader with its drivers, whose devices are in
// the host's memory. Of two platforms the second passes for PoCL, with which Balm deals in ways of its own.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fake_drivers/faults.hpp"
#include "fake_drivers/kernels.hpp"
#include "fake_drivers/stream.hpp"

namespace balm::test {

/// An object that counts references to it.
struct counted : driver_object {
    int references = 1;
};

/// One reference.
template <class Object>
class reference {
public:
    reference() = default;
    explicit reference(Object* to) : to_(to) {
        if (to_ != nullptr) ++to_->references;
    }
    reference(const reference& other) : reference(other.to_) {}
    reference(reference&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
    reference& operator=(reference other) noexcept {
        std::swap(to_, other.to_);
        return *this;
    }
    ~reference() {
        if (to_ != nullptr && --to_->references == 0) delete to_;
    }
    Object* operator->() const { return to_; }
    Object* get() const { return to_; }

private:
    Object* to_ = nullptr;
};

}  // namespace balm::test

struct _cl_platform_id {
    std::string_view name;
};

struct _cl_device_id {
    cl_platform_id platform;
    std::string_view name;
    cl_device_type type;
    bool runs_in_the_call;
};

struct _cl_context : balm::test::counted {
    cl_device_id device = nullptr;
};

struct _cl_command_queue : balm::test::counted {
    balm::test::reference<_cl_context> context;
    bool is_timed = false;
    balm::test::stream commands;
};

struct _cl_event : balm::test::counted {
    balm::test::reference<_cl_command_queue> queue;
    cl_command_type type = 0;
    balm::test::command_handle command;
};

struct _cl_mem : balm::test::counted {
    ~_cl_mem() override;
    balm::test::reference<_cl_context> context;
    balm::test::reference<_cl_mem> whole;  ///< of a sub-buffer
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    cl_mem_flags flags = 0;
    std::byte* bytes = nullptr;
    std::size_t size = 0;
    bool is_owner = false;
    std::array<std::size_t, 3> elements{};  ///< of an image
    std::size_t element_bytes = 0;
    std::vector<std::pair<void(CL_CALLBACK*)(cl_mem, void*), void*>> at_end{};
    /// What the host maps, which is a copy where the memory is the device's.
    struct mapping {
        std::byte* address;
        std::size_t offset;
        std::vector<std::byte> copy;
        cl_map_flags use;
    };
    std::vector<mapping> mappings{};
};

struct _cl_sampler : balm::test::counted {};

struct _cl_program : balm::test::counted {
    balm::test::reference<_cl_context> context;
    std::string text;
    bool is_built = false;
};

struct _cl_kernel : balm::test::counted {
    /// In the order of the text.
    struct parameter {
        cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
        bool is_opaque = false;  ///< an image or a sampler
        std::size_t bytes = 0;   ///< of what is set; 0: nothing yet
        std::uint64_t value = 0;
        cl_mem memory = nullptr;
    };
    balm::test::reference<_cl_program> program;
    const balm::test::known_kernel* known = nullptr;
    std::vector<parameter> parameters{};
};

namespace balm::test {

/// A call that only its body can make fail, by the code that it returns.
template <class Body>
cl_int safe_call(Body&& body) {
    const in_driver inside;
    if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return CL_SUCCESS;
    } else {
        return body();
    }
}

/// One that tests may have fail.
template <class Body>
cl_int call(const char* name, Body&& body) {
    const in_driver inside;
    return driver_call_fails(name) ? CL_OUT_OF_RESOURCES : safe_call(body);
}

/// One that makes something: `body(code)`.
template <class Body>
auto making_call(const char* name, cl_int* code, Body&& body) {
    const in_driver inside;
    cl_int own = CL_SUCCESS;
    if (driver_call_fails(name)) own = CL_OUT_OF_HOST_MEMORY;
    decltype(body(own)) made = own == CL_SUCCESS ? body(own) : nullptr;
    if (code != nullptr) *code = own;
    return made;
}

template <class Object>
cl_int release(Object* gone) {
    return safe_call([&] {
        const reference<Object> last(gone);
        --gone->references;
    });
}

/// Answers a question with so many bytes.
inline cl_int answer_bytes(const void* from, std::size_t bytes, std::size_t size, void* to,
                           std::size_t* needed) {
    if (needed != nullptr) *needed = bytes;
    if (to == nullptr) return CL_SUCCESS;
    if (size < bytes) return CL_INVALID_VALUE;
    std::memcpy(to, from, bytes);
    return CL_SUCCESS;
}
template <class Value>
cl_int answer(const Value& value, std::size_t size, void* to, std::size_t* needed) {
    return answer_bytes(&value, sizeof value, size, to, needed);
}
inline cl_int answer_text(std::string_view text, std::size_t size, void* to, std::size_t* needed) {
    return answer_bytes(std::string(text).c_str(), text.size() + 1, size, to, needed);
}

}  // namespace balm::test
