// The sum of many numbers: each work-group sums its part in local memory, the host sums the parts.

#include <balm/balm.hpp>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

int main() {
    using namespace balm::dsl;

    // The numbers of a group are combined in `sums`: each iteration adds the second half to the first half.
    auto reduce = balm::kernel<1>("reduce(input, partial, sums)",
                                  [](In<long> input, Out<long> partial, Local<long> sums) {
                                      Index i = local_id(0);
                                      sums[i] = input[global_id(0)];
                                      Index stride = named("stride", local_size(0) / 2);
                                      WHILE (stride > 0) {
                                          barrier();  // all work-items of the group have added
                                          IF (i < stride) {
                                              sums[i] += sums[i + stride];
                                          }
                                          stride /= 2;
                                      }
                                      IF (i == 0) {
                                          partial[group_id(0)] = sums[0];
                                      }
                                  });

    const size_t n = 1 << 20, group = 256;  // a power of two, so that halves stay whole
    std::mt19937_64 random(2026);
    std::vector<long> numbers(n);
    for (long& number : numbers) number = static_cast<long>(random() % 2001) - 1000;

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto input = dev.in_buffer<long>(n);
    auto partial = dev.out_buffer<long>(n / group);
    balm::event written = input.write(numbers);
    balm::event done = dev.execute(reduce(input, partial, balm::local<long>(group)), {n}, {group}, written);
    const auto parts = partial.read(done);
    const long sum = std::accumulate(parts.begin(), parts.end(), 0L);
    const long expected = std::accumulate(numbers.begin(), numbers.end(), 0L);

    std::cout << parts.size() << " parts, sum " << sum << ": " << (sum == expected ? "right" : "wrong")
              << '\n';
    std::cerr << "written in " << written.profile().duration() << " ns, reduced in "
              << done.profile().duration() << " ns\n";
    return sum == expected ? 0 : 1;
}
