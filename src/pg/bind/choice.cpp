#include "pg/bind/choice.hpp"

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

void Choice::tried(const Model &model) {
  const ModelInfo &info = model.info;
  if (info.method == "vi" || info.method == "svi")
    tried(info.components, "elbo", info.objective);
  else
    tried(info.components, "bic",
          info.degenerate.empty() ? -model.bic() : std::numeric_limits<double>::quiet_NaN());
}

void Choice::tell() const {
  if (ks_.size() < 2 || best_ != *ks_.rbegin()) return;
  report(NOTICE, message("the best k by {} is {}, the largest tried", criterion_, best_), {},
         "Try larger ones as well.");
}

}  // namespace bayes::pg
