// What the functions have in common that fit several models to choose from.
#pragma once

#include <deque>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "document/model.hpp"
#include "pg/bind/binding.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// What fits of a selection are compared by.
struct Criterion {
  /// of the column
  const char *name;
  /// of a fit; larger is better, NaN if it cannot be compared
  double score;
  /// Less than this below the best score is as good; then the smaller k is chosen.
  double allowed;
  /// what that is, for column reason
  const char *allowance;
};

/// The fits of one selection. Their rows are given to `take` in the end, each with two cells more:
/// whether it is the best, and of the best the reason.
class Choice {
 public:
  Choice(const FitRequest &request, const TakeCells &take) : models_(request.models), take_(take) {}

  /// Column model of a fit: NULL unless option models asks for it.
  Cell model(Model &model);
  /// Adds a fit.
  void add(int k, const Criterion &criterion, std::initializer_list<Cell> cells);
  /// Adds a fit that is compared by its bound of the evidence if it is variational, or else by bic,
  /// and says what there is to warn of. The cells of a row are k, `after_k`, method, objective,
  /// log_likelihood, parameters, bic, `after_bic`, elbo, converged, degenerate, model.
  void add(Model &model, RowColumns columns, std::initializer_list<Cell> after_k = {},
           std::initializer_list<Cell> after_bic = {});

  /// Adds the fits by `fits` and gives their rows to `take`, also those before one that failed.
  /// NOTICE if the best is the largest of several k.
  template <class F> void of(F fits) {
    try {
      fits();
    } catch (const Error &) {
      finish();
      throw;
    }
    finish();
  }

 private:
  struct Row {
    int k;
    Criterion criterion;
    std::vector<Cell> cells;
  };
  void add_row(int k, const Criterion &criterion, std::vector<Cell> cells);
  void finish();

  const bool models_;
  const TakeCells &take_;
  std::deque<std::string> kept_;  // of cells
  std::vector<Row> rows_;
};

}  // namespace bayes::pg
