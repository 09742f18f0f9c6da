// Local memory and barriers: each work-group adds up its part of an array.

#include <balm/balm.hpp>
#include <iostream>
#include <numeric>
#include <vector>

int main() {
    using namespace balm::dsl;

    auto reduce = balm::kernel<1>("reduce(input, partial, sums)",
                                  [](In<long> input, Out<long> partial, Local<long> sums) {
                                      Index i = local_id(0);
                                      sums[i] = input[global_id(0)];
                                      Index stride = named("stride", local_size(0) / 2);
                                      WHILE (stride > 0) {
                                          barrier();
                                          IF (i < stride) {
                                              sums[i] += sums[i + stride];
                                          }
                                          stride /= 2;
                                      }
                                      IF (i == 0) {
                                          partial[group_id(0)] = sums[0];
                                      }
                                  });

    balm::context ctx;
    balm::device dev = ctx.device(0);
    const size_t n = 1 << 16, group = 256;
    std::vector<long> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1);
    auto input = dev.in_buffer<long>(n);
    auto partial = dev.out_buffer<long>(n / group);
    input.write(numbers);
    dev.execute(reduce(input, partial, balm::local<long>(group)), {n}, {group});
    const auto parts = partial.read();
    std::cout << std::accumulate(parts.begin(), parts.end(), 0L) << '\n';  // n (n + 1) / 2
}
