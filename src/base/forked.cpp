// The flag of forked processes, and where it is set.

#include "base/forked.hpp"

#include "balm/error.hpp"
#include "base/system.hpp"

namespace balm::runtime {

void detail::throw_forked() {
    throw usage_error(
        "This process was forked after Balm was used: drivers and threads do not survive fork(). Fork before "
        "the first use of a device, or call exec in the child.");
}

void note_use() noexcept {
    static const bool is_noted = [] {
        keep_loaded(&detail::is_forked);  // threads run in this library from now on, and drivers call it
        return call_in_forked_children([] { detail::is_forked = true; });
    }();
    static_cast<void>(is_noted);
}

}  // namespace balm::runtime
