// A litmus test for look-back, on which scans, selections and sorts rely on some GPUs: groups of one kernel
// announce values in 64-bit words, and groups with higher numbers wait for them. The test checks that an
// announcement is seen whole and belongs to this launch, that groups start in the order of their numbers, and
// that started groups make progress while others wait. Waits are bounded: if nothing arrives, the check fails
// and the device is free again.

#include <fmt/format.h>

#include "balm/balm.hpp"
#include "check.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::tool {

namespace {

constexpr std::size_t group_items = 256, lanes = 32;
/// A waiting work-item checks after this many loads whether another one has given up.
constexpr int burst = 1 << 10;

using namespace balm::dsl;

/// A value as a word: the top bit marks it as announced, and both halves hold the value, to detect torn
/// words.
ULong announced(const UInt& value) {
    const ULong wide = cast<std::uint64_t>(value);
    return wide << 32 | wide | (std::uint64_t{1} << 63);
}

/// The kinds of faults, and their names in a report.
constexpr int missing = 0, torn = 1, stale = 2;
constexpr std::size_t fault_count = 3;
constexpr const char* fault_words[fault_count] = {"announcements that did not arrive",
                                                  "announcements that were seen in part",
                                                  "announcements of another launch"};

/// A group's link of the chain: the sum of the group numbers up to this one, times the seed.
UInt link_of(const UInt& group, const UInt& seed) { return (group * (group + 1u) / 2u) * seed; }

/// `words` holds an announcement per group, then a link per group. All are initially 0, as are `faults`. The
/// groups of the launch have numbers from `first` on.
auto trace_look_back() {
    return kernel<1>("selftest_look_back", [](UInt seed, Long groups, Long first, Int loads,
                                              InOut<std::uint64_t> words, InOut<std::int64_t> faults) {
        const auto wait_for = [&](const Long& place, const UInt& expected) {
            ULong word = atomic_load(words[place]);
            Int tries = loads;
            WHILE ((word >> 63) == 0u && tries > 0) {
                word = atomic_load(words[place]);
                tries -= 1;
                IF (tries % burst == 0 && atomic_load(faults[missing]) != 0) {
                    tries = 0;
                }
            }
            const UInt low = cast<unsigned>(word), high = cast<unsigned>(word >> 32);
            IF ((word >> 63) == 0u) {
                atomic_add(faults[missing], 1);
            }
            ELIF ((high | 0x80000000u) != (low | 0x80000000u)) {
                atomic_add(faults[torn], 1);
            }
            ELIF (low != expected) {
                atomic_add(faults[stale], 1);
            }
        };
        const Long item = cast<std::int64_t>(local_id(0));
        const Long group = first + cast<std::int64_t>(group_id(0));
        const UInt number = cast<unsigned>(group);
        IF (item == 0) {
            atomic_store(words[group], announced(number * seed));
        }
        IF (item < static_cast<std::int64_t>(lanes) && item < group) {
            wait_for(group - 1 - item, (number - 1u - cast<unsigned>(item)) * seed);
        }
        IF (item == 0) {
            IF (group > 0) {
                wait_for(groups + group - 1, link_of(number - 1u, seed));
            }
            atomic_store(words[groups + group], announced(link_of(number, seed)));
        }
    });
}

}  // namespace

bool takes_look_back(const device& on) {
    runtime::device_state& state = *on.state();
    return kernels::features_of(state).has_sub_groups && !kernels::facts_for(state).on_cpu;
}

look_back_faults run_look_back(const device& on, vector<std::uint64_t>& words, unsigned seed, int loads,
                               std::size_t absent) {
    static const auto& traced = *new auto(trace_look_back());
    std::size_t items = group_items;
    while (items > on.info().max_work_group_size) items /= 2;
    const std::size_t groups = words.size() / 2;
    vector<std::int64_t> faults(context({on}), fault_count, 0);
    on.execute(traced(seed, static_cast<std::int64_t>(groups), static_cast<std::int64_t>(absent), loads,
                      words, faults),
               {(groups - absent) * items}, {items})
        .wait();
    const host_array<std::int64_t> found = faults.to_host();
    return {found[missing], found[torn], found[stale]};
}

check check_look_back(const device& on, const settings& how, const look_back_rounds& rounds) {
    check outcome;
    outcome.kind = "path";
    outcome.name = "look-back";
    std::mt19937_64 random(how.seed);
    try {
        vector<std::uint64_t> words(context({on}), 2 * rounds.groups);
        for (std::size_t k = 0; k < rounds.launches && outcome.passed(); ++k) {
            words = std::uint64_t{0};
            const look_back_faults found =
                run_look_back(on, words, static_cast<unsigned>(random() | 1), rounds.loads);
            outcome.values += 2 * rounds.groups;
            const std::int64_t counts[fault_count] = {found.missing, found.torn, found.stale};
            for (std::size_t f = 0; f < fault_count; ++f)
                if (counts[f] != 0)
                    note_wrong(outcome, how,
                               {{fmt::format("{} in launch {}", fault_words[f], k)},
                                fmt::format("{}", counts[f]),
                                "0",
                                0});
        }
    } catch (const std::exception& fault) {
        outcome.fault = fault.what();
    }
    return outcome;
}

}  // namespace balm::tool
