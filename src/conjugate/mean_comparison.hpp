// Which of two independent Student variables is larger, and by how much.
#pragma once

#include "families/marginal.hpp"

namespace bayes {

/// P(A > B); both of kind student, with any degrees of freedom.
double student_greater(const Marginal &a, const Marginal &b);
/// E[max(B - A, 0)]; infinite unless both have more than one degree of freedom.
double student_loss(const Marginal &a, const Marginal &b);

}  // namespace bayes
