// What the functions have in common that fit several models to choose from.
#pragma once

#include <initializer_list>
#include <limits>
#include <set>
#include <string>

#include "document/model.hpp"
#include "pg/bind/binding.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// The fits of one selection.
class Choice {
 public:
  explicit Choice(const FitRequest &request) : models_(request.models) {}

  /// Column model of a fit: NULL unless option models asks for it. Valid until the next call.
  Cell model(Model &model);
  /// Notes a fit. `criterion`: what fits are compared by; `score`: its value, larger is better, NaN
  /// if it cannot be compared.
  void tried(int k, const char *criterion, double score);
  /// A fit that is compared by its bound of the evidence if it is variational, or else by bic: says
  /// what there is to warn of, gives its row to `take`, and notes it. The cells of a row are k,
  /// `after_k`, method, objective, log_likelihood, parameters, bic, `after_bic`, elbo, converged,
  /// degenerate, model.
  void take(Model &model, RowColumns columns, const TakeCells &take,
            std::initializer_list<Cell> after_k = {}, std::initializer_list<Cell> after_bic = {});
  /// After the last fit: NOTICE if the best one is the largest of several.
  void tell() const;

 private:
  const bool models_;
  std::string bytes_;
  const char *criterion_ = "";
  std::set<int> ks_;
  int best_ = 0;
  double score_ = -std::numeric_limits<double>::infinity();
};

}  // namespace bayes::pg
