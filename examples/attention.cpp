// Multi-head attention: for each head and each query, the keys that are most similar to the query select
// among the values. Two batches of matrix products, with a softmax in between, compared with loops on the
// host.
//
// Source: A. Vaswani et al., "Attention Is All You Need", Advances in Neural Information Processing Systems
// 30, 2017, 3.2.

#include <algorithm>
#include <balm/balm.hpp>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

namespace {

constexpr std::size_t heads = 4, tokens = 96, width = 32;  // width: per head
constexpr std::size_t model = heads * width;

// Element (token, head * width + d), the layout that projections of the tokens have.
double at(const std::vector<float>& all, std::size_t token, std::size_t head, std::size_t d) {
    return static_cast<double>(all[token * model + head * width + d]);
}

std::vector<double> on_host(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v) {
    std::vector<double> result(tokens * model);
    for (std::size_t head = 0; head < heads; ++head)
        for (std::size_t t = 0; t < tokens; ++t) {
            std::vector<double> weights(tokens);
            double total = 0;
            for (std::size_t s = 0; s < tokens; ++s) {
                double score = 0;
                for (std::size_t d = 0; d < width; ++d) score += at(q, t, head, d) * at(k, s, head, d);
                weights[s] = std::exp(score / std::sqrt(double{width}));
                total += weights[s];
            }
            for (std::size_t s = 0; s < tokens; ++s)
                for (std::size_t d = 0; d < width; ++d)
                    result[t * model + head * width + d] += weights[s] / total * at(v, s, head, d);
        }
    return result;
}

}  // namespace

int main() {
    const balm::context ctx;
    const balm::normal<float> number;
    balm::vector<float> q(ctx, tokens * model), k(ctx, tokens * model), v(ctx, tokens * model);
    balm::tie(q, k, v) = std::tuple(number(balm::element_index(), 1), number(balm::element_index(), 2),
                                    number(balm::element_index(), 3));

    // The head is an axis in the middle: einsum reads it in place.
    const balm::shape by_head(tokens, heads, width);
    const auto Q = balm::view(q, by_head), K = balm::view(k, by_head), V = balm::view(v, by_head);

    // Scores of each head (h), for each query (t) and key (s), divided by the square root of the width.
    const balm::shape pairs(heads, tokens, tokens), rows(heads, tokens, 1);
    balm::vector<float> scores(ctx, pairs.count());
    scores = balm::einsum("thd,shd->hts", Q, K) / std::sqrt(static_cast<float>(width));

    // Softmax, less the largest score of each row, so that no exponential overflows.
    auto S = balm::view(scores, pairs);
    balm::vector<float> largest(ctx, heads * tokens), total(ctx, heads * tokens);
    largest = balm::max(S, balm::along(2));
    S = exp(S - balm::view(largest, rows).broadcast(pairs));
    total = balm::sum(S, balm::along(2));
    S /= balm::view(total, rows).broadcast(pairs);

    balm::vector<float> result(ctx, tokens * model);
    result = balm::einsum("hts,shd->thd", S, V);

    const auto host = [](const balm::vector<float>& x) {
        const auto got = x.to_host();
        return std::vector<float>(got.begin(), got.end());
    };
    const std::vector<double> expected = on_host(host(q), host(k), host(v));
    const std::vector<float> got = host(result);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
    std::printf("%zu heads of %zu tokens: %s\n", heads, tokens,
                worst < 1e-5 ? "as on the host" : "another result than on the host");
    return worst < 1e-5 ? 0 : 1;
}
