// A hidden Markov model as a document, and back, with every number checked.
//
// A model with a posterior stores only that, as it determines the point estimate.
#include <cmath>
#include <set>
#include <span>

#include "base/control.hpp"
#include "base/message.hpp"
#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"
#include "markov/hmm_state.hpp"

namespace bayes {
namespace {

Tensor by_rows(const Matrix &m) { return {{m.rows(), m.cols()}, row_major(m)}; }

Matrix read_rows(const MemberReader &in, const char *key, std::int64_t rows, std::int64_t columns) {
  const Tensor t = in.tensor(key, {rows, columns});
  return Eigen::Map<const Matrix>(t.values.data(), columns, rows).transpose();
}

// Plain loops over numbers: they compile in a fraction of the time of expressions.

void require_not_negative(const MemberReader &in, const char *key, const Matrix &m) {
  for (const double x : std::span(m.data(), std::size_t(m.size())))
    if (!(x >= 0)) in.reject(key, "must not be negative");
}

/// Distributions, one a row: not negative, and with a sum that a distribution can have.
void require_rows(const MemberReader &in, const char *key, const Matrix &rows, bool probabilities) {
  require_not_negative(in, key, rows);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (Eigen::Index j = 0; j < rows.cols(); ++j) sum += rows(i, j);
    if (probabilities ? !(std::abs(sum - 1) < 1e-9) : !(sum > 0 && std::isfinite(sum)))
      in.reject(key, probabilities ? "must sum to 1" : "must have a positive, finite sum");
  }
}

template <class Emissions> void write_chain(Document &out, const Emissions &of) {
  out.set("initial", tensor(of.initial)).set("transition", by_rows(of.transition));
}

template <class M> void read_chain(const MemberReader &in, int k, bool probabilities, M &out) {
  out.initial = read_vector(in, "initial", k);
  out.transition = read_rows(in, "transition", k, k);
  require_rows(in, "initial", out.initial.transpose(), probabilities);
  require_rows(in, "transition", out.transition, probabilities);
}

}  // namespace

void HiddenMarkovModel::write(Document &document) const {
  document.set("weight", state->weight)
      .set("visits", tensor(state->visits))
      .set("transition_counts", by_rows(state->transitions))
      .set("vectors", state->vectors);
  if (symbols())
    document.set("symbols", Document::List(state->symbols.begin(), state->symbols.end()));
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const int d = dimension();
        constexpr bool products = std::is_same_v<Fitted, ProductHmm>;
        if constexpr (products)
          write_columns(document, *fitted.point.emissions.columns);
        else
          document.set("covariance", fitted.point.emissions.shape.name);
        if (fitted.posterior) {
          Document numbers = Document::object();
          write_chain(numbers, *fitted.posterior);
          write_posterior(numbers, fitted.posterior->emissions);
          document.set("posterior", std::move(numbers));
          return;
        }
        const auto write_numbers = [d](const auto &point) {
          Document out = Document::object();
          write_chain(out, point);
          if constexpr (products)
            write_point(out, point.emissions);
          else
            out.set("means", columns(point.emissions.mean))
                .set("covariances", scales(point.emissions.shape, point.emissions.covariance, d));
          return out;
        };
        document.set("point", write_numbers(fitted.point));
        if (!fitted.draws.empty()) {
          Document::List draws;
          for (const auto &draw : fitted.draws) draws.push_back(write_numbers(draw));
          document.set("draws_of_parameters", std::move(draws));
        }
        if (!fitted.deviations) return;
        Document deviations = Document::object();
        write_chain(deviations, *fitted.deviations);
        if (products) deviations.set("emissions", columns(fitted.deviations->emissions));
        document.set("deviations", std::move(deviations));
      },
      state->fitted);
}

