#include "pg/bind/choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/message.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

Cell Choice::model(Model &model) {
  if (!models_) return {};
  return Cell::model(kept_.emplace_back(bytes_of(model)));
}

bool Criterion::allows(const Criterion &other) const {
  if (held_out.empty()) return other.score >= score - allowed;
  // Scores of two fits rise and fall together, as some rows are hard for both.
  const ScoreEstimate ahead = sum_scores(held_out, other.held_out).log_density();
  return ahead.value <= 0 || ahead.value <= allowed * ahead.standard_error;
}

void Choice::add_row(int k, Criterion criterion, std::vector<Cell> cells) {
  for (Cell &cell : cells) cell.keep(kept_);
  rows_.push_back({k, std::move(criterion), std::move(cells)});
}

void Choice::add(int k, Criterion criterion, std::initializer_list<Cell> cells) {
  add_row(k, std::move(criterion), cells);
}

void Choice::add(Model &model, std::initializer_list<Cell> after_k,
                 std::initializer_list<Cell> after_bic) {
  warn_of(model);
  const ModelInfo &info = model.info;
  const bool variational = is_variational(info.method), degenerate = !info.degenerate.empty();
  const double bic = model.bic();
  std::vector<Cell> cells = {info.components};
  cells.insert(cells.end(), after_k);
  cells.insert(cells.end(), {Cell::text(method_name(info.method)), info.objective,
                             info.log_likelihood, model.free_parameters(), Cell::or_null(bic)});
  cells.insert(cells.end(), after_bic);
  cells.insert(cells.end(), {variational ? Cell(info.objective) : Cell(), info.converged,
                             degenerate, this->model(model)});
  const Criterion criterion = variational
                                  ? Criterion{"elbo", info.objective, 1, "1 nat"}
                                  : Criterion{"bic", degenerate ? std::nan("") : -bic, 2, "2"};
  add_row(info.components, criterion, std::move(cells));
}

void Choice::finish() {
  if (rows_.empty() && !failures_.empty()) throw Error(failures_[0].second);
  for (const auto &[k, error] : failures_)
    report(NOTICE, message("k = {} is left out: {}", k, error.what()), error.detail(),
           error.hint());
  const Row *top = nullptr, *best = nullptr;
  for (const Row &row : rows_)
    if (row.criterion.score == row.criterion.score &&
        (!top || row.criterion.score > top->criterion.score))
      top = &row;
  best = top;
  if (top) {
    for (const Row &row : rows_)
      if (row.criterion.score == row.criterion.score &&
          (row.k < best->k || (row.k == best->k && row.criterion.score > best->criterion.score)) &&
          top->criterion.allows(row.criterion))
        best = &row;
  }
  for (Row &row : rows_) {
    std::string reason;
    if (&row == best)
      reason = best == top ? message("best {}", top->criterion.name)
                           : message("smallest k whose {} is within {} of the best, that of k = {}",
                                     top->criterion.name, top->criterion.allowance, top->k);
    std::vector<Cell> cells = row.cells;
    cells.push_back(top ? Cell(&row == best) : Cell());
    cells.push_back(reason.empty() ? Cell() : Cell::text(reason));
    take_(cells);
  }
  const auto by_k = [](const Row &a, const Row &b) { return a.k < b.k; };
  if (best && best->k == std::max_element(rows_.begin(), rows_.end(), by_k)->k &&
      best->k > std::min_element(rows_.begin(), rows_.end(), by_k)->k)
    report_once(NOTICE,
                message("the best k by {} is {}, the largest tried", best->criterion.name, best->k),
                {}, "Try larger ones as well.");
}

}  // namespace bayes::pg
