#pragma once
// The one interface between the runtime and a driver: what a backend must do, and nothing else. A backend
// holds no policy: no pooling, no caching, no choice of device; those live in the runtime, once.
//
// Every call throws balm::device_error (build_error, out_of_memory_error) with the failing driver function
// and its error by name. Destructors never throw, and block only to finish what they own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "balm/compile_options.hpp"
#include "balm/copy_path.hpp"
#include "balm/device_info.hpp"
#include "balm/event.hpp"
#include "balm/inline_vector.hpp"
#include "balm/sampler.hpp"
#include "balm/types.hpp"
#include "base/dialect.hpp"

namespace balm::runtime {

/// The driver's handle of device memory (a cl_mem or a CUdeviceptr) or of an image (a cl_mem or a
/// cuda::image). Non-owning.
struct memory {
    std::uintptr_t handle = 0;
    friend bool operator==(memory, memory) = default;
};

/// Page-locked host memory: transfers from and to it overlap with the program, at the full rate of the bus.
struct pinned_memory {
    void* address = nullptr;
    std::uintptr_t handle = 0;  ///< the driver's handle, if it has one
    friend bool operator==(pinned_memory, pinned_memory) = default;
};

/// Memory with the same address on host and device.
struct managed_memory {
    memory native;
    void* address = nullptr;
};

/// Memory that was not allocated by Balm, as its driver describes it.
struct foreign_memory {
    memory native;                  ///< the whole allocation, also for the handle of a sub-buffer
    std::size_t bytes = 0;          ///< of the whole allocation
    std::size_t offset = 0;         ///< of the given handle in the allocation
    std::size_t given_bytes = 0;    ///< of the given handle
    std::size_t address = 0;        ///< of the allocation, if known: the base for the alignment of offsets
    bool kernels_may_read = true;   ///< false for CL_MEM_WRITE_ONLY
    bool kernels_may_write = true;  ///< false for CL_MEM_READ_ONLY
};

/// The format and size of an image.
struct image_description {
    scalar element = scalar::f32;
    std::uint8_t lanes = 1;      ///< 1, 2 or 4
    bool is_normalised = false;  ///< its integers represent fractions
    std::uint8_t dimensions = 1;
    std::array<std::size_t, 3> size{1, 1, 1};  ///< width, height, depth

    std::size_t element_bytes() const { return size_of(element) * lanes; }
    std::size_t bytes() const { return size[0] * size[1] * size[2] * element_bytes(); }
    friend bool operator==(const image_description&, const image_description&) = default;
};

/// How a kernel uses an image argument.
enum class image_use : std::uint8_t { read, sampled, written };

/// The position of a box of bytes and its rows in device or host memory. For images, it is expressed as if
/// their rows were contiguous.
struct region_layout {
    std::size_t offset = 0;         ///< of its first byte
    std::size_t row_pitch = 0;      ///< bytes from a row to the next
    std::size_t plane_pitch = 0;    ///< bytes from a plane to the next; a multiple of row_pitch
    std::size_t element_bytes = 0;  ///< of an image; 0 for memory

    bool is_image() const { return element_bytes != 0; }
    /// Where the box begins in an image, in elements: x, y, z.
    std::array<std::size_t, 3> origin() const {
        return {offset % row_pitch / element_bytes, offset % plane_pitch / row_pitch, offset / plane_pitch};
    }
};
/// The size of a box of bytes; no member is 0.
struct region_extent {
    std::size_t row_bytes = 0;
    std::size_t rows = 1;
    std::size_t planes = 1;
};

/// How the host uses mapped memory: `write` preserves the bytes that are not written, `overwrite` does not.
enum class map_use : std::uint8_t { read, write, read_write, overwrite };

/// One kernel argument in the order of the kernel's parameters.
struct argument {
    enum class kind : std::uint8_t { value, memory, local, image };
    kind what = kind::value;
    std::uint32_t size = 0;                         ///< bytes of the value, or of local memory
    std::uint32_t alignment = 1;                    ///< of local memory
    alignas(16) std::array<std::byte, 16> bytes{};  ///< the value; for memory, the handle and the offset; for
                                                    ///< images, the handle
    image_use use = image_use::read;                ///< of an image
    balm::sampler sampler;                          ///< of a sampled image
    const std::byte* long_value = nullptr;          ///< of a value that does not fit into `bytes`

