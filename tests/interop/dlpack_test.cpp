// DLPack tensors between Balm and a library in C (dlpack_peer.c), which is compiled with DLPack's header and
// does its own arithmetic. On devices the two exchange OpenCL's and CUDA's own handles.

#include <dlpack/dlpack.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "balm/dlpack.hpp"
#include "interop/dlpack_peer.h"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What the peer should find in an array of these elements, row by row.
template <class R>
void expect_sum(const peer_sum& got, const R& elements, const std::vector<std::int64_t>& extents) {
    ASSERT_TRUE(got.ok);
    ASSERT_EQ(static_cast<std::size_t>(got.ndim), extents.size());
    for (std::size_t d = 0; d < extents.size(); ++d) EXPECT_EQ(got.shape[d], extents[d]);
    double total = 0, checked = 0;
    for (std::size_t k = 0; k < elements.size(); ++k) {
        total += static_cast<double>(elements[k]);
        checked += static_cast<double>(elements[k]) * static_cast<double>(k + 1);
    }
    EXPECT_EQ(got.total, total);
    EXPECT_EQ(got.checked, checked);
}

template <class T>
void expect_numbers(int code) {
    SCOPED_TRACE(code);
    constexpr int bits = 8 * sizeof(T);
    std::vector<T> elements(20);
    std::iota(elements.begin(), elements.end(), T(1));
    const peer_sum got = peer_consume(to_dlpack<DLManagedTensor>(std::vector<T>(elements)), 0);
    EXPECT_EQ(got.code, code);
    EXPECT_EQ(got.bits, bits);
    expect_sum(got, elements, {20});
    const auto taken = from_dlpack<T>(static_cast<DLManagedTensor*>(peer_produce_numbers(code, bits, 9)));
    for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(taken[k], static_cast<T>(k));
    EXPECT_EQ(peer_alive(), 0);
}

DLManagedTensor* produced(std::int64_t rows, std::int64_t columns, bool by_columns = false) {
    return static_cast<DLManagedTensor*>(peer_produce(rows, columns, by_columns, 0));
}

}  // namespace

TEST(B11_dlpack, numbers_of_all_types_go_both_ways) {
    expect_numbers<std::int8_t>(kDLInt);
    expect_numbers<std::int16_t>(kDLInt);
    expect_numbers<std::int32_t>(kDLInt);
    expect_numbers<std::int64_t>(kDLInt);
    expect_numbers<std::uint8_t>(kDLUInt);
    expect_numbers<std::uint16_t>(kDLUInt);
    expect_numbers<std::uint32_t>(kDLUInt);
    expect_numbers<std::uint64_t>(kDLUInt);
    expect_numbers<float>(kDLFloat);
    expect_numbers<double>(kDLFloat);
    const auto truths = from_dlpack<bool>(static_cast<DLManagedTensor*>(peer_produce_numbers(6, 8, 4)));
    EXPECT_THAT(truths, ElementsAre(false, true, true, true));  // 0 1 2 3
    const auto type_of = [](auto&& x) {
        DLManagedTensor* const t = to_dlpack<DLManagedTensor>(std::move(x));
        const DLDataType type = t->dl_tensor.dtype;
        t->deleter(t);
        return std::tuple(int{type.code}, int{type.bits}, int{type.lanes});
    };
    EXPECT_EQ(type_of(host_array<bool>(shape(3))), std::tuple(6, 8, 1));
    EXPECT_EQ(type_of(host_array<half>(shape(3))), std::tuple(2, 16, 1));
    EXPECT_EQ(type_of(host_array<std::complex<float>>(shape(3))), std::tuple(5, 64, 1));
    EXPECT_EQ(type_of(host_array<std::complex<double>>(shape(3))), std::tuple(5, 128, 1));
}

TEST(B11_dlpack, structs_with_and_without_a_version) {
    host_array<float> x(shape(3, 4));
    std::iota(x.begin(), x.end(), 1.f);
    const host_array<float> copy = x;
    // Balm's structs are those of the header.
    dlpack::versioned_tensor* const t = to_dlpack<dlpack::versioned_tensor>(std::move(x));
    EXPECT_EQ(t->flags, 0u);
    expect_sum(peer_consume(t, 1), copy, {3, 4});
    dlpack::managed_tensor* const plain = to_dlpack(host_array<float>(copy));
    expect_sum(peer_consume(plain, 0), copy, {3, 4});

    auto* const made = static_cast<dlpack::versioned_tensor*>(peer_produce(2, 3, 0, 1));
    EXPECT_EQ(dlpack_extents(made), shape(2, 3));
    EXPECT_THAT(from_dlpack<float>(made), ElementsAre(0, 1, 2, 10, 11, 12));
    EXPECT_EQ(peer_alive(), 0);
}

