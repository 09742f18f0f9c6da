#include "algorithm/sort/digit_look_back.hpp"

#include <vector>

#include "balm/dsl/control.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using dsl::atomic_load;
using dsl::atomic_store;
using dsl::Bool;
using dsl::break_;
using dsl::cast;
using dsl::Index;
using dsl::Int;
using dsl::max;
using dsl::named;
using dsl::Ptr;
using dsl::Var;

/// Words of preceding tiles that are requested together. One after the other, each would expose the latency
/// of the cache that the groups share.
constexpr int words_at_once = 4;

/// The tags of words in a pass: what a word says besides its count.
template <class Word>
struct word_tags {
    word_tags(int count_bits, const Int& pass)
        : of_count((Word{1} << count_bits) - 1),
          none(tag(pass << 1, count_bits)),
          own(tag((pass << 1) + 1, count_bits)),
          sums(tag((pass << 1) + 2, count_bits)) {}
    static Var<Word> tag(const Int& number, int count_bits) { return cast<Word>(number & 3) << count_bits; }

    Word of_count;
    Var<Word> none, own, sums;
};

template <class Word>
void announce(const Ptr<Word>& words, int count_bits, const Index& word, const Int& count, const Int& pass) {
    atomic_store(words[word], word_tags<Word>(count_bits, pass).own | cast<Word>(count));
}

template <class Word>
Index ahead(const Ptr<Word>& words, int count_bits, const Index& word, const Int& stride, const Int& count,
            const Int& pass) {
    const word_tags<Word> tags(count_bits, pass);
    Var<Word> sum = named("ahead", Var<Word>(0));
    Index before = named("before", word - stride);
    WHILE (before >= 0) {
        std::vector<Var<Word>> seen;
        seen.reserve(words_at_once);
        for (int k = 0; k < words_at_once; ++k)
            seen.push_back(named("seen", atomic_load(words[max(before - k * stride, 0)])));
        Bool goes_on = named("goes_on", Bool(true));
        for (int k = 0; k < words_at_once; ++k) {
            Var<Word>& each = seen[static_cast<std::size_t>(k)];
            IF (goes_on) {
                WHILE ((each & ~tags.of_count) == tags.none) each = atomic_load(words[before - k * stride]);
                sum += each & tags.of_count;
                goes_on = (each & ~tags.of_count) != tags.sums && before >= (k + 1) * stride;
            }
        }
        IF (!goes_on) {
            break_();
        }
        before -= words_at_once * stride;
    }
    atomic_store(words[word], tags.sums | (sum + cast<Word>(count)));
    return cast<std::int64_t>(sum);
}

bool is_narrow(const trace::node& words) { return trace::pointee(words.type).element == scalar::u32; }

}  // namespace

void announce_count(const trace::node& words, const Index& word, const Int& count, const Int& pass) {
    if (is_narrow(words))
        announce(Ptr<std::uint32_t>(words), narrow_count_bits, word, count, pass);
    else
        announce(Ptr<std::uint64_t>(words), wide_count_bits, word, count, pass);
}
Index elements_ahead(const trace::node& words, const Index& word, const Int& stride, const Int& count,
                     const Int& pass) {
    return is_narrow(words) ? ahead(Ptr<std::uint32_t>(words), narrow_count_bits, word, stride, count, pass)
                            : ahead(Ptr<std::uint64_t>(words), wide_count_bits, word, stride, count, pass);
}

}  // namespace balm::array