    /// Device memory from this offset on, in bytes, as an argument. OpenCL accepts only multiples of
    /// device_info::memory_alignment.
    static argument of(runtime::memory native, std::size_t offset = 0) {
        argument made;
        made.set(native, offset);
        return made;
    }
    void set(runtime::memory native, std::size_t offset = 0) {
        what = kind::memory;
        size = sizeof native.handle;
        std::memcpy(bytes.data(), &native.handle, sizeof native.handle);
        std::memcpy(bytes.data() + 8, &offset, sizeof offset);
    }
    /// A number of 64 bits.
    void set_number(std::uint64_t value) {
        size = sizeof value;
        std::memcpy(bytes.data(), &value, sizeof value);
    }
    static argument of(runtime::memory image, image_use use, const balm::sampler& through) {
        argument made = of(image);
        made.what = kind::image;
        made.use = use;
        made.sampler = through;
        return made;
    }
    std::size_t offset() const {
        std::size_t found = 0;
        std::memcpy(&found, bytes.data() + 8, sizeof found);
        return found;
    }
    runtime::memory memory_handle() const {
        runtime::memory found;
        std::memcpy(&found.handle, bytes.data(), sizeof found.handle);
        return found;
    }

    const void* value() const { return long_value ? long_value : bytes.data(); }
};

/// The index space of a launch. `local` must not be zero: the runtime chooses it before the call.
struct grid {
    std::uint32_t dimensions = 1;
    std::array<std::size_t, 3> offset{0, 0, 0};
    std::array<std::size_t, 3> global{1, 1, 1};
    std::array<std::size_t, 3> local{1, 1, 1};
};

/// The element types of matrix products by a vendor's library.
enum class product_element : std::uint8_t { f32, f64, complex_f32, complex_f64, count };
constexpr std::size_t size_of(product_element e) {
    constexpr std::size_t bytes[] = {4, 8, 8, 16};
    return bytes[static_cast<std::size_t>(e)];
}

/// A batch of row-major matrices.
struct batched_matrix {
    memory native;
    std::size_t offset = 0;      ///< of the first element, in bytes
    std::size_t stride = 0;      ///< elements from a row to the next; at least the elements in a row
    std::size_t next = 0;        ///< elements from a matrix to the next
    bool is_transposed = false;  ///< the operand is the transpose of what is stored
};

/// Matrix products for a vendor's library: each result, of rows x columns, is a * b. No number is 0; all but
/// offsets and `next` fit in 31 bits.
struct matrix_product {
    product_element element = product_element::f32;
    std::size_t rows = 0, columns = 0, inner = 0;
    std::size_t count = 1;  ///< matrices in the batch
    batched_matrix a, b, result;
};

/// The vendor's library of matrix products for a device. The texts live as long as the program.
struct matrix_library {
    bool is_found = false;
    std::string_view words;  ///< "cuBLAS 13.0 (libcublas.so.13)", or why there is none
    /// For each element type, the name under which observers see a product.
    std::array<std::string_view, static_cast<std::size_t>(product_element::count)> commands;
};

/// A point in a queue's work.
class driver_event {
public:
    virtual ~driver_event() = default;
    virtual bool is_complete() = 0;
    virtual void wait() = 0;
    /// Times in nanoseconds of the device's clock (the host's where marked so); waits for completion.
    virtual timestamps times() = 0;
};
using event_handle = std::shared_ptr<driver_event>;

/// The events that a command waits for, and where to store its own (`made` is null if the caller does not
/// need it). The events are of the same driver; the runtime waits for others on the host.
struct dependencies {
    std::span<const event_handle> wait_for;
    event_handle* made = nullptr;
};

/// An entry point of a compiled program, with its own argument slots: used by one thread at a time.
class driver_kernel {
public:
    virtual ~driver_kernel() = default;
    virtual std::size_t max_work_group_size() const = 0;
};

/// A compiled program, loaded on one device.
class driver_program {
public:
    virtual ~driver_program() = default;
    virtual std::unique_ptr<driver_kernel> make_kernel(const std::string& name) = 0;
    /// The program in the driver's binary form. With PoCL it contains the work-group function only after a
    /// launch, and the call takes 0.15 s in which no launch begins or ends: call it after a launch, while
    /// nothing is launched.
    virtual std::vector<std::byte> binary() = 0;
    /// Whether binary() is complete only after the first launch (PoCL).
    virtual bool binary_needs_launch() const = 0;
};

class driver_device;

/// Commands that a driver keeps ready, to be submitted by one call, in their order.
class driver_batch {
public:
    driver_batch() = default;
    driver_batch(const driver_batch&) = delete;
    driver_batch& operator=(const driver_batch&) = delete;
    virtual ~driver_batch() = default;
};

/// An in-order queue of commands. A call that throws leaves nothing in flight: the memory that was passed to
/// it is no longer used.
class driver_queue {
public:
    virtual ~driver_queue() = default;
    /// Host memory must stay valid until the command has completed.
    virtual void write(memory to, std::size_t offset, const void* from, std::size_t bytes,
                       const dependencies&) = 0;
    virtual void read(void* to, memory from, std::size_t offset, std::size_t bytes, const dependencies&) = 0;
    virtual void copy(memory to, std::size_t to_offset, memory from, std::size_t from_offset,
                      std::size_t bytes, const dependencies&) = 0;
    /// The same from the memory of another device, `owner`, if path_from(owner) is not through_host.
    virtual void copy_from(driver_device& /*owner*/, memory /*to*/, std::size_t /*to_offset*/,
                           memory /*from*/, std::size_t /*from_offset*/, std::size_t /*bytes*/,
                           const dependencies&) {}
    /// Repeats the pattern (1, 2, 4, 8 or 16 bytes) over the range; offset and bytes are multiples of its
    /// size.
    virtual void fill(memory to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
                      const dependencies&) = 0;
    /// The same for boxes of bytes, in memory or images. Copies within one allocation have the same pitches
    /// on both sides and do not overlap; copies between images have the same element type; in copies between
    /// an image and memory, the rows in memory are contiguous.
    virtual void write_region(memory to, const region_layout& to_layout, const void* from,
                              const region_layout& from_layout, const region_extent&,
                              const dependencies&) = 0;
    virtual void read_region(void* to, const region_layout& to_layout, memory from,
                             const region_layout& from_layout, const region_extent&, const dependencies&) = 0;
    virtual void copy_region(memory to, const region_layout& to_layout, memory from,
                             const region_layout& from_layout, const region_extent&, const dependencies&) = 0;
    /// The address of a range of the memory on the host, valid once the command has completed; for devices
    /// with maps_memory().
    virtual void* map(memory, std::size_t /*offset*/, std::size_t /*bytes*/, map_use, const dependencies&) {
        return nullptr;
    }
    /// Releases an address that `map` returned.
    virtual void unmap(memory, void* /*mapped*/, const dependencies&) {}
    virtual void launch(driver_kernel&, const grid&, std::span<const argument>, const dependencies&) = 0;
    /// Multiplies matrices by the vendor's library, for devices that have one.
    virtual void multiply(const matrix_product&, const dependencies&) {}
    /// Submits a batch of this queue's device, which may still run when the batch is destroyed.
    virtual void submit_batch(driver_batch&, const dependencies&) {}
    /// Marks the point at which all commands so far and these events have completed.
    virtual event_handle record(std::span<const event_handle> wait_for = {}) = 0;
    virtual void flush() = 0;
    virtual void finish() = 0;
    /// The driver's own handle: cl_command_queue or CUstream.
    virtual void* native() const = 0;
    /// Calls a function that enqueues commands in the native queue, as the driver requires.
    virtual void give_native(const std::function<void(void* queue)>& give) { give(native()); }
};

struct queue_options {
    bool timing = true;  ///< CUDA: two event records per launch; OpenCL: no measurable cost
};

/// One device. Nothing is initialised on it (no context, no memory) before the first call other than info().
class driver_device {
public:
    virtual ~driver_device() = default;
    virtual const device_info& info() const = 0;
    virtual dialect language() const = 0;
    /// The options of every program on this device (compile() adds them itself); part of the disk cache's
    /// key.
    virtual std::string compile_options() const = 0;
    /// The user's options as compiler flags, for compile(); they override those of compile_options().
    virtual std::string words_for(const balm::compile_options&) const { return {}; }
    /// The compiler for this device and where it was found, or why there is none: for `balm devices`. May
    /// load the compiler's library.
    virtual std::string compiler() const { return info().language_version; }
    virtual std::unique_ptr<driver_queue> make_queue(const queue_options&) = 0;
    /// A batch of the commands that `enqueue` passes to a queue: launches, copies within the device, fills.
    /// Null if the driver has no batches, or cannot keep one of them.
    virtual std::unique_ptr<driver_batch> make_batch(const std::function<void(driver_queue&)>& /*enqueue*/) {
        return nullptr;
    }
    /// The same commands as a loop, which ends once the byte `stop` is not 0 after them. The loop counts its
    /// turns in the first of two numbers of 64 bits in `turns`, and makes at most as many as the second says,
    /// but one at least.
    virtual std::unique_ptr<driver_batch> make_loop(const std::function<void(driver_queue&)>& /*enqueue*/,
                                                    memory /*stop*/, std::size_t /*offset*/,
                                                    memory /*turns*/) {
        return nullptr;
    }
    /// The library of its queues' multiply(). The first call looks for it.
    virtual matrix_library vendor_library() const { return {false, "this device has none", {}}; }
    /// Throws out_of_memory_error when the device has no room. bytes > 0.
    virtual memory allocate(std::size_t bytes) = 0;
    virtual void free(memory) noexcept = 0;
    /// Whether images of this element type and number of dimensions are supported; for devices that support
    /// images.
    virtual bool has_images_of(const image_description&) { return false; }
    /// Throws out_of_memory_error when the device has no room.
    virtual memory allocate_image(const image_description&) { return {}; }
    /// Commands that use it are done.
    virtual void free_image(memory) noexcept {}
    /// Whether queues can map device memory to host addresses.
    virtual bool maps_memory() const { return false; }
    /// Throws out_of_memory_error if the host cannot lock more memory. bytes > 0.
    virtual pinned_memory allocate_pinned(std::size_t bytes) = 0;
    /// Commands that use it are done.
    virtual void free_pinned(pinned_memory) noexcept = 0;
    virtual std::unique_ptr<driver_program> compile(const std::string& source,
                                                    const std::string& options) = 0;
    /// Whether processes may compile equal programs concurrently. With PoCL they race in its own cache, which
    /// causes errors and crashes.
    virtual bool compiles_beside_other_processes() const { return true; }
    /// Whether the compiler runs the work-items of a group in loops from barrier to barrier, as PoCL does.
    virtual bool loops_over_items() const { return false; }
    /// Loads a result of driver_program::binary() from the same device and driver. Throws build_error.
    virtual std::unique_ptr<driver_program> load(std::span<const std::byte> binary) = 0;
    /// Whether commands of this device can wait for events of `other`.
    virtual bool chains_on(const driver_device& other) const { return this == &other; }
    /// The path of its queues' copy_from from another device; through_host: not supported. Otherwise commands
    /// of this device can wait for events of the other.
    virtual copy_path path_from(driver_device&) { return copy_path::through_host; }
    /// The driver's own handles: cl_context and cl_device_id, or CUcontext and CUdevice.
    virtual void* native_context() = 0;
    virtual void* native_device() = 0;

