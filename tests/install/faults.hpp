#pragma once
// Kernels with faults at namespace scope, which keep them for their first use, in the program and in
// libraries.

#include <balm/balm.hpp>

namespace {

using balm::dsl::Out;

const auto faulty_kernel = balm::kernel<1>("faulty(x)", [](Out<int> x) { x[balm::dsl::global_id(7)] = 1; });
const balm::text_source absent_file = balm::text_source::from_file("absent.cl");
const balm::module<void()> faulty_module([](balm::module_builder& m) {
    m.add(faulty_kernel);
    return m.entry([](balm::program&) {});
});

/// How many of the functions throw an error of Balm's.
template <class... Function>
int faults_of(Function&&... each) {
    const auto throws = [](auto& function) {
        try {
            function();
        } catch (const balm::error&) {
            return 1;
        }
        return 0;
    };
    return (throws(each) + ... + 0);
}

/// 4 where all are kept, and one that is defined now is thrown at once.
inline int kept_faults(const balm::device& on) {
    balm::vector<int> out(balm::context({on}), 1, 0);
    return faults_of([&] { on.execute(faulty_kernel(out), {1}); }, [&] { faulty_module.on(on); },
                     [&] { balm::source_kernel<1, void(Out<int>)>("f", absent_file); },
                     [] { balm::text_source::from_file("absent.cl"); });
}

}  // namespace
