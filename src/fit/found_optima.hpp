// When restarts have found the best optimum so often that more of them are not worth their time.
#pragma once

#include <vector>

namespace bayes {

/// The optima that the restarts of a fit have come to, and how often each. It decides from
/// objectives alone, so that the same rows get the same number of restarts on every machine, in
/// every plan of a statement.
class FoundOptima {
 public:
  /// Runs whose objectives differ by at most `resolution` have come to the same optimum.
  explicit FoundOptima(double resolution) : resolution_(resolution) {}

  /// Records the objective at which a run ended.
  void add(double objective);

  /// Whether at least eight runs have ended, at least five of them at the best optimum, and at
  /// most a tenth of them at optima that were found once. That share estimates the probability
  /// that another run comes to an optimum that none has come to yet (Good 1953, The population
  /// frequencies of species and the estimation of population parameters, Biometrika 40).
  bool enough() const;

 private:
  struct Optimum {
    double objective;
    int runs;
  };
  double resolution_;
  int runs_ = 0;
  std::vector<Optimum> optima_;
};

}  // namespace bayes
