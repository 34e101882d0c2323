#include "document/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "document/row_columns.hpp"
#include "document/saved_fit.hpp"
#include "document/sealed.hpp"

namespace bayes {
namespace {

// The course of a fit as members of a model's document: the trace of its objective, and the draws
// of quantities. Reading checks everything: throws Error(invalid_text) that names the invalid
// member.

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

/// For every run, the objective at the start and after every iteration.
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

/// Draws of a model's document; none if it has no member "draws".
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

}  // namespace

#ifndef BAYES_VERSION
// a build without CMake, which takes the version from the control file
#define BAYES_VERSION "unknown"
#endif
const char *const library_version = BAYES_VERSION;

namespace {

/// member `stopped` of a fit that max_seconds ended
constexpr const char *time_member = "max_seconds";
constexpr std::int64_t max_count = std::numeric_limits<std::int64_t>::max();
/// The trailer is the duration of the fit in seconds, a double. Early versions of pg_bayes stored
/// it in the document.
constexpr Seal model_seal = {"PGBM", model_format, "bayes_model", sizeof(double)};

void append(std::string &bytes, double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i));
}

double double_of(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i)
    bits |= std::uint64_t(static_cast<unsigned char>(bytes[std::size_t(i)])) << (8 * i);
  return std::bit_cast<double>(bits);
}

Document without_seconds(const Document &document) {
  Document::Object out;
  if (const auto *const members = document.as<Document::Object>())
    for (const Document::Member &member : *members)
      if (member.first != "seconds") out.push_back(member);
  return out;
}

/// Reads component numbers, from 1 and in ascending order, and returns them from 0.
std::vector<int> read_degenerate(const MemberReader &reader, int components) {
  std::vector<int> out;
  if (!reader.has("degenerate")) return out;
  for (const double number : reader.tensor("degenerate", {-1}).values) {
    if (!(number >= 1 && number <= components) || number != std::floor(number) ||
        (!out.empty() && number <= out.back() + 1))
      reader.reject("degenerate",
                    message("must be ascending whole numbers from 1 to {}", components));
    out.push_back(static_cast<int>(number) - 1);
  }
  if (out.empty()) reader.reject("degenerate", "must not be empty");
  return out;
}

/// A member that the model does not recognise is an error: otherwise it would be lost silently.
void check_members(const Document &document, const Document &recognised, const std::string &path) {
  const auto *const object = document.as<Document::Object>();
  const auto *const known = recognised.as<Document::Object>();
  if (object == nullptr || known == nullptr) return;
  // The number of options is unlimited, so a linear search for each of them could take minutes.
  std::vector<const Document::Member *> sorted;
  for (const Document::Member &member : *known) sorted.push_back(&member);
  const auto name = [](const Document::Member *member) -> const std::string & {
    return member->first;
  };
  std::ranges::sort(sorted, {}, name);
  for (const auto &[key, value] : *object) {
    poll_here();
    const auto found = std::ranges::lower_bound(sorted, key, {}, name);
    if (found == sorted.end() || name(*found) != key)
      throw Error(Errc::invalid_text,
                  message("invalid bayes_model: unknown member {}", describe(path + key)));
    check_members(value, (*found)->second, path + key + ".");
  }
}

}  // namespace

