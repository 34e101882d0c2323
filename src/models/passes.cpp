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

using Part = PartOfRows &;
using Request = const Document &;

void require_checked(Part part, const Document &scorer, Control &control) {
  Document columns = Document::object();
  for (const char *const key : {"columns", "categories", "category_values"})
    if (const Document *const member = scorer.find(key)) columns.set(key, *member);
  std::string bytes;
  columns.to_bytes(bytes);
  if (bytes == part.checked) return;
  require_allowed_values(part.rows, columns, control);
  part.checked = std::move(bytes);
}

Document local_step_pass(Part part, Request request, Control &control) {
  const Document &scorer = PassReader(request).member("scorer");
  const std::string &family = PassReader(scorer).text("family");
  if (family == "normal")
    return answer_local_step(part.rows, request, NormalScorer::from_message(scorer), control);
  if (family != "product") PassReader::refuse();
  require_checked(part, scorer, control);
  return answer_local_step(part.rows, request, ProductScorer::from_message(scorer), control);
}

struct Pass {
  std::string_view name;
  Document (*answer)(Part part, Request request, Control &control);
};

/// The kinds of passes, one line each.
constexpr Pass passes[] = {
    {"local step", local_step_pass},
    {"sketch", [](Part part, Request request,
                  Control &control) { return answer_sketch(part.rows, request, control); }},
    {"first values",
     [](Part part, Request, Control &control) { return answer_first_values(part.rows, control); }},
    {"observed sums",
     [](Part part, Request request, Control &control) {
       return answer_observed_sums(part.rows, request, control);
     }},
    {"categories", [](Part part, Request request,
                      Control &control) { return answer_categories(part.rows, request, control); }},
    {"product survey",
     [](Part part, Request request, Control &control) {
       return answer_product_survey(part.rows, request, control);
     }},
    {"constant", [](Part part, Request request,
                    Control &control) { return answer_constant(part.rows, request, control); }},
    {"rows",
     [](Part part, Request request, Control &control) {
       return answer_rows(part.rows, request, part.number, control);
     }},
    {"total weight",
     [](Part part, Request, Control &control) { return answer_total_weight(part.rows, control); }},
    {"weighted rows",
     [](Part part, Request request, Control &control) {
       return answer_weighted_rows(part.rows, request, part.number, control);
     }},
};

}  // namespace

Document answer_pass(PartOfRows &part, const Document &request, Control &control) {
  const PollScope scope(control);
  const std::string &kind = PassReader(request).text("pass");
  for (const Pass &pass : passes)
    if (pass.name == kind) return pass.answer(part, request, control);
  PassReader::refuse();
}

}  // namespace bayes
