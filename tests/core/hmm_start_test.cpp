// Whether restarts and chains of hidden Markov models find the states, from every seed.
#include "hmm_support.hpp"

using namespace hidden_markov;

namespace {

/// A chain, and what its states emit: a letter, or a normal with this mean and variance 1.
struct Case {
  std::string name;
  std::vector<Real> initial;
  Table a, b;
  bool symbols;
  int sequences, steps;
};

std::vector<Real> even(int k) { return std::vector<Real>(at(k), 1.0L / k); }

/// Each state is followed by the next one, the last by the first, with probability p.
Table cycle(int k, double p) {
  Table a(at(k), std::vector<Real>(at(k), (1 - p) / (k - 1)));
  for (int i = 0; i < k; ++i) a[at(i)][at((i + 1) % k)] = p;
  return a;
}

/// Each state stays with this probability, or goes on to the next one; the last one stays.
Table left_to_right(int k, double stay) {
  Table a(at(k), std::vector<Real>(at(k), 1e-4));
  for (int i = 0; i < k; ++i) {
    a[at(i)][at(i)] = i + 1 < k ? stay : 1;
    if (i + 1 < k) a[at(i)][at(i + 1)] = 1 - stay;
    Real sum = 0;
    for (const Real x : a[at(i)]) sum += x;
    for (Real &x : a[at(i)]) x /= sum;
  }
  return a;
}

/// States that emit these letters, and each other one with a share of `noise`.
Case of_letters(const std::string &emitted, Table a, double noise, int sequences, int steps) {
  const int k = int(emitted.size()),
            v = *std::max_element(emitted.begin(), emitted.end()) - 'a' + 1;
  Table b(at(k), std::vector<Real>(at(v), noise / (v - 1)));
  for (int i = 0; i < k; ++i) b[at(i)][at(emitted[at(i)] - 'a')] = 1 - noise;
  return {emitted, even(k), std::move(a), b, true, sequences, steps};
}
Case of_means(const std::string &name, const std::vector<Real> &means, Table a, int sequences,
              int steps) {
  Table b;
  for (const Real m : means) b.push_back({m});
  return {name, even(int(means.size())), std::move(a), b, false, sequences, steps};
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char *const visits : {"ab", "aab", "abac", "aabb", "abacad", "ababac"})
    out.push_back(of_letters(visits, cycle(int(std::strlen(visits)), 0.99), 0.01, 10, 40));
  out.push_back(of_letters("abac", cycle(4, 0.99), 0.01, 1, 100));
  out.push_back(of_letters("abacad", cycle(6, 0.97), 0.05, 10, 40));
  out.push_back(of_means("cycle of means", {0, 4, 0, 8, 0, 12}, cycle(6, 0.97), 10, 40));
  out.push_back(of_means("alternating means", {0, 2}, cycle(2, 0.95), 10, 40));
  Case path = of_letters("abac", left_to_right(4, 0.8), 0.05, 20, 20);
  path.initial = {0.997, 0.001, 0.001, 0.001};
  out.push_back(path);
  path = of_letters("ab", left_to_right(2, 0.9), 0.2, 20, 20);
  path.initial = {0.999, 0.001};
  out.push_back(path);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_start)

// The objective is compared with that of a run from the true parameters. Of samplers it is the
// likelihood averaged over draws, which differs between chains by a nat or two.
BOOST_AUTO_TEST_CASE(states_of_a_fixed_order_are_found_from_every_seed) {
  for (const Case &each : cases())
    for (int seed = 1; seed <= 3; ++seed) {
      std::vector<Sequence> x;
      for (int s = 0; s < each.sequences; ++s)
        x.push_back(drawn(each.initial, each.a, each.steps, std::uint64_t(seed * 100 + s),
                          [&](int z, bayes::Random &random, Sequence &out) {
                            if (each.symbols)
                              letters_of(each.b)(z, random, out);
                            else
                              out.push_back(double(each.b[at(z)][0]) + random.normal());
                          }));
      const auto fit = [&](Options options) {
        Data data(1, x);
        if (each.symbols) data.named(first_letters(int(each.b[0].size())));
        return fitted(data, int(each.a.size()), std::move(options));
      };
      for (const char *const method : {"em", "map", "vi", "gibbs"}) {
        Options options = {{"method", method}, {"seed", seed}};
        const bool sampled = method[0] == 'g';
        if (sampled) options.insert(options.end(), {{"draws", 300}, {"warmup", 200}});
        const Fitted found = fit(options),
                     known = fit(with(
                         options, {{"init", init(each.initial, each.a, each.b, each.symbols)}}));
        const auto reached = [sampled](const HiddenMarkovModel &model) {
          return sampled ? model.info.log_likelihood : model.info.objective;
        };
        BOOST_TEST(reached(*found) > reached(*known) - (sampled ? 5 : 1.5),
                   method << " of " << each.name << ", seed " << seed << ": " << reached(*found)
                          << " < " << reached(*known));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
