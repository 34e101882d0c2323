// The course of a fit as members of a model's document: the trace of its objective, and the draws
// of quantities. Reading checks everything: throws Error(invalid_text) that names the invalid
// member.
#pragma once

#include <vector>

#include "document/members.hpp"
#include "document/model.hpp"

namespace bayes {

/// Of every run the objective at the start and after every iteration.
Document write_trace(const std::vector<std::vector<double>> &trace);
std::vector<std::vector<double>> read_trace(const MemberReader &reader);

Document write_draws(const Draws &draws);
/// of a model's document; none if it has no member "draws"
Draws read_draws(const Document &document);

}  // namespace bayes
