#pragma once
// An image: a CUDA array, the surface through which kernels write it, and a texture for each sampler through
// which they have read it.

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "driver/cuda/context.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

/// What a kernel is given of an image: struct balm_image of emit/cuda/images.cpp.
struct image_argument {
    unsigned long long object = 0;  ///< a texture or a surface
    int width = 1, height = 1, depth = 1;
};

class image {
public:
    /// Throws out_of_memory_error when the device has no room.
    image(std::shared_ptr<context>, const runtime::image_description&);
    image(const image&) = delete;
    image& operator=(const image&) = delete;
    ~image();

    /// The image that a runtime::memory stands for.
    static image& of(runtime::memory);

    CUarray array() const { return array_; }
    /// The image as a kernel uses it. Objects are made at their first use, and live as long as the image.
    image_argument as_argument(runtime::image_use, const sampler&);

private:
    CUtexObject texture(const sampler&);
    CUsurfObject surface();
    std::string words() const;

    std::shared_ptr<context> context_;
    runtime::image_description description_;
    CUarray array_ = nullptr;
    std::mutex objects_mutex_;
    CUsurfObject surface_ = 0;
    std::vector<std::pair<sampler, CUtexObject>> textures_;
};

}  // namespace balm::cuda
