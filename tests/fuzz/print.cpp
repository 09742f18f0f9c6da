// Bytes as the format of a print and as the words that a work-item leaves. A format that is accepted formats
// every record, within the size that its widths allow.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "fuzz/fuzz.hpp"
#include "ir/ir.hpp"
#include "kernel/print/print_format.hpp"

namespace {

using balm::scalar;
using balm::fuzz::expect;
using balm::ir::print_argument;

constexpr balm::trace::member members[] = {{"id", {scalar::i32}, 0, 1}, {"at", {scalar::f32, 3}, 16, 2}};
constexpr balm::trace::structure point{"point", 48, 16, members, 2};

print_argument argument_from(FuzzedDataProvider& input) {
    print_argument made;
    const auto element = static_cast<scalar>(input.ConsumeIntegralInRange(1, 12));
    switch (input.ConsumeIntegralInRange(0, 6)) {
        case 0:
            made.from = print_argument::kind::text;
            made.text = input.ConsumeRandomLengthString(20);
            break;
        case 1:
            made.from = print_argument::kind::character;
            made.bits = input.ConsumeIntegral<unsigned char>();
            break;
        case 2:
            made.from = print_argument::kind::number;
            made.what = element == scalar::f16 ? scalar::f32 : element;
            made.bits = input.ConsumeIntegral<std::uint64_t>();
            break;
        case 3: made.what = {element, input.PickValueInArray<std::uint8_t>({2, 3, 4, 8, 16})}; break;
        case 4: made.what = type_of_structure(point); break;
        case 5: made.what = balm::trace::pointer_to(element, balm::space::global); break;
        default: made.what = element;
    }
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    balm::ir::print_format format;
    format.where = {"print.cpp", 1};
    const int arguments = input.ConsumeIntegralInRange(0, 4);
    for (int k = 0; k < arguments; ++k) format.arguments.push_back(argument_from(input));
    std::vector<std::uint32_t> words(4 * 16 * 2);  // four arguments of 16 lanes of 8 bytes
    for (std::uint32_t& word : words)
        word = input.remaining_bytes() > 64 ? input.ConsumeIntegral<std::uint32_t>() : 5;
    format.text = input.ConsumeRemainingBytesAsString();

    std::shared_ptr<const balm::ir::print_format> accepted;
    try {
        accepted = balm::kernels::checked(format);
    } catch (const balm::trace_error& refused) {
        expect(std::string_view(refused.what()).find("does not fit") != std::string_view::npos,
               "a refusal says that the format does not fit", refused.what());
        return 0;
    }
    expect(accepted->words <= words.size(), "arguments of a print take so many words");
    std::size_t text_bytes = format.text.size();
    for (const print_argument& each : format.arguments) text_bytes += each.text.size();
    const auto fields = static_cast<std::size_t>(std::count(format.text.begin(), format.text.end(), '{'));
    // A field is at most 16 numbers, each as wide as 4096 characters of four bytes, or the digits of the
    // largest double behind a precision of 4096.
    const std::size_t most = text_bytes + fields * (text_bytes + 16 * (4 * 4096 + 512));
    const std::string text = balm::kernels::formatted(*accepted, words.data());
    expect(text.size() <= most, "a record is bounded", format.text);
    expect(text == balm::kernels::formatted(*accepted, words.data()), "a record is formatted alike twice");
    return 0;
}
