#pragma once
// A device for tests of the runtime: its memory is the host's, its commands run when they are enqueued, its
// events complete when the test says so, and it keeps a log of what was asked of it.

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "balm/error.hpp"
#include "runtime/backend.hpp"

namespace balm::test {

class fake_event final : public runtime::driver_event {
public:
    explicit fake_event(bool done) : done_(done) {}
    bool is_complete() override {
        const std::lock_guard lock(mutex_);
        return done_;
    }
    void wait() override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return done_; });
        if (!failure_.empty()) throw device_error(failure_);
    }
    timestamps times() override { return {10, 20, 30, 70, false}; }

    void complete(const std::string& failure = {}) {
        const std::lock_guard lock(mutex_);
        done_ = true;
        failure_ = failure;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_;
    std::string failure_;
};

/// One command, as the driver saw it.
struct fake_command {
    int queue = 0;
    std::string what;
    std::size_t waits = 0;  ///< events in its list
};

/// What a test controls and looks at.
struct fake_log {
    std::mutex mutex;
    std::vector<fake_command> commands;
    std::vector<std::shared_ptr<fake_event>> events;
    bool events_complete_at_once = true;
    int queues = 0, live_allocations = 0, live_images = 0, live_pinned = 0, live_programs = 0, compiles = 0,
        loads = 0, kernels = 0, fetches = 0;
    std::size_t room = std::size_t{1} << 30;
    std::map<std::uintptr_t, std::size_t> bytes_of;
    bool binary_needs_launch = false;
    bool refuses_binaries = false;
    bool has_binaries = true;
    bool has_pinned = true;
    bool copies_from_others = false;  ///< by itself, where the other device is a fake one, too
    int refusals = 0;                 ///< commands that the driver will refuse

    std::shared_ptr<fake_event> make_event() {
        events.push_back(std::make_shared<fake_event>(events_complete_at_once));
        return events.back();
    }
    void complete_all(const std::string& failure = {}) {
        const std::lock_guard lock(mutex);
        for (const auto& each : events) each->complete(failure);
    }
    std::size_t waits_of_last() {
        const std::lock_guard lock(mutex);
        return commands.back().waits;
    }
};

class fake_kernel final : public runtime::driver_kernel {
public:
    std::size_t max_work_group_size() const override { return 256; }
};

class fake_program final : public runtime::driver_program {
public:
    fake_program(std::shared_ptr<fake_log> log, std::vector<std::byte> image)
        : log_(std::move(log)), image_(std::move(image)) {
        const std::lock_guard lock(log_->mutex);
        ++log_->live_programs;
    }
    fake_program(const fake_program&) = delete;
    fake_program& operator=(const fake_program&) = delete;
    ~fake_program() override {
        const std::lock_guard lock(log_->mutex);
        --log_->live_programs;
    }
    std::unique_ptr<runtime::driver_kernel> make_kernel(const std::string&) override {
        const std::lock_guard lock(log_->mutex);
        ++log_->kernels;
        return std::make_unique<fake_kernel>();
    }
    std::vector<std::byte> binary() override {
        const std::lock_guard lock(log_->mutex);
        ++log_->fetches;
        if (!log_->has_binaries) throw device_error("The driver gives no binary.");
        return image_;
    }
    bool binary_needs_launch() const override { return log_->binary_needs_launch; }

private:
    std::shared_ptr<fake_log> log_;
    std::vector<std::byte> image_;
};

class fake_queue final : public runtime::driver_queue {
public:
    fake_queue(std::shared_ptr<fake_log> log, int number) : log_(std::move(log)), number_(number) {}

    void write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
               const runtime::dependencies& needs) override {
        submit("write", needs, [&] { std::memcpy(address(to) + offset, from, bytes); });
    }
    void read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
              const runtime::dependencies& needs) override {
        submit("read", needs, [&] { std::memcpy(to, address(from) + offset, bytes); });
    }
    void copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
              std::size_t bytes, const runtime::dependencies& needs) override {
        submit("copy", needs,
               [&] { std::memmove(address(to) + to_offset, address(from) + from_offset, bytes); });
    }
    void copy_from(runtime::driver_device&, runtime::memory to, std::size_t to_offset, runtime::memory from,
                   std::size_t from_offset, std::size_t bytes, const runtime::dependencies& needs) override {
        submit("copy from another device", needs,
               [&] { std::memcpy(address(to) + to_offset, address(from) + from_offset, bytes); });
    }
    void fill(runtime::memory to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
              const runtime::dependencies& needs) override {
        submit("fill", needs, [&] {
            for (std::size_t i = 0; i < bytes; i += pattern.size())
                std::memcpy(address(to) + offset + i, pattern.data(), pattern.size());
        });
    }
    void write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                      const runtime::region_layout& from_layout, const runtime::region_extent& size,
                      const runtime::dependencies& needs) override {
        submit("write", needs, [&] {
            copy_rows(address(to), to_layout, static_cast<const std::byte*>(from), from_layout, size);
        });
    }
    void read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent& size,
                     const runtime::dependencies& needs) override {
        submit("read", needs,
               [&] { copy_rows(static_cast<std::byte*>(to), to_layout, address(from), from_layout, size); });
    }
    void copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent& size,
                     const runtime::dependencies& needs) override {
        submit("copy", needs, [&] { copy_rows(address(to), to_layout, address(from), from_layout, size); });
    }
    void launch(runtime::driver_kernel&, const runtime::grid&, std::span<const runtime::argument>,
                const runtime::dependencies& needs) override {
        submit("launch", needs, [] {});
    }
    runtime::event_handle record(std::span<const runtime::event_handle>) override {
        const std::lock_guard lock(log_->mutex);
        log_->commands.push_back({number_, "record", 0});
        return log_->make_event();
    }
    void flush() override {}
    void finish() override {
        const std::lock_guard lock(log_->mutex);
        for (const auto& each : log_->events) each->complete();
    }
    void* native() const override { return nullptr; }

