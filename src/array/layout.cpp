// Numbers the leaves, and compares expressions.

#include "array/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "ir/ir.hpp"
#include "runtime/memory/memory_pool.hpp"

namespace balm::array {

namespace {

/// Whether the step is a vector that a function takes in constant memory.
bool is_read_in_constant_memory(const step& s) {
    return s.what == step::kind::memory && s.detail == static_cast<std::uint32_t>(memory_use::read_constant);
}
[[noreturn]] void refuse_in_constant_memory(const vector_state& v, const char* why) {
    throw usage_error(fmt::format(
        "a function takes a vector of {} elements ({} bytes) in constant memory, of which {} has {} "
        "bytes: {}",
        v.size(), v.bytes(), v.device().words(), v.device().info().constant_memory, why));
}

/// The vectors that are read only at positions in constant memory, as long as there is room for them in
/// OpenCL's. CUDA C++ has no constant memory for kernel arguments; there, reads go through the read-only
/// cache.
std::bitset<64> vectors_in_constant_memory(const tape& p, const layout& leaves) {
    std::bitset<64> wanted, needed, elsewhere, found;
    int depth = 0;
    for (const step& s : p.steps) {
        if (s.what == step::kind::at) ++depth;
        if (s.what == step::kind::end) --depth;
        if (s.what != step::kind::vector && s.what != step::kind::memory) continue;
        const std::size_t number = leaves.number_of_leaf[s.leaf];
        const bool is_needed = is_read_in_constant_memory(s);
        if (number >= found.size()) {
            if (is_needed)
                refuse_in_constant_memory(*leaves.vectors[number], "the expression has too many vectors");
            continue;
        }
        const bool is_wanted = s.what == step::kind::vector && s.detail != 0 && depth > 0;
        (is_wanted || is_needed ? wanted : elsewhere).set(number);
        if (is_needed) needed.set(number);
    }
    std::uint64_t bytes = 0, count = 0;
    const auto take = [&](std::size_t k, bool is_needed) {
        const vector_state& v = *leaves.vectors[k];
        const device_info& device = v.device().info();
        const std::size_t own = runtime::memory_pool::block_bytes(v.bytes());
        // Without a limit on their number, as on CUDA, arguments in constant memory are merely read-only, and
        // may be anywhere.
        const bool is_limited = device.max_constant_arguments > 0;
        if (!is_limited && !is_needed) return;
        const char* const why =
            elsewhere[k]                             ? "the expression also uses it elsewhere; copy it"
            : v.is_spread() || !v.is_whole()         ? "it is only a part of its memory; copy it"
            : !is_limited                            ? nullptr
            : bytes + own > device.constant_memory   ? "it does not fit; let the function take global memory"
            : count >= device.max_constant_arguments ? "the device takes no more arguments in constant memory"
                                                     : nullptr;
        if (why && is_needed) refuse_in_constant_memory(v, why);
        if (why) return;
        bytes += own;
        ++count;
        found.set(k);
    };
    const std::size_t most = std::min(leaves.vectors.size(), found.size());
    for (std::size_t k = 0; k < most; ++k)
        if (needed[k]) take(k, true);
    for (std::size_t k = 0; k < most; ++k)
        if (wanted[k] && !needed[k]) take(k, false);
    return found;
}

}  // namespace

layout::layout(const tape& p, placement of) : places(std::move(of)) {
    std::uint16_t* number = number_of_leaf.extend(p.vectors.size());
    for (const auto& v : p.vectors) {
        const auto known = std::find(vectors.begin(), vectors.end(), v.get());
        *number++ = static_cast<std::uint16_t>(known - vectors.begin());
        if (known == vectors.end()) vectors.push_back(v.get());
    }
    number_of_scalar = repeated_scalars(p, number_of_leaf);
    if (p.wants_constant_memory) [[unlikely]]
        in_constant_memory = vectors_in_constant_memory(p, *this);
}

void layout::add_to(runtime::table_hash& hash) const {
    for (const std::uint16_t number : number_of_leaf) hash.add(number);
    for (const std::uint16_t number : number_of_scalar) hash.add(number);
    places.add_to(hash);
    hash.add(in_constant_memory.to_ullong());
}

bool layout::repeats_like(const layout& other) const {
    return number_of_leaf == other.number_of_leaf && number_of_scalar == other.number_of_scalar;
}

bool layout::is_like(const layout& other) const {
    return repeats_like(other) && in_constant_memory == other.in_constant_memory &&
           places.is_like(other.places);
}

bool layout::has_whole_vectors() const {
    return std::all_of(vectors.begin(), vectors.end(), [](const vector_state* v) { return v->is_whole(); });
}

std::uint32_t layout::number_of(const vector_state& v) const {
    return static_cast<std::uint32_t>(std::find(vectors.begin(), vectors.end(), &v) - vectors.begin());
}

written_list written_by(target_list targets) {
    written_list vectors;
    for (const target& t : targets)
        if (std::find(vectors.begin(), vectors.end(), t.vector) == vectors.end()) vectors.push_back(t.vector);
    return vectors;
}

std::vector<std::size_t> ends_of_values(const tape& p) {
    std::vector<std::size_t> begins, indices;  // of values on the stack, and of indices around the step
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        if (s.what == step::kind::at) {
            indices.push_back(begins.back());
            begins.pop_back();
        } else if (s.what == step::kind::end) {
            begins.back() = indices.back();
            indices.pop_back();
        } else {
            const std::size_t begin = s.arity > 0 ? begins[begins.size() - s.arity] : k;
            begins.resize(begins.size() - s.arity);
            begins.push_back(begin);
        }
    }
    begins.erase(begins.begin());
    begins.push_back(p.steps.size());
    return begins;
}

trace::type type_of_last(const tape& p) {
    const step* last = p.steps.end() - 1;
    while (last->what == step::kind::end) --last;  // those have no type
    return last->type;
}

bool is_cheaper_in_fours(const tape& p) {
    return std::any_of(p.functions.begin(), p.functions.end(),
                       [](const auto& f) { return f->of_four != nullptr; });
}

namespace {

/// Which of the kept values each step names.
std::vector<std::size_t> kept_values(const tape& p) {
    std::vector<std::uint64_t> numbers;
    std::vector<std::size_t> named;
    for (const step& s : p.steps) {
        if (s.what == step::kind::keep) numbers.push_back(s.bits);
        if (s.what == step::kind::kept)
            named.push_back(static_cast<std::size_t>(std::find(numbers.rbegin(), numbers.rend(), s.bits) -
                                                     numbers.rbegin()));
    }
    return named;
}

}  // namespace

bool same_structure(const tape& a, const tape& b) {
    if (a.steps.size() != b.steps.size() || a.functions.size() != b.functions.size()) return false;
    for (std::size_t k = 0; k < a.functions.size(); ++k)
        if (a.functions[k]->identity != b.functions[k]->identity) return false;
    bool has_kept = false;
    for (std::size_t k = 0; k < a.steps.size(); ++k) {
        const step &x = a.steps[k], &y = b.steps[k];
        if (((x.word(0) ^ y.word(0)) | (x.word(1) ^ y.word(1))) != 0) return false;
        if (has_structural_bits(x) && x.bits != y.bits) return false;
        has_kept |= x.what == step::kind::kept;
    }
    return !has_kept || kept_values(a) == kept_values(b);
}

const tape& empty_tape() {
    static const tape& made = *new tape;
    return made;
}
const layout& no_leaves() {
    static const layout& made = *new layout(empty_tape());
    return made;
}

}  // namespace balm::array
