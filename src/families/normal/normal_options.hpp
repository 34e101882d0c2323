// Option prior of models with normal components, as it is given before rows are read.
#pragma once

#include <optional>

#include "document/option_table.hpp"

namespace bayes {

/// Keys m, c, a, B of the conjugate normal-Wishart prior, as far as they were given.
struct NormalPriorKeys {
  std::optional<Tensor> m, B;
  std::optional<double> c, a;

  /// Declares the keys. Without `scaled_mean` key c does not apply.
  void lines(OptionTable &t, bool scaled_mean = true) {
    t.tensor("m", m, {-1});
    t.number("c", c, above(0, 1e9), scaled_mean);
    t.number("a", a, above(0, 1e9));
    t.number_or_tensor("B", B);
  }
};

}  // namespace bayes
