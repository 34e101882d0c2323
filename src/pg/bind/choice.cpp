#include "pg/bind/choice.hpp"

#include <utility>
#include <vector>

#include "base/message.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

Cell Choice::model(Model &model) {
  if (!models_) return {};
  bytes_ = bytes_of(model);
  return Cell::model(bytes_);
}

void Choice::tried(int k, const char *criterion, double score) {
  criterion_ = criterion;
  ks_.insert(k);
  if (!(score > score_)) return;
  best_ = k;
  score_ = score;
}

void Choice::take(Model &model, RowColumns columns, const TakeCells &take,
                  std::initializer_list<Cell> after_k, std::initializer_list<Cell> after_bic) {
  warn_of(model);
  model.info.columns = std::move(columns);
  const ModelInfo &info = model.info;
  const bool variational = info.method == "vi" || info.method == "svi",
             degenerate = !info.degenerate.empty();
  const double bic = model.bic();
  std::vector<Cell> cells = {info.components};
  cells.insert(cells.end(), after_k);
  cells.insert(cells.end(), {Cell::text(info.method), info.objective, info.log_likelihood,
                             model.free_parameters(), Cell::or_null(bic)});
  cells.insert(cells.end(), after_bic);
  cells.insert(cells.end(), {variational ? Cell(info.objective) : Cell(), info.converged,
                             degenerate, this->model(model)});
  take(cells);
  if (variational)
    tried(info.components, "elbo", info.objective);
  else
    tried(info.components, "bic", degenerate ? std::numeric_limits<double>::quiet_NaN() : -bic);
}

void Choice::tell() const {
  if (ks_.size() < 2 || best_ != *ks_.rbegin()) return;
  report_once(NOTICE, message("the best k by {} is {}, the largest tried", criterion_, best_), {},
              "Try larger ones as well.");
}

}  // namespace bayes::pg
