// How often the default intervals of fits by vi hold what they claim, and how many changes
// bayes_compare sees between tables of one process: rows are drawn from known mixtures whose
// components overlap more or less, and fitted by default. docs/gmm.md and others quote its table:
//
//   make benchmarks && build/benchmarks/intervals 200
//
// The first argument is the number of fits of a design (fewer of tables above 2000 rows), the
// second the beginning of the designs' names. Printed are the share of fits whose components the
// rows tell apart (fit/linear_response.hpp), so that they have intervals at all; how many
// parameters their intervals of 90 % hold; and how many parameters of two such fits, of every
// second table and the one before, differ by more than 1.96 and 3 standard deviations.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/random.hpp"
#include "data/sequences.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "models/comparison.hpp"

using namespace bayes;

namespace {

/// Component, and its element and parameter, or the state that a transition leads to.
using Name = std::pair<int, std::string>;

struct Design {
  std::string name;
  int components, rows;
  std::map<Name, double> truth;
  /// draws a table and fits it
  std::function<std::unique_ptr<Model>(Random &, Control &)> fit;
};

struct Found {
  double value, lower, upper;
};

std::string name_of(const Parameter &p) {
  std::string out = message("{} {}", p.element, p.name);
  if (p.category == p.category) out += message(" {}", int(p.category));
  return out;
}

constexpr const char *transition = "-1 transition ";

/// The name, in a model, of a parameter of the truth: component i of the truth is order[i] there.
Name name_in(const std::vector<int> &order, const Name &name) {
  Name out{order[std::size_t(name.first)], name.second};
  if (name.second.rfind(transition, 0) == 0) {
    const std::string to = name.second.substr(std::string(transition).size());
    out.second = message("{}{}", transition, order[std::size_t(std::stoi(to) - 1)] + 1);
  }
  return out;
}

/// The order of components in which the values are closest to the truth.
std::vector<int> order_of(const std::map<Name, Found> &found, const Design &design) {
  std::vector<int> order(std::size_t(design.components), 0), best;
  std::iota(order.begin(), order.end(), 0);
  double least = HUGE_VAL;
  do {
    double away = 0;
    for (const auto &[name, value] : design.truth)
      away += std::pow(found.at(name_in(order, name)).value - value, 2);
    if (away < least) {
      least = away;
      best = order;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// How many of the true parameters the model's intervals hold.
int count_held(const Model &model, const Design &design) {
  std::map<Name, Found> found;
  model.describe_parameters(0.9, [&](const Parameter &p) {
    found[{p.component, name_of(p)}] = {p.value, p.lower, p.upper};
  });
  const std::vector<int> order = order_of(found, design);
  int held = 0;
  for (const auto &[name, value] : design.truth) {
    const Found &each = found.at(name_in(order, name));
    held += each.lower <= value && value <= each.upper;
  }
  return held;
}

void measure(const Design &design, int fits) {
  Control control;
  control.threads = 1;
  double shown = 0, held = 0, pairs = 0, compared = 0, changed = 0, changed_much = 0;
  std::unique_ptr<Model> before;
  for (int fit = 0; fit < fits; ++fit) {
    Random random(77, std::uint64_t(fit));
    std::unique_ptr<Model> model = design.fit(random, control);
    // A Dirichlet process may find another number of clusters.
    if (model->info.components != design.components || !model->info.told_apart) model = nullptr;
    if (model) {
      ++shown;
      held += count_held(*model, design) / double(design.truth.size());
    }
    if (fit % 2 == 1 && before && model) {
      ++pairs;
      compare_components(*before, *model, [&](const ComparedParameter &p) {
        if (std::isnan(p.deviation)) return;
        ++compared;
        changed += std::fabs(p.difference()) > 1.96 * p.deviation;
        changed_much += std::fabs(p.difference()) > 3 * p.deviation;
      });
    }
    before = std::move(model);
  }
  std::printf("%-44s %5d %6.0f %%", design.name.c_str(), fits, 100 * shown / fits);
  if (shown > 0) std::printf(" %6.1f %%", 100 * held / shown);
  if (pairs > 0)
    std::printf(" %6.0f %6.1f %% %6.1f %%", pairs, 100 * changed / compared,
                100 * changed_much / compared);
  std::printf("\n");
  std::fflush(stdout);
}

MemoryRows rows_of(int n, int d, const std::function<void(double *)> &draw) {
  MemoryRows out({d, false});
  std::vector<double> x(std::size_t(d), 0.0);
  for (int i = 0; i < n; ++i) {
    draw(x.data());
    out.append(x.data(), 1);
  }
  return out;
}

/// k normals of variance 1 in d dimensions, on a line, each so far from the one before; the first
/// has this weight, the others share the rest.
Design normals(const std::string &family, const char *shape, double apart, int n,
               double weight = 0.5, int d = 2, int k = 2) {
  Design out{
      message("{} {} d {} k {} weight {}, {} sd, n {}", family, shape, d, k, weight, apart, n),
      k,
      n,
      {},
      {}};
  std::vector<double> weights(std::size_t(k), (1 - weight) / (k - 1));
  weights[0] = weight;
  for (int c = 0; c < k; ++c) {
    out.truth[{c, "-1 weight"}] = weights[std::size_t(c)];
    for (int j = 0; j < d; ++j) {
      out.truth[{c, message("{} mean", j)}] = j == 0 ? c * apart : 0;
      out.truth[{c, message("{} sd", j)}] = 1;
    }
  }
  out.fit = [=](Random &random, Control &control) -> std::unique_ptr<Model> {
    MemoryRows rows = rows_of(n, d, [&](double *x) {
      const int c = random.categorical(weights);
      for (int j = 0; j < d; ++j) x[j] = random.normal() + (j == 0 ? c * apart : 0);
    });
    Document::Object options{{"covariance", shape}};
    if (family == "gmm") return gmm_fit(rows, k, Document(options), nullptr, false, control);
    options.emplace_back("method", "vi");
    return std::move(dpmm_fit(rows, Document(options), control).model);
  };
  return out;
}

/// Two classes of d columns of zeros and ones, with probability p in one and 1 - p in the other.
Design classes(double p, int d, int n) {
  Design out{message("bmm bernoulli d {}, p {}, n {}", d, p, n), 2, n, {}, {}};
  for (int c = 0; c < 2; ++c) {
    out.truth[{c, "-1 weight"}] = 0.5;
    for (int j = 0; j < d; ++j) out.truth[{c, message("{} probability", j)}] = c ? 1 - p : p;
  }
  out.fit = [=](Random &random, Control &control) {
    MemoryRows rows = rows_of(n, d, [&](double *x) {
      const double own = random.uniform() < 0.5 ? p : 1 - p;
      for (int j = 0; j < d; ++j) x[j] = random.uniform() < own;
    });
    return bmm_fit(rows, 2, Document(Document::Object{}), nullptr, false, control);
  };
  return out;
}

/// A count, a waiting time and a number; those of the second class are larger by a factor.
Design columns(double factor, int n) {
  Design out{message("bmm poisson exponential normal, x {}, n {}", factor, n), 2, n, {}, {}};
  for (int c = 0; c < 2; ++c) {
    const double f = c ? factor : 1;
    out.truth[{c, "-1 weight"}] = 0.5;
    out.truth[{c, "0 rate"}] = 4 * f;
    out.truth[{c, "1 rate"}] = 1 / f;
    out.truth[{c, "2 mean"}] = f - 1;
    out.truth[{c, "2 sd"}] = 1;
  }
  out.fit = [=](Random &random, Control &control) {
    MemoryRows rows = rows_of(n, 3, [&](double *x) {
      const double f = random.uniform() < 0.5 ? factor : 1;
      double time = random.exponential();
      for (x[0] = 0; time < 4 * f; time += random.exponential()) ++x[0];
      x[1] = f * random.exponential();
      x[2] = random.normal() + f - 1;
    });
    const Document::List names = {"poisson", "exponential", "normal"};
    return bmm_fit(rows, 2, Document(Document::Object{{"likelihood", names}}), nullptr, false,
                   control);
  };
  return out;
}

/// A sequence of two states, each of which stays with this probability; their normals are so far
/// apart.
Design chain(double apart, int n, double stay = 0.9) {
  Design out{message("hmm stay {}, {} sd, n {}", stay, apart, n), 2, n, {}, {}};
  for (int c = 0; c < 2; ++c) {
    out.truth[{c, "0 mean"}] = c * apart;
    out.truth[{c, "0 sd"}] = 1;
    for (int to = 0; to < 2; ++to)
      out.truth[{c, message("{}{}", transition, to + 1)}] = to == c ? stay : 1 - stay;
  }
  out.fit = [=](Random &random, Control &control) {
    MemoryRows rows({1, true});
    Sequences all{rows, 1, false};
    SequenceWriter writer(all, rows.shape(),
                          [&](const double *x, double weight) { rows.append(x, weight); });
    writer.begin(n, 1);
    int state = int(random.below(2));
    for (int t = 0; t < n; ++t) {
      if (t > 0 && random.uniform() >= stay) state = 1 - state;
      const double x = random.normal() + state * apart;
      writer.step(&x);
    }
    return hmm_fit(all, {}, 2, Document(Document::Object{}), SequenceElements::numbers, false,
                   nullptr, false, control);
  };
  return out;
}

std::vector<Design> designs() {
  std::vector<Design> out;
  for (const int n : {50, 100, 300, 1000, 3000})
    for (const double apart : {1.0, 2.0, 2.5, 3.0, 3.5, 5.0})
      out.push_back(normals("gmm", "full", apart, n));
  for (const double apart : {1.5, 2.5}) out.push_back(normals("gmm", "full", apart, 20000));
  for (const int n : {300, 1000})
    for (const double apart : {1.5, 2.5, 3.5}) {
      for (const char *shape : {"diagonal", "spherical", "tied"})
        out.push_back(normals("gmm", shape, apart, n));
      out.push_back(normals("gmm", "full", apart, n, 0.8));
      out.push_back(normals("gmm", "full", apart, n, 0.5, 5));
      out.push_back(normals("gmm", "full", apart, n, 0.4, 2, 3));
      out.push_back(normals("dpmm", "full", apart, n));
      out.push_back(normals("dpmm", "diagonal", apart, n));
    }
  for (const int n : {50, 300, 1000, 3000})
    for (const double p : {0.6, 0.7, 0.8})
      for (const int d : {4, 8}) out.push_back(classes(p, d, n));
  for (const int n : {100, 300, 1000})
    for (const double factor : {1.5, 2.0, 3.0}) out.push_back(columns(factor, n));
  for (const int n : {50, 200, 1000, 3000})
    for (const double apart : {1.0, 1.2, 1.5, 2.0, 3.0}) out.push_back(chain(apart, n));
  for (const int n : {200, 1000})
    for (const double apart : {1.5, 2.5, 4.0}) out.push_back(chain(apart, n, 0.6));
  return out;
}

}  // namespace

int main(int count, char **arguments) {
  const int fits = count > 1 ? std::atoi(arguments[1]) : 200;
  const std::string beginning = count > 2 ? arguments[2] : "";
  std::printf("%-44s %5s %8s %8s %6s %8s %8s\n", "design", "fits", "shown", "held", "pairs",
              "> 1.96", "> 3");
  for (const Design &each : designs())
    if (each.name.rfind(beginning, 0) == 0)
      measure(each, std::max(2, int(fits * std::min(1.0, 2000.0 / each.rows))));
}
