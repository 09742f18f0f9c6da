#pragma once
// A program that has every kernel one asks for.

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace balm::null {

class kernel final : public runtime::driver_kernel {
public:
    std::size_t max_work_group_size() const override { return 1024; }
};

class program final : public runtime::driver_program {
public:
    explicit program(std::vector<std::byte> image) : image_(std::move(image)) {}
    std::unique_ptr<runtime::driver_kernel> make_kernel(const std::string&) override {
        return std::make_unique<kernel>();
    }
    std::vector<std::byte> binary() override { return image_; }
    bool binary_needs_launch() const override { return false; }

private:
    std::vector<std::byte> image_;
};

}  // namespace balm::null