private:
    static std::byte* address(runtime::memory of) { return reinterpret_cast<std::byte*>(of.handle); }
    static void copy_rows(std::byte* to, const runtime::region_layout& to_layout, const std::byte* from,
                          const runtime::region_layout& from_layout, const runtime::region_extent& size) {
        for (std::size_t plane = 0; plane < size.planes; ++plane)
            for (std::size_t row = 0; row < size.rows; ++row)
                std::memcpy(
                    to + to_layout.offset + plane * to_layout.plane_pitch + row * to_layout.row_pitch,
                    from + from_layout.offset + plane * from_layout.plane_pitch + row * from_layout.row_pitch,
                    size.row_bytes);
    }
    /// Moves the bytes under the lock: commands of several queues follow each other, in whatever order.
    template <class Move>
    void submit(const char* what, const runtime::dependencies& needs, Move&& move) {
        const std::lock_guard lock(log_->mutex);
        if (log_->refusals > 0) {
            --log_->refusals;
            throw device_error("The driver said no.");
        }
        move();
        log_->commands.push_back({number_, what, needs.wait_for.size()});
        if (needs.made != nullptr) *needs.made = log_->make_event();
    }

    std::shared_ptr<fake_log> log_;
    int number_;
};

class fake_device final : public runtime::driver_device {
public:
    fake_device() {
        info_.name = "fake";
        info_.platform = "test";
        info_.api = backend::null;
        info_.type = device_type::gpu;
        info_.global_memory = log->room;
        info_.max_work_group_size = 256;
        info_.max_work_item_sizes = {256, 256, 64};
        info_.max_group_counts.fill(65535);
        info_.has_images = true;
        info_.images.size_1d = 64;
        info_.images.size_2d = {64, 32};
        info_.images.size_3d = {64, 32, 16};
    }
    const device_info& info() const override { return info_; }
    runtime::dialect language() const override { return runtime::dialect::opencl_c; }
    std::string compile_options() const override { return {}; }
    std::unique_ptr<runtime::driver_queue> make_queue(const runtime::queue_options&) override {
        const std::lock_guard lock(log->mutex);
        return std::make_unique<fake_queue>(log, log->queues++);
    }
    runtime::memory allocate(std::size_t bytes) override {
        const std::lock_guard lock(log->mutex);
        if (bytes > log->room) throw out_of_memory_error("The driver said no.");
        log->room -= bytes;
        ++log->live_allocations;
        const auto address = reinterpret_cast<std::uintptr_t>(new std::byte[bytes]);
        log->bytes_of[address] = bytes;
        return {address};
    }
    void free(runtime::memory freed) noexcept override {
        const std::lock_guard lock(log->mutex);
        --log->live_allocations;
        log->room += log->bytes_of[freed.handle];
        delete[] reinterpret_cast<std::byte*>(freed.handle);
    }
    /// All but those of signed bytes; rows lie behind rows.
    bool has_images_of(const runtime::image_description& wanted) override {
        return wanted.element != scalar::i8;
    }
    runtime::memory allocate_image(const runtime::image_description& wanted) override {
        const runtime::memory made = allocate(wanted.bytes());
        const std::lock_guard lock(log->mutex);
        ++log->live_images;
        return made;
    }
    void free_image(runtime::memory freed) noexcept override {
        free(freed);
        const std::lock_guard lock(log->mutex);
        --log->live_images;
    }
    runtime::pinned_memory allocate_pinned(std::size_t bytes) override {
        const std::lock_guard lock(log->mutex);
        if (!log->has_pinned) throw out_of_memory_error("The driver said no.");
        ++log->live_pinned;
        return {new std::byte[bytes], 0};
    }
    void free_pinned(runtime::pinned_memory freed) noexcept override {
        const std::lock_guard lock(log->mutex);
        --log->live_pinned;
        delete[] static_cast<std::byte*>(freed.address);
    }
    std::unique_ptr<runtime::driver_program> compile(const std::string& source, const std::string&) override {
        {
            const std::lock_guard lock(log->mutex);
            ++log->compiles;
        }
        if (source.find("broken") != std::string::npos) throw build_error("The source is broken.");
        std::vector<std::byte> image(source.size());
        std::memcpy(image.data(), source.data(), source.size());
        return std::make_unique<fake_program>(log, std::move(image));
    }
    std::unique_ptr<runtime::driver_program> load(std::span<const std::byte> binary) override {
        {
            const std::lock_guard lock(log->mutex);
            ++log->loads;
        }
        if (log->refuses_binaries) throw build_error("The binary is refused.");
        return std::make_unique<fake_program>(log, std::vector<std::byte>(binary.begin(), binary.end()));
    }
    copy_path path_from(runtime::driver_device& other) override {
        return log->copies_from_others && dynamic_cast<fake_device*>(&other) != nullptr
                   ? copy_path::peer_to_peer
                   : copy_path::through_host;
    }
    void* native_context() override { return nullptr; }
    void* native_device() override { return nullptr; }

    const std::shared_ptr<fake_log> log = std::make_shared<fake_log>();

private:
    device_info info_;
};

}  // namespace balm::test
