// The mutual information of a label and a number as an integral.
#pragma once

#include <optional>

#include "questions/row_distribution.hpp"

namespace bayes {

/// The mutual information of a category and a number, in nats, with an error of less than 1e-9:
///
///   integral of p(y) sum over u of p(u | y) log(p(u | y) / p(u)) dy,
///
/// by Gauss and Legendre in pieces that are halved until they agree with their halves; for whole
/// numbers the sum. The factor of p(y) is bounded, so that tails of probability 1e-12 may be left
/// out. nullopt if the integral has no such value in double precision, or would take too long.
/// Polls.
std::optional<double> information_of_label_and_number(RowDistribution &rows, int label, int number);

}  // namespace bayes