std::unique_ptr<Model> read_hidden_markov_model(const Document &document) {
  auto model = std::make_unique<HiddenMarkovModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, hmm_max_dimension, hmm_max_states);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  state.weight = in.number("weight", 0, 1e300, true);
  state.visits = read_vector(in, "visits", k);
  state.transitions = read_rows(in, "transition_counts", k, k);
  require_not_negative(in, "visits", state.visits);
  require_not_negative(in, "transition_counts", state.transitions);
  state.vectors = in.boolean("vectors");
  if (!state.vectors && d != 1)
    in.reject("vectors", "must be true for observations of more than one element");

  const auto read = [&](auto fitted, auto posterior, auto point, int deviations) {
    if (in.has("posterior")) {
      const MemberReader q = in.object("posterior");
      fitted.posterior.emplace();
      read_chain(q, k, false, *fitted.posterior);
      fitted.posterior->emissions = posterior(q);
      fitted.point = mean_parameters(*fitted.posterior);
    } else {
      const auto read_numbers = [&](const MemberReader &numbers) {
        auto out = fitted.point;
        read_chain(numbers, k, true, out);
        out.emissions = point(numbers);
        return out;
      };
      fitted.point = read_numbers(in.object("point"));
      // Models stored by the first version have none.
      constexpr const char *key = "draws_of_parameters";
      if (in.has(key)) {
        const auto *const list = in.value(key).as<Document::List>();
        if (!list) in.reject(key, "must be a list of objects");
        for (std::size_t s = 0; s < list->size(); ++s) {
          poll_here();
          if (!(*list)[s].as<Document::Object>()) in.reject(key, "must be a list of objects");
          fitted.draws.push_back(
              read_numbers(MemberReader((*list)[s], message("{}[{}].", key, s))));
        }
      }
      if (in.has("deviations")) {
        const MemberReader from = in.object("deviations");
        HmmDeviations out{read_vector(from, "initial", k), read_rows(from, "transition", k, k), {}};
        if (deviations) out.emissions = read_columns(from, "emissions", deviations, k);
        require_not_negative(from, "initial", out.initial);
        require_not_negative(from, "transition", out.transition);
        require_not_negative(from, "emissions", out.emissions);
        fitted.deviations = std::move(out);
      }
    }
    state.fitted = std::move(fitted);
  };
  if (!in.has("covariance")) {
    const SharedColumns columns = read_product_columns(in, d);
    read(
        ProductHmm(), [&](const MemberReader &q) { return read_posterior(q, columns, k); },
        [&](const MemberReader &p) { return read_point(p, columns, k); }, columns->size().point);
    if (in.has("symbols")) {
      const ColumnSpec &spec = columns->specs()[0];
      const auto *list = in.value("symbols").as<Document::List>();
      if (state.vectors || !is_categorical(spec) || !spec.values.empty() || !list ||
          list->size() != std::size_t(spec.categories))
        in.reject("symbols", "must be as many names as the one categorical element has values");
      std::set<std::string_view> seen;
      for (const Document &each : *list) {
        const auto *name = each.as<std::string>();
        if (!name) in.reject("symbols", message("contains {}, which is no name", describe(each)));
        if (!seen.insert(*name).second)
          in.reject("symbols", message("contains {} twice", describe(each)));
        state.symbols.push_back(*name);
      }
    }
    return model;
  }
  state.whole_steps = true;
  const std::string covariance = in.text("covariance");
  const CovarianceShape *const shape = covariance_named(covariance);
  if (!shape) in.reject("covariance", "must be full, diagonal, spherical or tied");
  read(
      NormalHmm(), [&](const MemberReader &q) { return read_posterior(*shape, q, d, k); },
      [&](const MemberReader &p) {
        return NormalPoint{*shape, read_columns(p, "means", d, k),
                           read_scales(*shape, p, "covariances", d, k)};
      },
      0);
  FactoredScale factored;  // B / a may have left the range of a double
  for (const Matrix &scale : std::get<NormalHmm>(state.fitted).point.emissions.covariance)
    if (!factor(*shape, scale, d, factored))
      in.reject("posterior", "has a B that divided by a is not positive definite");
  return model;
}

}  // namespace bayes
