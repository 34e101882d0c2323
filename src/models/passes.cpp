#include "models/passes.hpp"

#include <string_view>

#include "data/reference_rows.hpp"
#include "data/remote_rows.hpp"
#include "data/sketch.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_scorer.hpp"

namespace bayes {
namespace {

using Rows = RowSource &;
using Request = const Document &;

Document local_step_pass(Rows rows, Request request, std::size_t, Control &control) {
  const Document &scorer = PassReader(request).member("scorer");
  const std::string &family = PassReader(scorer).text("family");
  if (family == "normal")
    return answer_local_step(rows, request, NormalScorer::from_message(scorer), control);
  if (family == "product")
    return answer_local_step(rows, request, ProductScorer::from_message(scorer), control);
  PassReader::refuse();
}

struct Pass {
  std::string_view name;
  Document (*answer)(Rows rows, Request request, std::size_t part, Control &control);
};

/// The kinds of passes, one line each.
constexpr Pass passes[] = {
    {"local step", local_step_pass},
    {"sketch", [](Rows rows, Request request, std::size_t,
                  Control &control) { return answer_sketch(rows, request, control); }},
    {"first values", [](Rows rows, Request, std::size_t,
                        Control &control) { return answer_first_values(rows, control); }},
    {"observed sums",
     [](Rows rows, Request request, std::size_t, Control &control) {
       return answer_observed_sums(rows, request, control);
     }},
    {"categories", [](Rows rows, Request request, std::size_t,
                      Control &control) { return answer_categories(rows, request, control); }},
    {"product survey",
     [](Rows rows, Request request, std::size_t, Control &control) {
       return answer_product_survey(rows, request, control);
     }},
    {"constant", [](Rows rows, Request request, std::size_t,
                    Control &control) { return answer_constant(rows, request, control); }},
    {"rows", answer_rows},
    {"total weight", [](Rows rows, Request, std::size_t,
                        Control &control) { return answer_total_weight(rows, control); }},
    {"weighted rows", answer_weighted_rows},
};

}  // namespace

Document answer_pass(RowSource &rows, const Document &request, std::size_t part, Control &control) {
  const PollScope scope(control);
  const std::string &kind = PassReader(request).text("pass");
  for (const Pass &pass : passes)
    if (pass.name == kind) return pass.answer(rows, request, part, control);
  PassReader::refuse();
}

}  // namespace bayes
