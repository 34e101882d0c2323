// Hidden Markov models: steps a second of an iteration of EM, of the most probable path, of
// likelihood and smoothing, and how that scales.
//
// With the argument "short" it measures fewer and smaller tables. To compare two builds on a
// machine that does other things too, run the short forms in turn and take the best of each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "markov/hmm.hpp"

using namespace bayes;

namespace {

double seconds_of(const std::function<void()> &work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The middle one of three runs.
double median_seconds(const std::function<void()> &work) {
  double runs[] = {seconds_of(work), seconds_of(work), seconds_of(work)};
  std::sort(std::begin(runs), std::end(runs));
  return runs[1];
}

/// Sequences from states that last some steps: symbols, half of them at random, or d normal
/// numbers.
class Data {
 public:
  Data(int count, int steps, int states, int values, int dimension)
      : rows_({dimension, true}),
        sequences{rows_, dimension} {
    for (int v = 0; v < values; ++v) symbols.push_back("s" + std::to_string(v));
    SequenceWriter writer(sequences, rows_.shape(),
                          [this](const double *x, double weight) { rows_.append(x, weight); });
    Random random(1);
    std::vector<double> x(static_cast<std::size_t>(dimension));
    for (int s = 0; s < count; ++s) {
      writer.begin(steps, 1);
      int state = 0;
      for (int t = 0; t < steps; ++t) {
        if (random.uniform() < 0.2) state = int(random.below(std::uint64_t(states)));
        if (values)
          x[0] = random.uniform() < 0.5 ? double((state * 5 + int(random.below(5))) % values)
                                        : double(random.below(std::uint64_t(values)));
        else
          for (std::size_t j = 0; j < x.size(); ++j)
            x[j] = (state * (3 + int(j)) % states) + random.normal();
        writer.step(x.data());
      }
    }
  }

 private:
  MemoryRows rows_;

 public:
  Sequences sequences;
  std::vector<std::string> symbols;
};

std::unique_ptr<HiddenMarkovModel> fit(Data &data, int k, int iterations, const char *method,
                                       int threads) {
  Control control;
  control.threads = threads;
  const SequenceElements elements =
      data.symbols.empty() ? SequenceElements::numbers : SequenceElements::symbols;
  const auto options = Document::object()
                           .set("method", method)
                           .set("max_iter", iterations)
                           .set("tol", 0)
                           .set("restarts", 1);
  return hmm_fit(data.sequences, data.symbols, k, options, elements, data.sequences.dimension > 1,
                 nullptr, false, control);
}

/// Million steps a second in an iteration: the difference of a long and a short run.
double iteration(Data &data, int k, const char *method, int threads) {
  const double less = median_seconds([&] { fit(data, k, 5, method, threads); }),
               more = median_seconds([&] { fit(data, k, 25, method, threads); });
  return double(data.sequences.steps) * 20 / (more - less) / 1e6;
}

}  // namespace

int main(int count, char **arguments) {
  const bool brief = count > 1 && std::string_view(arguments[1]) == "short";
  std::printf("EM, million steps a second an iteration: sequences x steps, states, observations\n");
  std::printf("%8s %8s %4s %10s %9s %9s %9s\n", "", "", "", "", "1 thread", "2 threads", "vi");
  const auto line = [](int sequences, int steps, int k, int values, int d) {
    Data data(sequences, steps, k, values, d);
    const std::string observations =
        values ? std::to_string(values) + " symbols" : "normal " + std::to_string(d);
    std::printf("%8d %8d %4d %10s %9.1f %9.1f %9.1f\n", sequences, steps, k, observations.c_str(),
                iteration(data, k, "em", 1), iteration(data, k, "em", 2),
                iteration(data, k, "vi", 1));
  };
  if (brief) {
    line(200, 1000, 10, 50, 1);
    line(200, 1000, 3, 0, 1);
  } else {
    line(1000, 1000, 10, 50, 1);
    line(10000, 100, 10, 50, 1);
    line(100000, 10, 10, 50, 1);
    line(1, 1000000, 10, 50, 1);
    line(1000, 1000, 2, 50, 1);
    line(1000, 1000, 5, 50, 1);
    line(1000, 1000, 20, 50, 1);
    line(100, 1000, 40, 50, 1);
    line(100, 1000, 80, 50, 1);
    line(10, 1000, 10, 50, 1);
    line(1000, 1000, 3, 0, 1);
    line(1000, 1000, 10, 0, 4);
  }

  std::printf("\nmillion steps a second, 1,000,000 steps, 10 states, 50 symbols, one thread\n");
  Data data(1, 1000000, 10, 50, 1), many(1000, 1000, 10, 50, 1);
  const auto model = fit(many, 10, 5, "em", 1);
  Control control;
  const double n = 1;
  std::printf("most probable path %.1f\n",
              n / median_seconds([&] { model->decode(data.sequences, control); }));
  std::printf("log-likelihood     %.1f\n",
              n / median_seconds([&] { model->log_likelihood(data.sequences, control); }));
  std::printf(
      "smoothing          %.1f\n",
      n / median_seconds([&] { model->smooth(data.sequences, control, [](auto, auto, auto) {}); }));
  return 0;
}
