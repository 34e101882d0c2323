// The record by which a model's fit can be resumed: the request, and the course so far.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/checkpoint.hpp"
#include "document/members.hpp"
#include "document/model.hpp"

namespace bayes {

struct SavedFit {
  /// The number of components or the rank that was asked for.
  int k = 0;
  /// as they were given, without `resume`
  Document options;
  /// The model that the fit started from, or null; its posterior was the prior if `update`.
  std::shared_ptr<const Model> start;
  bool update = false;
  /// a hash of the data (data/hashed_rows.hpp)
  std::uint64_t data = 0;
  Checkpoint course;
};

Document write_saved_fit(const SavedFit &fit);
/// `family`: of the model. Checks the form, not whether the numbers fit the model: a fit that
/// resumes checks them. Throws Error(invalid_text).
std::shared_ptr<const SavedFit> read_saved_fit(const MemberReader &reader,
                                               const std::string &family,
                                               ModelReader (*find_reader)(std::string_view));

}  // namespace bayes