TEST(B11_dlpack, host_memory_is_taken_row_by_row) {
    EXPECT_EQ(from_dlpack<float>(produced(2, 3)).shape(), shape(2, 3));
    EXPECT_THAT(from_dlpack<float>(produced(3, 2, true)), ElementsAre(0, 1, 10, 11, 20, 21));
    const auto pairs = from_dlpack<float2>(produced(3, 2));
    EXPECT_EQ(pairs.shape(), shape(3));
    EXPECT_EQ(pairs[2], (float2{20, 21}));
    const auto threes = from_dlpack<float3>(produced(2, 3, true));
    EXPECT_EQ(threes[1], (float3{10, 11, 12}));
    EXPECT_EQ(from_dlpack<float>(produced(0, 3)).shape(), shape(0, 3));
    on_all_contexts([&](const context& ctx) {
        const vector<float> x = from_dlpack<float>(ctx, produced(3, 4, true));
        EXPECT_EQ((x + 1).to_host()[11], 24.f);
    });
    EXPECT_EQ(peer_alive(), 0);
}

TEST(B11_dlpack, mapped_elements_are_used_in_place) {
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        vector<float> x(ctx, {1, 2, 3, 4});
        DLManagedTensor* const t = to_dlpack<DLManagedTensor>(x.map());
        EXPECT_EQ(t->dl_tensor.device.device_type, kDLCPU);
        static_cast<float*>(t->dl_tensor.data)[2] = 30;
        EXPECT_THAT(usage_message_of([&] { x = x + 1; }), HasSubstr("mapped"));
        t->deleter(t);
        x = x + 1;
        EXPECT_THAT(x.to_host(), ElementsAre(2, 3, 31, 5));
        auto* const constant = to_dlpack<dlpack::versioned_tensor>(x.elements().map_to_read());
        EXPECT_EQ(constant->flags, dlpack::read_only);
        const peer_sum sum = peer_consume(constant, 1);
        EXPECT_EQ(sum.total, 41);
    });
}

TEST(B11_dlpack, device_memory_goes_out_and_in_without_a_copy) {
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        const bool is_cuda = dev.info().api == backend::cuda;
        vector<float> x(ctx, 12);
        x = cast<float>(element_index());
        DLManagedTensor* t = to_dlpack<DLManagedTensor>(x);
        EXPECT_EQ(t->dl_tensor.device.device_type, is_cuda ? kDLCUDA : kDLOpenCL);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t->dl_tensor.data), native(x).handle.value());
        vector<float> same = from_dlpack<float>(ctx, t);
        same = same * 2;
        EXPECT_EQ(x[11], 22.f);
        {
            const vector<float> gone(ctx, {5, 6});
            t = to_dlpack<DLManagedTensor>(gone);
        }
        const vector<float> kept = from_dlpack<float>(ctx, t);  // the tensor kept the elements
        EXPECT_THAT(kept.to_host(), ElementsAre(5, 6));

        // Views: strides, also negative ones, which are copied on the device where they come in.
        const auto M = view(x, {3, 4});
        t = to_dlpack<DLManagedTensor>(M.transpose()(reversed, all));
        EXPECT_THAT(std::vector<std::int64_t>(t->dl_tensor.shape, t->dl_tensor.shape + 2), ElementsAre(4, 3));
        EXPECT_THAT(std::vector<std::int64_t>(t->dl_tensor.strides, t->dl_tensor.strides + 2),
                    ElementsAre(-1, 4));
        const vector<float> turned = from_dlpack<float>(ctx, t);
        EXPECT_THAT(turned.to_host(), ElementsAre(6, 14, 22, 4, 12, 20, 2, 10, 18, 0, 8, 16));
        EXPECT_THAT(usage_message_of([&] {
                        (void)to_dlpack(view(x + 1, {3, 4}));
                    }),
                    HasSubstr("of an expression cannot become a DLPack tensor"));
        EXPECT_THAT(usage_message_of([&] { (void)to_dlpack(x[11 - element_index(0, 12)]); }),
                    HasSubstr("computed"));
        EXPECT_THAT(usage_message_of([&] { (void)to_dlpack(vector<float>()); }), HasSubstr("device"));

        auto buffer = dev.mixed_buffer<float4>(2, 3);
        buffer.fill({1, 2, 3, 4});
        t = to_dlpack<DLManagedTensor>(buffer);
        EXPECT_EQ(t->dl_tensor.ndim, 3);
        EXPECT_EQ(dlpack_extents(t), shape(2, 3, 4));
        EXPECT_EQ(from_dlpack<float4>(ctx, t).to_host()[5], (float4{1, 2, 3, 4}));
        EXPECT_THAT(usage_message_of([&] {
                        (void)to_dlpack(vector<float>(context({dev, dev}), 100));
                    }),
                    HasSubstr("spread over 2 devices"));
    });
}

