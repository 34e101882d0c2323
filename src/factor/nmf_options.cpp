#include "factor/nmf_options.hpp"

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

constexpr double max_hyperparameter = 1e12;

void hyperparameter(OptionTable &t, const char *key, const char *meaning, std::string_view standard,
                    std::optional<double> &member, bool &learn, double min_value) {
  t.other(
      {key, meaning, "a number, or \"learned\"", standard},
      [&member, &learn, key, min_value](const Document &given) {
        member.reset();
        const auto *const name = given.as<std::string>();
        learn = name && *name == "learned";
        if (learn) return;
        const auto number = to_number(given, false);
        if (!number || !(*number >= min_value && *number <= max_hyperparameter))
          throw Error(Errc::invalid_argument,
                      message("option \"prior.{}\" is {}, but must be a number from {} to {}, or "
                              "\"learned\"",
                              key, describe(given), describe_number(min_value),
                              describe_number(max_hyperparameter)));
        member = *number;
      },
      [&member, &learn] {
        return learn ? Document("learned") : member ? Document(*member) : Document();
      });
}

/// Parameters are named as in 002 L12.
void nmf_prior_lines(OptionTable &t, NmfOptions &o) {
  constexpr double min_shape = 0.002, min_rate = 1e-12;
  const std::string shape = describe_number(nmf_default_shape);
  hyperparameter(t, "a", "shape of the gamma prior of the weights of rows", shape, o.row.shape,
                 o.row.learn_shape, min_shape);
  hyperparameter(t, "b", "rate of the gamma prior of the weights of rows", "by the data",
                 o.row.rate, o.row.learn_rate, min_rate);
  hyperparameter(t, "c", "shape of the gamma prior of the weights of columns", shape,
                 o.column.shape, o.column.learn_shape, min_shape);
  hyperparameter(t, "d", "rate of the gamma prior of the weights of columns", "by the data",
                 o.column.rate, o.column.learn_rate, min_rate);
  t.number({"h", "shape of the gamma prior of the scale of a key"}, o.scale_shape, {0.01, 1e6},
           o.hierarchical);
}

void lines(OptionTable &t, NmfOptions &o) {
  o.method_line(t, nmf_methods);
  o.iteration_lines(t);
  o.restart_line(t, false);
  const bool missing_applies = !o.squared() && !o.stochastic(),
             hierarchical_applies = o.method == Method::vi;
  if (t.reads()) {  // drop inherited options that do not apply
    o.missing_cells &= missing_applies;
    o.hierarchical &= hierarchical_applies;
  }
  t.either({"absent", "what absent cells are"}, o.missing_cells, "zero", "missing",
           missing_applies);
  t.flag({"hierarchical", "whether each key has a scale of its own"}, o.hierarchical,
         hierarchical_applies);
  // Singular vectors are computed with absent cells as zeros.
  if (t.reads()) o.init = o.missing_cells ? "random" : "nndsvd";
  t.choice({"init", "the first weights: from singular vectors, or random ones"}, o.init,
           {"nndsvd", "random"}, !o.started || o.restarts > 1);
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  o.plan_lines(t);
  o.prior_line(
      t,
      [&](const Document &given, bool inherited) {
        OptionTable prior = OptionTable::reading(given, "prior.");
        nmf_prior_lines(prior, o);
        if (!inherited) prior.finish(o.setting());
      },
      [&] {
        OptionTable prior = OptionTable::writing();
        nmf_prior_lines(prior, o);
        return prior.document();
      },
      o.gamma());
}

}  // namespace

NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start) {
  require_components({&k, 1}, factor_max_factors);
  require_object(options, "{\"method\": \"em\", \"seed\": 2}");
  NmfOptions out;
  out.k = k;
  out.plan.batch_rows = 2048;
  // Allocated counts change slowly, as with EM, so minibatches add little noise.
  out.plan.kappa = 0.6;
  if (start) {
    out.inherit(start->info, false);
    const ModelInfo &info = start->info;
    const Document *const absent = info.options.find("absent"), *const scaled = info.options.find(
                                                                    "hierarchical");
    out.missing_cells =
        absent && absent->as<std::string>() && *absent->as<std::string>() == "missing";
    out.hierarchical = scaled && scaled->as<bool>() && *scaled->as<bool>();
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out);
  t.finish(out.setting());
  if (out.own_rates() && (out.row.learns() || out.column.learns()))
    throw Error(Errc::invalid_argument,
                message("parameters of the prior cannot be learned with option {}",
                        out.hierarchical ? "hierarchical" : "\"absent\": \"missing\""),
                {}, "Options prior.a, prior.b, prior.c and prior.d must then be numbers.");
  return out;
}

void NmfOptions::settle(double cells) {
  // A cell takes a few nanoseconds for each factor. With minibatches, for large tables, one run
  // takes long.
  settle_restarts({cells * k / 4, double(nmf_short_iterations)}, 1, stochastic() ? 1 : 20);
}

Document NmfOptions::document() const {
  NmfOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force);
  return t.document();
}

FactorTableOptions nmf_check_options(int k, const Document &options, const NmfModel *start) {
  const NmfOptions read = read_nmf_options(start ? start->size() : k, options, start);
  FactorTableOptions out;
  out.non_negative = true;
  out.missing = read.missing_cells;
  out.shuffled = read.stochastic();
  // numbers for each key in the run and in the model
  out.bytes_of_key = 8.0 * (read.own_rates() ? 7 : read.gamma() ? 5 : 4) * read.k;
  return out;
}

}  // namespace bayes