    /// Whether allocate_managed() is supported.
    virtual bool has_managed_memory() const { return info().shared_virtual_memory.allocations; }
    /// Memory with the same address on host and device, for devices with has_managed_memory(). Host and
    /// device use it in turns: the host while it is mapped if maps_memory(), else while no command uses it.
    /// Throws out_of_memory_error. bytes > 0.
    virtual managed_memory allocate_managed(std::size_t /*bytes*/) { return {}; }
    /// Commands that use it are done.
    virtual void free_managed(managed_memory) noexcept {}

    /// Whether this device has this context and native device (CUDA: any). Initialises nothing.
    virtual bool is_native(void* /*context*/, void* /*device*/) { return false; }
    /// Wraps a queue that the program created; sets options.timing to the queue's own. Throws usage_error if
    /// it is of another device or not in-order.
    virtual std::unique_ptr<driver_queue> adopt_queue(void* /*native*/, queue_options&) { refuse_native(); }
    /// Shares memory that the program allocated, until release_memory. Throws usage_error if this device
    /// cannot use it.
    virtual foreign_memory adopt_memory(std::uintptr_t /*handle*/) { refuse_native(); }
    virtual void release_memory(memory) noexcept {}

private:
    [[noreturn]] void refuse_native() const;
};

/// A platform's description of itself, and its devices.
struct discovered_platform {
    std::string name, vendor, version, profile, extensions;
    std::vector<std::shared_ptr<driver_device>> devices;
};

/// The outcome of looking for a backend, for `balm devices` and the text of no_device_error.
struct discovery {
    std::vector<discovered_platform> platforms;
    std::vector<std::string> notes;  ///< each library tried and why it failed, each platform without devices
};

/// The backends. They throw only std::bad_alloc: without the driver they return no devices.
discovery discover_opencl();
discovery discover_cuda();

/// The device of a context that the program created: a cl_context and one of its cl_device_id, or a
/// CUcontext. They throw usage_error if these do not match.
std::shared_ptr<driver_device> adopt_opencl_context(void* context, void* device);
/// The cl_context and the cl_device_id of a cl_command_queue. Throws usage_error for an invalid one.
std::pair<void*, void*> opencl_context_of(void* queue);
std::shared_ptr<driver_device> adopt_cuda_context(void* context);

}  // namespace balm::runtime
