// Option prior of models with normal components, as it is given before rows are read.
#pragma once

#include <optional>

#include "document/option_table.hpp"

namespace bayes {

/// Keys m, c, a, B of the conjugate normal-Wishart prior, as far as they were given.
struct NormalPriorKeys {
  std::optional<Tensor> m, B;
  std::optional<double> c, a;
  /// B was given as "precision": the prior expectation of the precision, not of the covariance,
  /// equals that of the rows.
  bool precision = false;

  /// Declares the keys. Without `scaled_mean` key c does not apply.
  void lines(OptionTable &t, bool scaled_mean = true) {
    t.tensor({"m", "mean of the prior of the means", "", "the means of the columns"}, m, {-1});
    t.number({"c", "rows for which the prior of a mean counts", "", "see its page"}, c,
             above(0, 1e9), scaled_mean);
    t.number({"a", "degrees of freedom of the prior of the covariances", "", "see its page"}, a,
             above(0, 1e9));
    const Document *const given = t.given("B");
    const auto *const text = given ? given->as<std::string>() : nullptr;
    if (text && *text == "precision") {
      std::string name;
      t.choice("B", name, {"precision"});
      precision = true;
    } else {
      t.number_or_tensor({"B", "scale matrix of the prior of the covariances",
                          "a number, d, d x d numbers, or \"precision\"", "by the data"},
                         B);
    }
  }
};

}  // namespace bayes
