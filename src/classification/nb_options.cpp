#include "classification/nb_options.hpp"

#include <string_view>

#include "base/error.hpp"
#include "base/message.hpp"
#include "classification/nb.hpp"

namespace bayes {
namespace {

void read_prior(const Document &given, NbOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  t.number({"alpha", "rows of each class seen before"}, o.alpha, above(0, 1e9));
  std::vector<ColumnSpec> families;
  for (const std::string_view name : column_family_names())
    if (!(o.full_covariance && name == normal_family))
      families.push_back({.kind = *likelihood_named(name)});
  o.product.lines(t, families);
  if (o.full_covariance)
    t.other({normal_family, "parameters of the prior of its columns", "an object"},
            [&o](const Document &keys) {
              OptionTable own = OptionTable::reading(keys, "prior.normal.");
              o.normal.lines(own);
              own.finish();
            });
  t.finish();
}

/// The options that an update may have too.
void run_lines(OptionTable &t, NbOptions &o) {
  t.choice(missing_key, o.missing, {"marginalize", "skip", "error"});
  t.either(on_error_key, o.null_on_error, "error", "null");
}

void model_lines(OptionTable &t, NbOptions &o) {
  Method method = Method::exact;
  t.choice({"method", "how the model is fitted"}, method, nb_methods);
  t.either({"covariance", "whether numbers are independent in a class"}, o.full_covariance,
           "diagonal", "full");
  t.either({"absent", "what absent keys of jsonb and tsvector are"}, o.absent_is_zero, "missing",
           "zero");
}

void require_options_object(const Document &options) {
  if (!options.is_null() && !options.as<Document::Object>())
    throw Error(Errc::invalid_argument,
                message("options must be a JSON object, but are of kind {}", options.kind()), {},
                "Write options as '{\"likelihood\": \"poisson\"}'.");
}

void take_prior(const Document &given, NbOptions &o) {
  read_prior(given, o);
  const auto *const keys = given.as<Document::Object>();
  o.given_prior = keys && !keys->empty() ? given : Document();
}

}  // namespace

NbOptions read_nb_options(const Document &options) {
  require_options_object(options);
  NbOptions out;
  OptionTable t = OptionTable::reading(options);
  model_lines(t, out);
  t.other({likelihood_key.key, likelihood_key.meaning, likelihood_key.values, "by their types"},
          [&out](const Document &given) {
            out.likelihood = given;
            const auto *const by_name = given.as<Document::Object>();
            if (by_name && !is_one_likelihood(given, true))
              for (const auto &[name, value] : *by_name)
                read_likelihood(value.is_null() ? Document("null") : value,
                                message("likelihood.{}", name).c_str());
            else
              read_likelihood(given);
          });
  run_lines(t, out);
  t.other(prior_key, [&out](const Document &given) { take_prior(given, out); });
  t.finish();
  return out;
}

NbOptions read_nb_update(const Document &options, const NbOptions &model) {
  require_options_object(options);
  NbOptions out = model;
  out.null_on_error = false;
  OptionTable t = OptionTable::reading(options);
  for (const char *const key : {"method", "covariance", "absent", "likelihood", "prior"})
    t.other(
        key, [](const Document &) {}, {}, false);
  run_lines(t, out);
  t.finish("an update, which uses that of the model");
  return out;
}

NbOptions stored_nb_options(const Document &options, const Document &given_prior) {
  NbOptions out;
  OptionTable t = OptionTable::reading(options);
  model_lines(t, out);
  run_lines(t, out);
  if (!given_prior.is_null()) take_prior(given_prior, out);
  return out;
}

Document NbOptions::document() const {
  NbOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  model_lines(t, in_force);
  run_lines(t, in_force);
  return t.document();
}

}  // namespace bayes
