#include "document/course.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/message.hpp"

namespace bayes {
namespace {

constexpr std::size_t max_runs = 10000, max_steps = 10'000'000;  // of a trace
constexpr std::int64_t max_quantities = 64, max_chains = 10000, max_draws = 10'000'000;
constexpr std::size_t max_quantity_name = 63;  // bytes, as of PostgreSQL's own names

/// The names begin with a letter, so that none reads as a number ("NaN", ...).
std::vector<std::string> read_quantities(const MemberReader &reader) {
  const auto *const list = reader.value("quantities").as<Document::List>();
  if (list == nullptr || list->empty() || static_cast<std::int64_t>(list->size()) > max_quantities)
    reader.reject("quantities", message("is not an array of 1 to {} names", max_quantities));
  std::vector<std::string> names;
  for (const Document &element : *list) {
    const auto *const name = element.as<std::string>();
    if (name == nullptr || name->empty() || name->size() > max_quantity_name ||
        name->front() < 'a' || name->front() > 'z')
      reader.reject("quantities",
                    message("contains {}, but names must be strings of at most {} bytes that begin "
                            "with a letter from a to z",
                            describe(element), max_quantity_name));
    if (std::find(names.begin(), names.end(), *name) != names.end())
      reader.reject("quantities", message("contains {} twice", describe(element)));
    names.push_back(*name);
  }
  return names;
}

}  // namespace

Document write_trace(const std::vector<std::vector<double>> &trace) {
  Document::List runs;
  for (const std::vector<double> &run : trace)
    runs.emplace_back(Tensor{{static_cast<std::int64_t>(run.size())}, run});
  return runs;
}

std::vector<std::vector<double>> read_trace(const MemberReader &reader) {
  const char *const constraint = "is not an array of arrays of finite numbers or NaN";
  const Document &value = reader.value("trace");
  std::vector<std::vector<double>> trace;
  const auto add = [&](const Tensor &run) {
    if (run.shape.size() != 1 || run.values.size() > max_steps || trace.size() == max_runs)
      reader.reject("trace", constraint);
    for (const double x : run.values)
      if (std::isinf(x)) reader.reject("trace", constraint);
    trace.push_back(run.values);
  };
  if (const auto *list = value.as<Document::List>()) {
    for (const Document &element : *list) {
      const std::optional<Tensor> run = to_tensor(element, true);
      if (!run) reader.reject("trace", constraint);
      add(*run);
    }
  } else if (const auto *tensor = value.as<Tensor>();
             tensor != nullptr && tensor->shape.size() == 2) {
    // Runs of equal length are read from JSON as one tensor.
    const std::int64_t length = tensor->shape[1];
    for (std::int64_t run = 0; run < tensor->shape[0]; ++run) {
      const auto begin = tensor->values.begin() + run * length;
      add({{length}, {begin, begin + length}});
    }
  } else if (tensor == nullptr || tensor->shape.size() != 1 || !tensor->values.empty()) {
    reader.reject("trace", constraint);
  }
  return trace;
}

Document write_draws(const Draws &draws) {
  Document::List names(draws.quantities.begin(), draws.quantities.end());
  Tensor values{{draws.chains, draws.draws, static_cast<std::int64_t>(draws.quantities.size())},
                draws.values};
  return Document::object()
      .set("quantities", std::move(names))
      .set("chains", draws.chains)
      .set("draws", draws.draws)
      .set("values", std::move(values));
}

Draws read_draws(const Document &document) {
  if (document.find("draws") == nullptr) return {};
  const MemberReader reader = MemberReader(document).object("draws");
  Draws draws;
  draws.quantities = read_quantities(reader);
  draws.chains = static_cast<int>(reader.integer("chains", 1, max_chains));
  draws.draws = static_cast<int>(reader.integer("draws", 1, max_draws));
  const std::vector<std::int64_t> shape = {draws.chains, draws.draws,
                                           static_cast<std::int64_t>(draws.quantities.size())};
  std::optional<Tensor> values = to_tensor(reader.value("values"), true);
  if (!values || values->shape != shape)
    reader.reject("values",
                  message("is {}, but must be {}",
                          values ? describe_shape(values->shape) : describe(reader.value("values")),
                          describe_shape(shape)));
  for (const double x : values->values)
    if (std::isinf(x))
      reader.reject("values",
                    message("contains {}, but its numbers must be finite or NaN", describe(x)));
  draws.values = std::move(values->values);
  return draws;
}

}  // namespace bayes
