// Bytes as a heat world, text or binary. What is read, written and read again is the same world, in both
// formats; what is refused is refused by a short sentence that says where.

#include "world.hpp"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "fuzz/fuzz.hpp"

namespace {

using balm::fuzz::expect;

heat::world parse(const std::string& bytes) {
    std::istringstream input(bytes);
    return heat::read_world(input);
}
std::string print(const heat::world& world, heat::format format) {
    std::ostringstream output;
    heat::write_world(output, world, format);
    return output.str();
}
bool is_same(const heat::world& a, const heat::world& b, float tolerance) {
    if (a.width != b.width || a.height != b.height || a.alpha != b.alpha || a.properties != b.properties)
        return false;
    for (std::size_t k = 0; k < a.state.size(); ++k)
        if (!(std::abs(a.state[k] - b.state[k]) <= tolerance)) return false;
    return a.state.size() == b.state.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    heat::world world;
    try {
        world = parse(bytes);
    } catch (const heat::format_error& refused) {
        const std::string_view words = refused.what();
        expect(refused.offset() <= size, "a fault lies within the input", words);
        expect(words.size() < 400 && words.find('\n') == words.npos, "a message is one short line", words);
        return 0;
    }
    expect(world.size() * 2 <= size, "every cell takes bytes of the input");
    heat::check(world);
    const std::string binary = print(world, heat::format::binary), text = print(world, heat::format::text);
    expect(is_same(parse(binary), world, 0), "binary keeps every bit", binary);
    expect(print(parse(binary), heat::format::binary) == binary, "binary written again is the same");
    const heat::world rounded = parse(text);
    expect(is_same(rounded, world, 6e-8f), "text keeps eight decimals", text);
    expect(print(rounded, heat::format::text) == text, "text written again is the same", text);
    return 0;
}
