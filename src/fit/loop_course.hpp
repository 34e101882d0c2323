// A loop of a fit that can be resumed: what it has done before, and what is recorded of it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"

namespace bayes {

/// Where the control has no checkpoint, every function does nothing.
class LoopCourse {
 public:
  /// `exchange` writes or reads the state before a step. If the loop has run before, its state
  /// before the last step is read here.
  LoopCourse(Control &control, std::function<void(StateNumbers &)> exchange);

  /// The objectives of the steps that are not to be repeated: all that were recorded but the last.
  std::span<const double> repeated() const;
  /// Is there a record, so that prepare() has to be called before every step that may be the last?
  bool records() const { return record_ && !control_.checkpoint->frozen(); }
  /// Takes down the state before a step.
  void prepare();
  /// The objective at that step. Throws Error(invalid_argument) if the step was made before, for
  /// the fit that is resumed, and had another objective: then the data are not those of that fit.
  void check(double objective);
  /// Records that the loop ended with the step prepared for. `trace`: the objectives; `limited`:
  /// further iterations were not allowed.
  void save(const std::vector<double> &trace, bool limited);
  /// A step was made that the resumed fit had not made.
  void go_further() {
    if (control_.checkpoint) control_.checkpoint->go_further();
  }

 private:
  Control &control_;
  const std::function<void(StateNumbers &)> exchange_;
  LoopRecord *const record_;
  /// the state before the step at hand
  std::vector<double> state_;
  /// the step that is repeated is still to come
  bool repeats_ = false;
};

/// Throws Error(invalid_argument): the data are not those of the fit that is to be resumed.
[[noreturn]] BAYES_API void refuse_other_data(const std::string &detail);

}  // namespace bayes
