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

/// The kernel argument of an image: struct balm_image in emit/cuda/images.cpp.
struct image_argument {
    unsigned long long object = 0;  ///< a texture or a surface
    int width = 1, height = 1, depth = 1;
};

class image {
public:
    /// Throws out_of_memory_error if the device has no room.
    image(std::shared_ptr<context>, const runtime::image_description&);
    image(const image&) = delete;
    image& operator=(const image&) = delete;
    ~image();

    /// The image behind a runtime::memory.
    static image& of(runtime::memory);

    CUarray array() const { return array_; }
    /// The image as a kernel argument. Objects are created on first use, and live as long as the image.
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