ModelInfo read_model_info(const Document &document, std::span<const Method> methods,
                          int max_dimension, int max_components, int min_dimension) {
  const MemberReader reader(document);
  ModelInfo info;
  info.version = reader.object("pg_bayes").text("version");
  info.family = reader.text("family");
  const std::string by = reader.text("method");
  const std::optional<Method> method = method_of(by);
  if (!method || !is_one_of(*method, methods))
    reader.reject("method", message("is {}, which is not a method of {}", describe(Document(by)),
                                    info.family));
  info.method = *method;
  info.rows = reader.integer("rows", 1, max_count);
  info.skipped = reader.integer("skipped", 0, max_count);
  if (reader.has("incomplete")) info.incomplete = reader.integer("incomplete", 0, info.rows);
  info.dimension = static_cast<int>(reader.integer("dimension", min_dimension, max_dimension));
  info.columns = read_columns(document, info.dimension);
  info.components = static_cast<int>(reader.integer("components", 1, max_components));
  info.iterations =
      static_cast<int>(reader.integer("iterations", 0, std::numeric_limits<int>::max()));
  info.converged = reader.boolean("converged");
  if (reader.has("stopped")) {
    if (reader.text("stopped") != time_member || info.converged || info.method == Method::exact)
      reader.reject("stopped", "must be \"max_seconds\", of a fit that has not converged");
    info.out_of_time = true;
  }
  info.degenerate = read_degenerate(reader, info.components);
  if (reader.has("told_apart")) {
    info.told_apart = reader.boolean("told_apart");
    if (info.told_apart || info.method != Method::vi)
      reader.reject("told_apart", "must be false, of a fit by vi");
  }
  info.objective = reader.number_or_nan("objective");
  info.log_likelihood = reader.number_or_nan("log_likelihood");
  info.seed = reader.integer("seed", std::numeric_limits<std::int64_t>::min(), max_count);
  info.seconds = reader.number("seconds", 0, std::numeric_limits<double>::infinity());
  info.options = reader.any_object("options");
  if (reader.has("given_prior")) info.given_prior = reader.any_object("given_prior");
  info.reference = read_reference(document, info.dimension);
  return info;
}

const ModelWords &Model::words() const {
  static constexpr ModelWords words;
  return words;
}

void Model::lacks(const char *what) const {
  const ModelWords &words = this->words();
  throw Error(
      Errc::wrong_family, message("a model of family {} has no {}", info.family, what),
      words.takes ? message("Its fit takes {}, not rows of columns.", words.takes) : std::string(),
      words.functions);
}

void Model::require_rows() const {
  if (const char *const other = words().takes)
    throw Error(Errc::wrong_family,
                message("a model of family {} takes {}, not rows of columns", info.family, other),
                {}, words().functions);
}

void Model::describe_parameters(std::optional<double>, const TakeParameter &) const {
  lacks("parameters to list");
}
ParameterDraws Model::draw_parameters(std::uint64_t) const {
  // Throws for a family without parameters.
  describe_parameters({}, [](const Parameter &) {});
  throw Error(
      Errc::invalid_argument,
      message("there are no draws of a model of family {} by method {}", info.family, info.method),
      "Models fitted by sampling are drawn from, conjugate models, and regressions whose posterior "
      "is known.",
      "Fit a regression by method laplace or exact, or fit by a method that samples.");
}

ParameterDraws Model::undrawn_parameters() const {
  ParameterDraws out;
  describe_parameters({}, [&](const Parameter &each) {
    Parameter &own = out.parameters.emplace_back(each);
    if (each.label) own.label = &out.labels.emplace_back(*each.label);
  });
  return out;
}

std::string quantity_name(const Parameter &parameter, std::string_view column,
                          std::string_view label) {
  // Quantities that regressions have beside their coefficients.
  static constexpr std::string_view others[] = {
      "alpha", "dispersion", "df", "lambda", "log_joint", "log_likelihood", "noise_variance"};
  std::string out = parameter.name;
  if (parameter.component < 0 && parameter.element < 0 && !label.empty()) {
    const bool taken = std::find(std::begin(others), std::end(others), label) != std::end(others);
    return taken ? message("{}[{}]", out, label) : std::string(label);
  }
  char before = '[';
  const auto add = [&](std::string_view part) {
    out += before;
    out += part;
    before = ',';
  };
  if (parameter.component >= 0) add(std::to_string(parameter.component + 1));
  if (!column.empty()) add(column);
  if (!label.empty()) add(label);
  if (before == ',') out += ']';
  return out;
}

std::vector<double> Model::categories(int) const { return {}; }
int Model::predict(std::span<const double>) const { lacks("components to assign rows to"); }
std::optional<RowPrediction> Model::predict_row(std::span<const double> x, double) const {
  RowPrediction out;
  out.component = predict(x);
  return out;
}
void Model::probabilities(std::span<const double>, std::span<double>) const {
  lacks("components to assign rows to");
}
double Model::log_density(std::span<const double>) const { lacks("log density of rows"); }
PredictiveErrors Model::mcse(std::span<const double>, Control &) const {
  lacks("Monte Carlo standard errors for a row");
}
std::unique_ptr<RowDistribution> Model::row_distribution() const {
  throw Error(Errc::wrong_family,
              message("a model of family {} is no distribution over rows", info.family),
              "Models of gmm, bmm, dpmm and nb are, and hmm of steps.", words().functions);
}
ComponentOverlaps Model::overlaps(const Model &) const { lacks("components to match"); }

