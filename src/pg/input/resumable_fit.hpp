// Fits that are resumed (option resume), or can be (option resumable).
#pragma once

#include <functional>
#include <memory>

#include "base/control.hpp"
#include "document/saved_fit.hpp"
#include "pg/input/fit_request.hpp"

namespace bayes::pg {

/// If the options say so, replaces the request, a start model and options, by that of the fit
/// which the start model is to continue. Throws Error(invalid_argument) if the model keeps nothing
/// to resume from, or if options are given that the fit must not change.
void apply_resume(FitRequest &request);

/// The record of one fit that can be resumed; nothing for others.
class ResumableFit {
 public:
  /// `hash`: identifies the data. Throws Error(invalid_argument) if the data are not those of the
  /// fit that is resumed.
  ResumableFit(const FitRequest &request, const std::function<std::uint64_t()> &hash,
               Control &control);
  /// Stores the record in the model.
  void save(Model &model);

 private:
  std::shared_ptr<SavedFit> saved_;
};

/// Removes what the model keeps to be resumed from.
void compact(Model &model);

}  // namespace bayes::pg