TEST(B11_dlpack, the_deleter_is_called_when_the_last_handle_has_gone) {
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        vector<float> x(ctx, 1000, 1.f);
        const native_memory memory = native(x);
        const int kind = dev.info().api == backend::cuda ? kDLCUDA : kDLOpenCL;
        const int id = kind == kDLCUDA ? static_cast<int>(native(dev).device.value()) : 0;
        const auto wrapped = [&](std::int64_t rows, std::int64_t columns, std::int64_t row,
                                 std::int64_t column) {
            return static_cast<DLManagedTensor*>(
                peer_wrap(memory.handle, kind, id, rows, columns, row, column, 0));
        };
        {
            vector<float> y = from_dlpack<float>(ctx, wrapped(10, 100, 100, 1));
            vector<float> handle = y.share();
            y = vector<float>(ctx, 1000);
            EXPECT_EQ(peer_alive(), 1);
            for (int turn = 0; turn < 20; ++turn) handle = handle + 1;
            EXPECT_EQ(peer_alive(), 1);
        }
        EXPECT_EQ(peer_alive(), 0);
        EXPECT_EQ(x[999], 21.f);
        x = cast<float>(element_index());
        EXPECT_EQ(from_dlpack<float>(ctx, wrapped(20, 50, 1, 20)).to_host()[51], 21.f);  // by columns: copied
        EXPECT_EQ(peer_alive(), 0);
        // What is refused stays the caller's.
        DLManagedTensor* const large = wrapped(20, 100, 100, 1);
        EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(ctx, large); }),
                    HasSubstr("the memory has"));
        EXPECT_EQ(peer_alive(), 1);
        EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(large); }),
                    HasSubstr("not in host memory"));
        EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<double>(ctx, large); }),
                    HasSubstr("float32, not float64"));
        EXPECT_EQ(peer_alive(), 1);
        peer_give_back(large, 0);
    });
}

namespace {

/// A tensor of floats in this memory, with all that it refers to.
template <class M>
struct drawn_tensor {
    std::vector<std::int64_t> sizes, apart;
    M managed{};
    int deleted = 0;

    drawn_tensor(dlpack::device where, void* data, std::vector<std::int64_t> extents,
                 std::vector<std::int64_t> strides, std::uint64_t byte_offset)
        : sizes(std::move(extents)), apart(std::move(strides)) {
        managed.dl_tensor = {data,
                             where,
                             static_cast<std::int32_t>(sizes.size()),
                             {dlpack::is_float, 32, 1},
                             sizes.empty() ? nullptr : sizes.data(),
                             apart.empty() ? nullptr : apart.data(),
                             byte_offset};
        managed.manager_ctx = this;
        managed.deleter = [](M* of) { ++static_cast<drawn_tensor*>(of->manager_ctx)->deleted; };
        if constexpr (requires { managed.version; }) managed.version = {1, 0};
    }
    drawn_tensor(const drawn_tensor&) = delete;
    drawn_tensor& operator=(const drawn_tensor&) = delete;
    ~drawn_tensor() = default;