double Model::free_parameters() const { return std::numeric_limits<double>::quiet_NaN(); }
double Model::observations() const { return std::numeric_limits<double>::quiet_NaN(); }
double Model::relative_entropy() const { return std::numeric_limits<double>::quiet_NaN(); }

Document in_order_of_jsonb(const Document &document) {
  const auto *const object = document.as<Document::Object>();
  if (!object) return document;
  Document::Object sorted;
  for (const auto &[key, value] : *object) sorted.emplace_back(key, in_order_of_jsonb(value));
  std::sort(sorted.begin(), sorted.end(), [](const Document::Member &a, const Document::Member &b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
  });
  return sorted;
}

void Model::merge(const Model &) {
  throw Error(Errc::wrong_family,
              message("models of family {} cannot be merged", describe(info.family)),
              "A fit of this family needs all rows at once.");
}

void refuse_posterior(const ModelInfo &info) {
  const bool draws = is_sampler(info.method);
  throw Error(Errc::invalid_argument,
              message("this model has no posterior: it was fitted by method {}", info.method),
              draws
                  ? "A sampled posterior is represented by its draws."
                  : "Only variational methods estimate a posterior distribution of the parameters.",
              draws ? "See bayes_draws(model)." : "Fit with option method \"vi\" or \"svi\".");
}

void merge_info(ModelInfo &info, const ModelInfo &other) {
  const auto refuse = [](const char *what, const std::string &a, const std::string &b) {
    throw Error(Errc::invalid_argument, message("models with different {} cannot be merged", what),
                message("One has {}, the other {}.", a, b));
  };
  if (info.method != other.method)
    refuse("methods", std::string(method_name(info.method)),
           std::string(method_name(other.method)));
  const std::string options = in_order_of_jsonb(info.options).to_json(),
                    its_options = in_order_of_jsonb(other.options).to_json();
  if (options != its_options) refuse("options", options, its_options);
  const auto add = [](std::int64_t &to, std::int64_t more) {
    if (__builtin_add_overflow(to, more, &to))
      throw Error(Errc::too_large, "merged models have more rows than can be counted");
  };
  add(info.rows, other.rows);
  add(info.skipped, other.skipped);
  if (info.incomplete && other.incomplete) add(*info.incomplete, *other.incomplete);
  // Samples of both models cannot be made into a sample of all rows.
  info.reference = nullptr;
  info.seconds = std::min(info.seconds + other.seconds, std::numeric_limits<double>::max());
  if (info.version != other.version) info.version = library_version;
}

double Model::bic() const {
  if (draws.chains > 0) return std::numeric_limits<double>::quiet_NaN();
  return -2 * info.log_likelihood + free_parameters() * std::log(observations());
}

Document Model::to_document() const { return document_with(true); }

Document Model::document_with(bool seconds) const {
  Document document;
  document.set("pg_bayes",
               Document::object().set("format", model_format).set("version", info.version));
  document.set("family", info.family).set("method", std::string(method_name(info.method)));
  document.set("rows", info.rows);
  document.set("skipped", info.skipped);
  if (info.incomplete) document.set("incomplete", *info.incomplete);
  document.set("dimension", info.dimension);
  if (!info.columns.empty()) document.set("row_columns", document_of_columns(info.columns));
  document.set("components", info.components);
  document.set("iterations", info.iterations);
  document.set("converged", info.converged);
  // Other reasons why a fit stopped follow from its method and `converged`.
  if (info.out_of_time) document.set("stopped", time_member);
  if (!info.told_apart) document.set("told_apart", false);
  // Written only if there are any, so that other models stay as earlier versions wrote them.
  if (!info.degenerate.empty()) {
    Tensor numbers{{std::int64_t(info.degenerate.size())}, {}};
    for (const int k : info.degenerate) numbers.values.push_back(k + 1);
    document.set("degenerate", std::move(numbers));
  }
  document.set("objective", info.objective);
  document.set("log_likelihood", info.log_likelihood);
  document.set("seed", info.seed);
  if (seconds) document.set("seconds", info.seconds);
  document.set("options", info.options.is_null() ? Document::object() : info.options);
  if (!info.given_prior.is_null()) document.set("given_prior", info.given_prior);
  if (info.reference) document.set("row_reference", document_of(*info.reference));
  document.set("trace", write_trace(trace));
  if (!draws.quantities.empty()) document.set("draws", write_draws(draws));
  if (saved) document.set("checkpoint", write_saved_fit(*saved));
  write(document);
  return document;
}

