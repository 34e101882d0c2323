#include "factor/pmf_options.hpp"

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// A variance: a number, or {"shape": ..., "rate": ...} for the gamma prior of its inverse.
void variance_option(OptionTable &t, const char *key, const char *meaning,
                     std::optional<double> &given, std::optional<PrecisionPrior> &prior,
                     bool applies = true) {
  const auto read = [&](const Document &value) {
    if (value.as<Document::Object>()) {
      const std::string path = message("prior.{}.", key);
      OptionTable inner = OptionTable::reading(value, path);
      prior.emplace();
      inner.number({"shape", "shape of the gamma prior"}, prior->shape, above(0, 1e9));
      inner.number({"rate", "rate of the gamma prior"}, prior->rate, above(0, 1e300));
      inner.finish();
      return;
    }
    const auto number = to_number(value, false);
    if (!number || !(*number > 0 && *number <= 1e300))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.{}\" is {}, but must be a number greater than 0, or "
                          "an object with shape and rate of the gamma distribution of its inverse",
                          key, describe(value)));
    given = *number;
  };
  const auto write = [&] {
    if (given) return Document(*given);
    if (!prior) return Document();
    return Document::object().set("shape", prior->shape).set("rate", prior->rate);
  };
  t.other({key, meaning, "a number, or an object with shape and rate", "learned"}, read, write,
          applies);
}

void pmf_prior_options(OptionTable &t, PmfOptions &o) {
  t.boolean({"hierarchical", "whether vectors have a mean and a covariance that are learned"},
            o.hierarchical);
  variance_option(t, "noise_variance", "variance of the noise, or the gamma prior of its inverse",
                  o.noise_variance, o.noise_prior);
  variance_option(t, "c", "variance of the numbers of vectors, or the gamma prior of its inverse",
                  o.c, o.c_prior, !o.hierarchical);
}

void read_prior(const Document &given, PmfOptions &o) {
  o.hierarchical = false;
  o.noise_variance = o.c = std::nullopt;
  o.noise_prior = o.c_prior = std::nullopt;
  OptionTable inner = OptionTable::reading(given, "prior.");
  pmf_prior_options(inner, o);
  inner.finish("a hierarchical prior");
}

/// What a start model hands on, besides FitOptions::inherit.
void inherit_model(const ModelInfo &start, PmfOptions &o) {
  const auto flag = [&start](const char *key, bool &member) {
    const Document *const found = start.options.find(key);
    if (found && found->as<bool>()) member = *found->as<bool>();
  };
  o.rank = start.components;
  flag("means", o.means);
  flag("rated", o.rated);
  const Document *const repeated = start.options.find("repeated");
  if (repeated && repeated->as<std::string>()) o.repeated = *repeated->as<std::string>();
  if (const Document *const prior = start.options.find("prior")) read_prior(*prior, o);
}

void pmf_option_table(OptionTable &t, PmfOptions &o) {
  o.method_line(t, pmf_methods);
  o.chains.lines(t, true);
  o.chains.stored_line(t, true);
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  t.choice({"repeated", "which number of a cell that occurs more than once counts"}, o.repeated,
           {"error", "average", "last"});
  t.boolean({"means", "whether rows and columns have means"}, o.means);
  t.boolean({"rated", "whether the model knows which cells had numbers"}, o.rated);
  t.other(
      prior_key, [&](const Document &given) { read_prior(given, o); },
      [&] {
        OptionTable inner = OptionTable::writing();
        pmf_prior_options(inner, o);
        return inner.document();
      });
}

}  // namespace

PmfOptions read_pmf_options(int rank, const Document &options, const PmfModel *start) {
  if (start) rank = start->rank();
  if (rank < 1 || rank > factor_max_factors)
    throw Error(Errc::invalid_argument,
                message("the rank is {}, but must be from 1 to {}", rank, factor_max_factors));
  require_object(options, "{\"draws\": 400, \"seed\": 2}");
  PmfOptions out;
  out.rank = rank;
  if (start) {
    out.inherit(start->info, false);
    inherit_model(start->info, out);
  }
  OptionTable t = OptionTable::reading(options);
  pmf_option_table(t, out);
  t.finish();
  return out;
}

Document PmfOptions::document() const {
  PmfOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  pmf_option_table(t, in_force);
  return t.document();
}

}  // namespace bayes