    std::int64_t count() const {
        std::int64_t product = 1;
        for (const std::int64_t size : sizes) product *= size;
        return product;
    }
    /// The positions of all elements, row by row, in elements from the first.
    std::vector<std::int64_t> positions() const {
        std::vector<std::int64_t> made;
        for (std::int64_t k = 0; k < count(); ++k) {
            std::int64_t rest = k, at = 0, step = 1;
            for (std::size_t d = sizes.size(); d-- > 0;) {
                at += rest % sizes[d] * (apart.empty() ? step : apart[d]);
                rest /= sizes[d];
                step *= sizes[d];
            }
            made.push_back(at);
        }
        return made;
    }
};
using plain_tensor = drawn_tensor<dlpack::managed_tensor>;

/// The device's memory as DLPack names it: the pointer or cl_mem, and the offset.
dlpack::device dlpack_place(const device& dev) {
    const bool is_cuda = dev.info().api == backend::cuda;
    return {is_cuda ? dlpack::on_cuda : dlpack::on_opencl,
            is_cuda ? static_cast<std::int32_t>(native(dev).device.value()) : 0};
}

constexpr std::int64_t far_apart = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST(B11_dlpack, random_tensors_of_any_strides) {
    auto random = seeded_random();
    constexpr std::size_t room = 3000;
    std::vector<float> memory(room);
    std::iota(memory.begin(), memory.end(), 0.f);
    const auto check_on = [&](auto&& import, dlpack::device where, void* data, std::uint64_t before) {
        const auto dimensions = random() % 6;
        std::vector<std::int64_t> sizes(dimensions), apart(random() % 4 == 0 ? 0 : dimensions);
        for (auto& each : sizes) each = static_cast<std::int64_t>(random() % 6 == 0 ? 0 : 1 + random() % 4);
        for (std::size_t d = 0; d < apart.size(); ++d)
            apart[d] = static_cast<std::int64_t>(random() % 80) - 40;
        plain_tensor drawn(where, data, sizes, apart, 0);
        const std::vector<std::int64_t> places = drawn.positions();
        const std::int64_t first = places.empty() ? 0 : *std::min_element(places.begin(), places.end());
        drawn.managed.dl_tensor.byte_offset = before + static_cast<std::uint64_t>(-first) * sizeof(float);
        for (std::size_t d = 0; d < apart.size(); ++d)  // which mean nothing
            if (sizes[d] <= 1 || places.empty()) drawn.apart[d] = random() % 2 == 0 ? far_apart : -far_apart;
        if (places.empty() && random() % 2 == 0) drawn.managed.dl_tensor.data = nullptr;
        std::vector<float> expected;
        for (const std::int64_t at : places) expected.push_back(memory[static_cast<std::size_t>(at - first)]);
        {
            const host_array<float> got = import(&drawn.managed);
            EXPECT_EQ(std::vector<float>(got.begin(), got.end()), expected) << testing::PrintToString(sizes);
        }
        EXPECT_EQ(drawn.deleted, 1);
    };
    for (int turn = 0; turn < 200; ++turn)
        check_on([](auto* of) { return from_dlpack<float>(of); }, {dlpack::on_cpu, 0}, memory.data(), 0);
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        const vector<float> x(ctx, memory);
        const native_memory of = native(x);
        for (int turn = 0; turn < 40; ++turn)
            check_on([&](auto* t) { return from_dlpack<float>(ctx, t).to_host(); }, dlpack_place(dev),
                     of.handle, of.byte_offset);
    });
}

TEST(B11_dlpack, sizes_strides_and_offsets_that_overflow_are_refused) {
    std::vector<float> memory(100);
    struct far_tensor {
        std::vector<std::int64_t> sizes, strides;
        std::uint64_t byte_offset;
    };
    const far_tensor all[] = {{{2, 2}, {far_apart, 1}, 0},
                              {{2, 2}, {-far_apart - 1, 1}, 0},
                              {{3, 2}, {far_apart / 2 + 1, 1}, 0},
                              {{2, 2}, {far_apart / 2, far_apart / 2}, 0},
                              {{2, 2}, {far_apart / 4, 1}, 0},
                              {{2, 2}, {-far_apart / 4, -1}, 0},
                              {{2, 2}, {2, 1}, std::numeric_limits<std::uint64_t>::max()},
                              {{2, 2}, {2, 1}, std::numeric_limits<std::uint64_t>::max() - 7},
                              {{2, 2}, {2, 1}, std::uint64_t{1} << 63}};
    const auto check = [&](dlpack::device where, void* data, auto&& import) {
        for (const far_tensor& each : all) {
            plain_tensor drawn(where, data, each.sizes, each.strides, each.byte_offset);
            EXPECT_THAT(usage_message_of([&] { import(&drawn.managed); }),
                        HasSubstr("sizes, strides and byte offset reach farther than any memory."))
                << testing::PrintToString(each.strides) << ' ' << each.byte_offset;
            EXPECT_EQ(drawn.deleted, 0);
        }
        plain_tensor large(where, data, {far_apart, far_apart}, {0, 0}, 0);
        EXPECT_THAT(usage_message_of([&] { import(&large.managed); }), HasSubstr("exceed"));
        plain_tensor none(where, nullptr, {2, 2}, {2, 1}, 0);
        EXPECT_THAT(usage_message_of([&] { import(&none.managed); }), HasSubstr("its data pointer is null."));
        plain_tensor shapeless(where, data, {2, 2}, {2, 1}, 0);
        shapeless.managed.dl_tensor.shape = nullptr;
        EXPECT_THAT(usage_message_of([&] { import(&shapeless.managed); }), HasSubstr("it has no shape."));
        shapeless.managed.dl_tensor.ndim = -1;
        EXPECT_THAT(usage_message_of([&] { import(&shapeless.managed); }), HasSubstr("it has -1 dimensions"));
        // Lanes in the type: strides count groups of them.
        plain_tensor lanes(where, data, {2}, {far_apart / 2}, 0);
        lanes.managed.dl_tensor.dtype.lanes = 4;
        EXPECT_THAT(usage_message_of([&] { (void)dlpack_extents(&lanes.managed); }),
                    HasSubstr("its strides overflow 64 bits."));
    };
    check({dlpack::on_cpu, 0}, memory.data(), [](auto* of) { (void)from_dlpack<float>(of); });
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        const vector<float> x(ctx, memory);
        check(dlpack_place(dev), native(x).handle, [&](auto* of) { (void)from_dlpack<float>(ctx, of); });
    });
}

