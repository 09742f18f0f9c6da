#pragma once
// A queue that counts its commands and drops them. Reads give zeros.

#include <memory>

#include "null_driver/device.hpp"

namespace balm::null {

class queue final : public runtime::driver_queue {
public:
    explicit queue(std::shared_ptr<counters>);

    void write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
               const runtime::dependencies&) override;
    void read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
              const runtime::dependencies&) override;
    void copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
              std::size_t bytes, const runtime::dependencies&) override;
    void fill(runtime::memory to, std::size_t offset, std::size_t bytes, std::span<const std::byte> pattern,
              const runtime::dependencies&) override;
    void write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                      const runtime::region_layout& from_layout, const runtime::region_extent&,
                      const runtime::dependencies&) override;
    void read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent&,
                     const runtime::dependencies&) override;
    void copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                     const runtime::region_layout& from_layout, const runtime::region_extent&,
                     const runtime::dependencies&) override;
    void launch(runtime::driver_kernel&, const runtime::grid&, std::span<const runtime::argument>,
                const runtime::dependencies&) override;
    runtime::event_handle record(std::span<const runtime::event_handle> wait_for) override;
    void flush() override;
    void finish() override;
    void* native() const override { return counters_.get(); }

private:
    void submit(std::atomic<std::uint64_t>& count, const runtime::dependencies&);

    std::shared_ptr<counters> counters_;
    runtime::event_handle happened_;  // one for all: an event costs no allocation
};

}  // namespace balm::null
