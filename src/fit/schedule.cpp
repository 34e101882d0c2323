#include "fit/schedule.hpp"

#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace bayes {

LoopCourse::LoopCourse(Control &control, std::function<void(StateNumbers &)> exchange)
    : control_(control),
      exchange_(std::move(exchange)),
      record_(control.checkpoint ? control.checkpoint->next_loop() : nullptr) {
  if (!record_ || record_->trace.empty()) return;
  StateNumbers numbers = StateNumbers::reading(record_->state);
  exchange_(numbers);
  numbers.end();
  repeats_ = true;
}

std::span<const double> LoopCourse::repeated() const {
  if (!repeats_) return {};
  return std::span(record_->trace).first(record_->trace.size() - 1);
}

void LoopCourse::prepare() {
  if (!records()) return;
  state_.clear();
  StateNumbers numbers = StateNumbers::writing(state_);
  exchange_(numbers);
}

void LoopCourse::check(double objective) {
  if (!repeats_) return;
  repeats_ = false;
  const double recorded = record_->trace.back();
  if (std::memcmp(&recorded, &objective, sizeof objective) == 0) return;
  char detail[200];
  std::snprintf(detail, sizeof detail,
                "The objective was %.17g where that fit stopped, but is %.17g with these rows.",
                recorded, objective);
  refuse_other_data(detail);
}

void LoopCourse::save(const std::vector<double> &trace, bool limited) {
  if (!records()) return;
  if (limited) control_.checkpoint->limit_run();
  record_->trace = trace;
  record_->state = state_;
}

void refuse_other_data(const std::string &detail) {
  throw Error(Errc::invalid_argument, "the rows are not those of the fit that is to be resumed",
              detail,
              "Without option resume, a fit of other rows may start from the model, or take it as "
              "its prior. Rows that do not fit into maintenance_work_mem must come in the same "
              "order.");
}

}  // namespace bayes
