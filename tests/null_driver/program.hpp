#pragma once
// A program that has every kernel one asks for.

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace balm::null {

class kernel final : public runtime::driver_kernel {
public:
    explicit kernel(std::size_t most_items) : most_items_(most_items) {}
    std::size_t max_work_group_size() const override { return most_items_; }

private:
    std::size_t most_items_;
};

class program final : public runtime::driver_program {
public:
    program(std::vector<std::byte> image, std::size_t most_items)
        : image_(std::move(image)), most_items_(most_items) {}
    std::unique_ptr<runtime::driver_kernel> make_kernel(const std::string&) override {
        return std::make_unique<kernel>(most_items_);
    }
    std::vector<std::byte> binary() override { return image_; }
    bool binary_needs_launch() const override { return false; }

private:
    std::vector<std::byte> image_;
    std::size_t most_items_;
};

}  // namespace balm::null