std::unique_ptr<Model> Model::from_document(const Document &document,
                                            ModelReader (*find_reader)(std::string_view)) {
  try {
    const MemberReader reader(document);
    const std::int64_t format = reader.object("pg_bayes").integer("format", 1, max_count);
    if (format > model_format) throw newer_format(Errc::invalid_text, model_seal, format);
    const std::string family = reader.text("family");
    const ModelReader read = find_reader(family);
    if (read == nullptr)
      throw Error(Errc::invalid_text,
                  message("invalid bayes_model: unknown family {}", describe(family)));
    std::vector<std::vector<double>> trace = read_trace(reader);
    Draws draws = read_draws(document);
    std::unique_ptr<Model> model = read(document);
    model->trace = std::move(trace);
    model->draws = std::move(draws);
    if (reader.has("checkpoint"))
      model->saved = read_saved_fit(reader.object("checkpoint"), family, find_reader);
    check_members(document, model->to_document(), {});
    return model;
  } catch (const Error &error) {
    // Whichever check of the family failed, for the user it is the text that is invalid.
    if (error.code() == Errc::internal || error.code() == Errc::invalid_text) throw;
    throw Error(Errc::invalid_text, error.what(), error.detail(), error.hint());
  }
}

void seal_model(std::string &bytes, bool seconds) { seal(bytes, model_seal, seconds); }

bool identifies_content(std::string_view bytes) { return has_trailer(bytes); }

std::string content_header(std::string_view bytes) {
  if (identifies_content(bytes)) return std::string(bytes.substr(0, model_header_bytes));
  const Document document = Document::from_bytes(unsealed(bytes, model_seal));
  std::string out(model_header_bytes, '\0');
  without_seconds(document).to_bytes(out);
  append(out, 0);
  seal_model(out);
  return out.substr(0, model_header_bytes);
}

std::optional<std::string_view> stopped(const ModelInfo &info) {
  if (info.method == Method::exact) return std::nullopt;
  if (info.out_of_time) return time_member;
  if (is_sampler(info.method)) return "draws";
  return info.converged ? "converged" : "max_iter";
}

std::string_view missing_option(const ModelInfo &info) {
  const Document *const missing = info.options.find("missing");
  const std::string *const text = missing ? missing->as<std::string>() : nullptr;
  return text ? std::string_view(*text) : "error";
}

std::string Model::to_bytes() const {
  std::string bytes(model_header_bytes, '\0');
  document_with(false).to_bytes(bytes);
  append(bytes, info.seconds);
  seal_model(bytes);
  return bytes;
}

bool Model::same_content(const Model &other) const {
  return this == &other || std::string_view(to_bytes()).substr(0, model_header_bytes) ==
                               std::string_view(other.to_bytes()).substr(0, model_header_bytes);
}

std::unique_ptr<Model> Model::from_bytes(std::string_view bytes,
                                         ModelReader (*find_reader)(std::string_view)) {
  const std::string_view content = unsealed(bytes, model_seal);
  try {
    Document document = Document::from_bytes(content);
    if (has_trailer(bytes)) {
      if (document.find("seconds") != nullptr)
        throw Error(Errc::invalid_text, "invalid bayes_model: member \"seconds\" occurs twice");
      if (document.as<Document::Object>() != nullptr)
        document.set("seconds", double_of(bytes.substr(bytes.size() - sizeof(double))));
    }
    return from_document(document, find_reader);
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_text) throw;
    throw Error(Errc::invalid_binary, error.what(), error.detail(), error.hint());
  }
}

}  // namespace bayes
