#include "driver/cuda/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "driver/cuda/check.hpp"

namespace balm::cuda {

namespace {

CUarray_format format_of(scalar element) {
    switch (element) {
        case scalar::i8: return CU_AD_FORMAT_SIGNED_INT8;
        case scalar::u8: return CU_AD_FORMAT_UNSIGNED_INT8;
        case scalar::i16: return CU_AD_FORMAT_SIGNED_INT16;
        case scalar::u16: return CU_AD_FORMAT_UNSIGNED_INT16;
        case scalar::i32: return CU_AD_FORMAT_SIGNED_INT32;
        case scalar::u32: return CU_AD_FORMAT_UNSIGNED_INT32;
        case scalar::f16: return CU_AD_FORMAT_HALF;
        default: return CU_AD_FORMAT_FLOAT;
    }
}

CUaddress_mode mode_of(address_mode mode) {
    switch (mode) {
        case address_mode::clamp_to_border: return CU_TR_ADDRESS_MODE_BORDER;
        case address_mode::repeat: return CU_TR_ADDRESS_MODE_WRAP;
        case address_mode::mirrored_repeat: return CU_TR_ADDRESS_MODE_MIRROR;
        case address_mode::clamp_to_edge: break;
    }
    return CU_TR_ADDRESS_MODE_CLAMP;
}

CUDA_RESOURCE_DESC resource(CUarray array) {
    CUDA_RESOURCE_DESC described{};
    described.resType = CU_RESOURCE_TYPE_ARRAY;
    described.res.array.hArray = array;
    return described;
}

/// For reads by position: zeros beyond the edges.
constexpr sampler by_position{image_filter::nearest, address_mode::clamp_to_border,
                              image_coordinates::elements};

}  // namespace

image::image(std::shared_ptr<context> of, const runtime::image_description& wanted)
    : context_(std::move(of)), description_(wanted) {
    const current_context current(*context_);
    CUDA_ARRAY3D_DESCRIPTOR described{};
    described.Width = wanted.size[0];
    described.Height = wanted.dimensions > 1 ? wanted.size[1] : 0;
    described.Depth = wanted.dimensions > 2 ? wanted.size[2] : 0;
    described.Format = format_of(wanted.element);
    described.NumChannels = wanted.lanes;
    described.Flags = written_array;
    const CUresult code = driver().cuArray3DCreate(&array_, &described);
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        throw out_of_memory_error(fmt::format("cuArray3DCreate failed with {} for {} on device '{}'.",
                                              error_text(driver(), code), words(), context_->device_name()));
    if (code != CUDA_SUCCESS) fail(code, "cuArray3DCreate", words(), context_->device_name());
}

image::~image() {
    if (runtime::is_forked()) return;
    const current_context current(*context_);
    for (const auto& [through, texture] : textures_) driver().cuTexObjectDestroy(texture);
    if (surface_ != 0) driver().cuSurfObjectDestroy(surface_);
    driver().cuArrayDestroy(array_);
}

image& image::of(runtime::memory native) { return *std::bit_cast<image*>(native.handle); }

std::string image::words() const {
    const auto& size = description_.size;
    return fmt::format("an image of {} x {} x {} elements of {} bytes", size[0], size[1], size[2],
                       description_.element_bytes());
}

image_argument image::as_argument(runtime::image_use use, const sampler& through) {
    const std::lock_guard lock(objects_mutex_);
    const auto size = [&](std::size_t d) { return static_cast<int>(description_.size[d]); };
    const unsigned long long object = use == runtime::image_use::written   ? surface()
                                      : use == runtime::image_use::sampled ? texture(through)
                                                                           : texture(by_position);
    return {object, size(0), size(1), size(2)};
}

CUtexObject image::texture(const sampler& through) {
    for (const auto& [known, made] : textures_)
        if (known == through) return made;
    CUDA_TEXTURE_DESC described{};
    // The hardware filters a one-dimensional image as a single row: with a border beside the row, half of
    // each result would come from the border.
    std::fill_n(described.addressMode, 3, CU_TR_ADDRESS_MODE_CLAMP);
    std::fill_n(described.addressMode, description_.dimensions, mode_of(through.address));
    described.filterMode =
        through.filter == image_filter::linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    if (through.coordinates == image_coordinates::normalised)
        described.flags |= texture_of_normalised_coordinates;
    if (is_integer(description_.element) && !description_.is_normalised)
        described.flags |= texture_of_integers;
    const CUDA_RESOURCE_DESC looked_at = resource(array_);
    const current_context current(*context_);
    CUtexObject& made = textures_.emplace_back(through, 0).second;
    const CUresult code = driver().cuTexObjectCreate(&made, &looked_at, &described, nullptr);
    if (code == CUDA_SUCCESS) return made;
    textures_.pop_back();
    fail(code, "cuTexObjectCreate", words(), context_->device_name());
}

CUsurfObject image::surface() {
    if (surface_ != 0) return surface_;
    const CUDA_RESOURCE_DESC looked_at = resource(array_);
    const current_context current(*context_);
    check(driver().cuSurfObjectCreate(&surface_, &looked_at), "cuSurfObjectCreate", words(),
          context_->device_name());
    return surface_;
}

}  // namespace balm::cuda
