// Atomics: how often each digit occurs in a text. Each work-group counts in local memory, where atomics are
// fast, and adds its counts to the totals at the end.

#include <balm/balm.hpp>
#include <iostream>
#include <string>
#include <vector>

int main() {
    using namespace balm::dsl;

    auto histogram = balm::kernel<1>("histogram(text, counts, own)",
                                     [](In<unsigned char> text, InOut<int> counts, Local<int> own) {
                                         Index item = local_id(0);
                                         IF (item < 10) {
                                             own[item] = 0;
                                         }
                                         barrier();
                                         Int digit = text[global_id(0)] - '0';
                                         IF (digit >= 0 && digit < 10) {
                                             atomic_add(own[digit], 1);
                                         }
                                         barrier();
                                         IF (item < 10) {
                                             atomic_add(counts[item], own[item]);
                                         }
                                     });

    std::string text;
    for (int number = 1; text.size() < 1 << 16; ++number) text += std::to_string(number) + ' ';
    text.resize(1 << 16);

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto bytes = dev.in_buffer<unsigned char>(text.size());
    auto counts = dev.mixed_buffer<int>(10);
    bytes.write(std::vector<unsigned char>(text.begin(), text.end()));
    counts.write(std::vector<int>(10, 0));
    dev.execute(histogram(bytes, counts, balm::local<int>(10)), {text.size()}, {256});
    for (const int count : counts.read()) std::cout << count << ' ';
    std::cout << '\n';
}
