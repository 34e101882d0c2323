// The prior of a Dirichlet process' concentration.
#pragma once

namespace bayes {

/// Concentration ~ Gamma(shape, rate), E = shape / rate.
struct GammaPrior {
  double shape = 1, rate = 1;
};

}  // namespace bayes
