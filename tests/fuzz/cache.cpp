// Bytes as damage to an entry of the disk cache, and as a file under an entry's name. What loads is what was
// stored, byte for byte; everything else is nothing.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "runtime/program/disk_cache.hpp"
#include "support/scratch_directory.hpp"

namespace {

using namespace balm::runtime;
using balm::fuzz::expect;
namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream input(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
}
void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// Applies what the input says: bytes changed, cut off, put in, doubled.
std::string damaged(std::string bytes, FuzzedDataProvider& input) {
    while (input.remaining_bytes() > 0 && bytes.size() < 65536) {
        const auto at = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size());
        switch (input.ConsumeIntegralInRange(0, 4)) {
            case 0:
                if (at < bytes.size()) bytes[at] = input.ConsumeIntegral<char>();
                break;
            case 1: bytes.resize(at); break;
            case 2: bytes.insert(at, input.ConsumeRandomLengthString(64)); break;
            case 3: bytes.append(bytes.substr(at)); break;
            default:
                if (at + 8 <= bytes.size()) {
                    const auto number = input.ConsumeIntegral<std::uint64_t>();
                    std::memcpy(bytes.data() + at, &number, sizeof number);
                }
        }
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const balm::test::scratch_directory folder;
    FuzzedDataProvider input(data, size);
    const std::string payload = input.ConsumeRandomLengthString(512);
    const std::string description = input.ConsumeRandomLengthString(400);
    program_key_fields fields;
    fields.source = payload;
    fields.kind = "fuzz";
    const auto key = make_key(fields);

    disk_cache cache(folder.path(), 1 << 20);
    cache.clear();
    cache.store(key, std::as_bytes(std::span(payload)), description);
    const std::vector<std::string> names = folder.names();
    expect(names.size() == 1, "an entry is one file");
    const fs::path file = folder / names[0];

    const auto is_payload = [&](const std::optional<std::vector<std::byte>>& loaded) {
        return loaded && std::ranges::equal(*loaded, std::as_bytes(std::span(payload)));
    };
    expect(is_payload(cache.load(key)), "what is stored loads");
    const std::string whole = read(file);
    const std::string broken =
        input.ConsumeBool() ? input.ConsumeRemainingBytesAsString() : damaged(whole, input);
    write(file, broken);
    const auto loaded = cache.load(key);
    expect(!loaded || is_payload(loaded), "what loads is what was stored");
    if (broken == whole) expect(is_payload(loaded), "an entry that was written again loads");
    expect(cache.list().size() == 1 && cache.size().entries == 1, "a damaged entry is listed");
    expect(cache.list()[0].description.size() <= 256, "descriptions are cut");
    // Compiled again, it is written over.
    cache.store(key, std::as_bytes(std::span(payload)), description);
    expect(is_payload(cache.load(key)), "a damaged entry is written over");
    expect(cache.clear() == 1 && folder.names().empty(), "clear() leaves nothing");
    return 0;
}