TEST(B11_dlpack, elements_of_a_read_only_tensor_are_not_written) {
    on_all_devices([&](const device& dev) {
        const context ctx({dev});
        const vector<float> x(ctx, {1, 2, 3, 4});
        const native_memory of = native(x);
        drawn_tensor<dlpack::versioned_tensor> drawn(dlpack_place(dev), of.handle, {4}, {1}, of.byte_offset);
        drawn.managed.flags = dlpack::read_only;
        {
            vector<float> y = from_dlpack<float>(ctx, &drawn.managed);
            y = y + 10;
            EXPECT_THAT(y.to_host(), ElementsAre(11, 12, 13, 14));
        }
        EXPECT_EQ(drawn.deleted, 1);
        EXPECT_THAT(x.to_host(), ElementsAre(1, 2, 3, 4));
        drawn.managed.flags = dlpack::copied;  // may be written
        {
            vector<float> y = from_dlpack<float>(ctx, &drawn.managed);
            y = y + 10;
            EXPECT_EQ(drawn.deleted, 1);
        }
        EXPECT_EQ(drawn.deleted, 2);
        EXPECT_THAT(x.to_host(), ElementsAre(11, 12, 13, 14));
    });
}

TEST(B11_dlpack, refuses_what_it_cannot_take_with_words) {
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(static_cast<DLManagedTensor*>(nullptr)); }),
                HasSubstr("it is null"));
    DLManagedTensor* const t = produced(2, 3);
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<int>(t); }),
                HasSubstr("its elements are float32, not int32"));
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float2>(t); }),
                HasSubstr("its last dimension must be 2"));
    t->dl_tensor.dtype.code = 77;
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(t); }),
                HasSubstr("type code 77 with 32 bits"));
    t->dl_tensor.dtype.code = kDLFloat;
    t->dl_tensor.device.device_type = kDLMetal;
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(t); }),
                HasSubstr("a device of DLPack type 8"));
    on_all_devices([&](const device& dev) {
        EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(context({dev}), t); }),
                    HasSubstr("which Balm does not support"));
        t->dl_tensor.device.device_type = dev.info().api == backend::cuda ? kDLOpenCL : kDLCUDA;
        EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(context({dev}), t); }),
                    HasSubstr("but the context is on"));
        EXPECT_THAT(usage_message_of([&] {
                        (void)from_dlpack<float>(context({dev, dev}), t);
                    }),
                    HasSubstr("pass a context of that device"));
        t->dl_tensor.device.device_type = kDLMetal;
    });
    t->dl_tensor.ndim = 10;
    EXPECT_THAT(usage_message_of([&] { (void)dlpack_extents(t); }), HasSubstr("it has 10 dimensions"));
    t->dl_tensor.ndim = 2;
    t->dl_tensor.shape[1] = -3;
    EXPECT_THAT(usage_message_of([&] { (void)dlpack_extents(t); }), HasSubstr("the size -3"));
    t->dl_tensor.shape[1] = 3;
    peer_give_back(t, 0);
    auto* const versioned = static_cast<dlpack::versioned_tensor*>(peer_produce(2, 3, 0, 1));
    versioned->version.major = 2;
    EXPECT_THAT(usage_message_of([&] { (void)from_dlpack<float>(versioned); }), HasSubstr("version 2."));
    peer_give_back(versioned, 1);
    EXPECT_EQ(peer_alive(), 0);
}

}  // namespace balm::test
