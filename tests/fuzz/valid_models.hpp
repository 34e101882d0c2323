// Models of every family, for the fuzzer to change.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "base/unseen.hpp"
#include "classification/nb.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "data/corpus.hpp"
#include "data/rows.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "document/saved_fit.hpp"
#include "factor/nmf.hpp"
#include "factor/pmf.hpp"
#include "families/product/column_families.hpp"
#include "families/product/product_options.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "questions/conditional_model.hpp"
#include "regression/glm.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_sums.hpp"
#include "topics/lda.hpp"

namespace valid_models {

using bayes::Document;
using bayes::Model;

/// A model family without members of its own, so that the common members are tested even if few
/// models are accepted.
class Bare final : public Model {
 protected:
  void write(Document &) const override {}
};

inline Document brief(const char *method) {
  return Document::object().set("method", method).set("max_iter", 5).set("restarts", 2);
}

inline Document chains(const char *method) {
  return Document::object()
      .set("method", method)
      .set("chains", 2)
      .set("draws", 12)
      .set("warmup", 4);
}

/// Fits by all methods, all of them short.
class Fits {
 public:
  Fits() {
    without_members();
    normals();
    products();
    markov();
    topics_and_weights();
    ratings();
    binary_regressions();
    classes();
    conjugate();
    regressions();
    conditionals();
  }
  std::vector<Document> documents;

 private:
  void add(const Model &model) {
    Document document = model.to_document();
    // How long a fit took would make every run try other inputs.
    document.set("seconds", 0.0);
    documents.push_back(std::move(document));
  }

  void process(bayes::RowSource &from, const Document &options) {
    add(*bayes::dpmm_fit(from, options, control).model);
  }

  void without_members() {
    Bare bare;
    bare.info.family = "bare";
    bare.info.method = bayes::Method::em;
    bare.info.rows = bare.info.dimension = bare.info.components = 1;
    bare.info.options =
        Document::object()
            .set("choice", "text")
            .set("list", Document::List{1, 2.5, false, Document(), "x", Document::object()});
    bare.trace = {{-3, -2.5}, {}, {std::numeric_limits<double>::quiet_NaN(), -2}};
    add(bare);
    bare.draws = {
        {"clusters", "log_joint"},
        2,
        3,
        {1, -2.5, 2, -3, 1, std::numeric_limits<double>::quiet_NaN(), 2, -2, 3, -1.5, 2, -4}};
    add(bare);
    auto saved = std::make_shared<bayes::SavedFit>();
    saved->k = 3;
    saved->data = 0xfedcba9876543210;
    saved->options = Document::object().set("resumable", true);
    saved->course.chains = {{1, 2}, {}, {std::numeric_limits<double>::infinity()}};
    auto start = std::make_shared<Bare>();
    start->info = bare.info;
    saved->start = start;
    bayes::RunRecord run;
    run.loops = {{{-3, -2.5}, {1, std::numeric_limits<double>::quiet_NaN()}}, {{-2}, {}}};
    saved->course.runs = {run, run};
    saved->course.runs[0].ended = saved->course.runs[0].limited = true;
    saved->course.runs[0].trace = {-3, -2.5};
    saved->course.runs[0].degenerate = {2};
    saved->course.runs[1].begun_afresh = true;
    bare.saved = saved;
    add(bare);
  }

  void conjugate() {
    using bayes::ConjugateKind;
    for (const auto kind : {ConjugateKind::beta_bernoulli, ConjugateKind::gamma_poisson,
                            ConjugateKind::normal_inverse_gamma}) {
      bayes::ConjugateSums sums;
      for (int i = 0; i < 7; ++i) sums.add(kind, i % 2 + (i % 3) / 3, 0.1 + i, 1);
      add(bayes::ConjugateModel(kind, bayes::read_conjugate_prior(kind, Document()), sums));
      add(bayes::ConjugateModel(kind, {2, 3, 4, 5}, sums));
    }
    bayes::LabelSums sums;
    for (const char *label : {"a", "b", "a", "NaN", ""}) sums.add(label, 1.5, 1);
    bayes::DirichletPrior prior;
    add(bayes::DirichletCategorical(prior, sums));
    prior.by_label = {{"a", 0.5}, {"z", 3}};
    add(bayes::DirichletCategorical(prior, sums));
  }

  void normals() {
    bayes::MemoryRows rows({2, false});
    for (int i = 0; i < 60; ++i) {
      const double x[] = {random.normal() + (i % 2 == 0 ? 0 : 6), random.normal()};
      rows.append(x);
    }
    const auto fit = [&](const Document &options) {
      add(*bayes::gmm_fit(rows, 2, options, nullptr, false, control));
    };
    for (const char *covariance : {"full", "diagonal", "spherical", "tied"})
      for (const char *method : {"em", "map", "vi", "svi"})
        fit(Document::object()
                .set("covariance", covariance)
                .set("method", method)
                .set("max_iter", 5)
                .set("restarts", 2));
    fit(Document::object().set("method", "kmeans").set("restarts", 2));
    fit(Document::object()
            .set("method", "vi")
            .set("max_iter", 5)
            .set("prior", Document::object().set("type", "independent")));
    fit(chains("gibbs"));
    process(rows, chains("collapsed"));
    process(rows, Document::object()
                      .set("method", "vi")
                      .set("max_iter", 5)
                      .set("truncation", 3)
                      .set("covariance", "diagonal"));
  }

  void products() {
    // A column of every family, of draws of its default prior.
    std::vector<bayes::ColumnSpec> specs;
    Document::List likelihood;
    bayes::for_each_column_family([&]<class F>(const F &) {
      specs.push_back(some_spec<F>());
      likelihood.push_back(bayes::likelihood_document(specs.back()));
    });
    bayes::MemoryRows columns({int(specs.size()), false});
    for (int i = 0; i < 40; ++i) {
      std::vector<double> x;
      for (const auto &spec : specs)
        std::visit(
            [&](const auto &family) {
              std::vector<double> prior(std::size_t(family.posterior_size())),
                  point(std::size_t(family.point_size()));
              family.default_prior(2, 1, 1, prior.data());
              family.draw(prior.data(), random, point.data());
              x.push_back(family.value(family.sample(point.data(), random)));
            },
            bayes::family_of(spec));
      columns.append(x.data());
    }
    const auto name_columns = [&] {
      const std::int64_t count = std::int64_t(specs.size());
      Document::List named;
      for (std::int64_t j = 0; j < count; ++j)
        named.push_back(j % 3 == 0 ? Document::object()
                                         .set("name", "column " + std::to_string(j))
                                         .set("kind", "label")
                                         .set("labels", Document::List{"a", "b", "c"})
                                   : Document::object()
                                         .set("name", "column " + std::to_string(j))
                                         .set("kind", j % 3 == 1 ? "number" : "boolean"));
      documents.back().set("row_columns", std::move(named));
    };
    for (const char *method : {"em", "vi"}) {
      const Document options = Document::object()
                                   .set("method", method)
                                   .set("max_iter", 5)
                                   .set("restarts", 2)
                                   .set("likelihood", likelihood);
      add(*bayes::bmm_fit(columns, 2, options, nullptr, false, control));
      name_columns();
    }
    add(*bayes::bmm_fit(columns, 2, chains("collapsed").set("likelihood", likelihood), nullptr,
                        false, control));
    process(columns, chains("slice").set("likelihood", likelihood));
  }

  void markov() {
    // Sequences of names, and of vectors.
    bayes::MemoryRows named({1, true}), measured({2, true});
    bayes::Sequences names{named, 1}, vectors{measured, 2};
    bayes::SequenceWriter names_writer(
        names, named.shape(),
        [&named](const double *x, double weight) { named.append(x, weight); });
    bayes::SequenceWriter vectors_writer(
        vectors, measured.shape(),
        [&measured](const double *x, double weight) { measured.append(x, weight); });
    for (int sequence = 0; sequence < 4; ++sequence) {
      names_writer.begin(12, 1);
      vectors_writer.begin(12, 1);
      for (int step = 0; step < 12; ++step) {
        const double name = double(random.below(3)),
                     x[] = {random.normal() + 5 * (step / 4 % 2), double(random.below(9))};
        names_writer.step(&name);
        vectors_writer.step(x);
      }
    }
    const auto chain = [&](bool symbols, const Document &options) {
      const std::vector<std::string> known =
          symbols ? std::vector<std::string>{"a", "b", "c"} : std::vector<std::string>();
      const auto elements =
          symbols ? bayes::SequenceElements::symbols : bayes::SequenceElements::numbers;
      add(*bayes::hmm_fit(symbols ? names : vectors, known, 2, options, elements, !symbols, nullptr,
                          false, control));
    };
    const Document emission = Document::List{"normal", "poisson"};
    for (const char *method : {"em", "vi"}) {
      chain(true, brief(method));
      chain(false, brief(method).set("covariance", "full"));
      chain(false, brief(method).set("covariance", "tied"));
      chain(false, brief(method).set("emission", emission));
    }
    chain(true, chains("gibbs"));
    chain(false, chains("gibbs"));
    chain(false, chains("gibbs").set("emission", emission));
  }

  void topics_and_weights() {
    bayes::MemoryCorpus corpus(3);
    for (std::int32_t i = 0; i < 6; ++i) {
      const std::int32_t terms[] = {i % 2, 2};
      const double counts[] = {double(1 + i), 1};
      corpus.append({terms, counts});
    }
    for (const Document &options : {brief("em"), brief("vi"), brief("svi"), brief("cvb0"),
                                    chains("gibbs"), chains("collapsed")})
      add(*bayes::lda_fit(corpus, {"a", "b", "c"}, 2, options, nullptr, false, control));

    for (const Document &options :
         {brief("em"), brief("vi"), brief("squared"), brief("svi").set("batch_size", 2),
          brief("vi").set("hierarchical", true), brief("em").set("absent", "missing"),
          brief("vi").set("absent", "missing")}) {
      std::vector<std::string> rows, columns = {"a", "b", "c"};
      for (int i = 1; i <= 6; ++i) rows.push_back(std::to_string(i));
      const bayes::FactorTable table = {corpus, nullptr, bayes::Side::row, rows, columns, 0};
      add(*bayes::nmf_fit(table, 2, options, nullptr, control));
    }
  }

  void ratings() {
    // Rows b and c have no number in column y.
    bayes::MemoryCorpus by_row(2), by_column(3);
    const std::int32_t codes[] = {0, 1, 2};
    const double numbers[] = {1.5, -2, 3};
    by_row.append({{codes, 2}, {numbers, 2}});
    by_row.append({{codes, 1}, {numbers + 1, 1}});
    by_row.append({{codes, 1}, {numbers + 2, 1}});
    by_column.append({{codes, 3}, {numbers, 3}});
    by_column.append({{codes, 1}, {numbers + 1, 1}});
    const std::vector<std::string> of_rows = {"a", "b", "c"}, of_columns = {"x", "y"};
    for (const bool hierarchical : {false, true}) {
      bayes::FactorTable table = {by_row, &by_column, bayes::Side::row, of_rows, of_columns, 0};
      const Document options =
          chains("gibbs")
              .set("means", !hierarchical)
              .set("prior", Document::object().set("hierarchical", hierarchical));
      add(*bayes::pmf_fit(table, 2, options, control));
    }
  }

  void binary_regressions() {
    bayes::MemoryRows rows({3, false});
    for (int i = 0; i < 12; ++i) {
      const double row[] = {double(i % 2), random.normal(), double(i % 3)};
      rows.append(row);
    }
    const bayes::RowColumns columns = {
        {"size", bayes::ValueKind::number},
        {"colour", bayes::ValueKind::label, {"blue", "green", "red"}}};
    const Document plain = Document::object();
    bayes::GlmWarnings warnings;
    for (const char *const response : {"binomial", "negative_binomial", "student_t"})
      add(*bayes::glm_fit(bayes::GlmFamily::glm, rows, columns,
                          Document::object().set("response", response).set("offset", "size"),
                          control, warnings));
    add(*bayes::glm_fit(bayes::GlmFamily::glm, rows, columns,
                        chains("slice").set("response", "negative_binomial"), control, warnings));
    add(*bayes::glm_fit(bayes::GlmFamily::glm, rows, columns,
                        Document::object().set("response", "student_t").set("df", "learned"),
                        control, warnings));
    for (const char *const response : {"ordinal", "categorical"})
      add(*bayes::glm_fit(bayes::GlmFamily::glm, rows, columns,
                          Document::object()
                              .set("response", response)
                              .set("levels", Document::List{"no", "yes", "perhaps"}),
                          control, warnings));
    add(*bayes::glm_fit(bayes::GlmFamily::logreg, rows, columns, plain, control, warnings));
    const Document::List terms = {"size", "colour:size", "size:size"};
    add(*bayes::glm_fit(bayes::GlmFamily::logreg, rows, columns,
                        Document::object().set("terms", terms), control, warnings));
    for (const char *const method : {"laplace", "em", "vi"})
      add(*bayes::glm_fit(bayes::GlmFamily::probit, rows, {},
                          Document::object().set("method", method).set("max_iter", 9), control,
                          warnings));
    add(*bayes::glm_fit(bayes::GlmFamily::probit, rows, columns, chains("gibbs"), control,
                        warnings));
  }

  /// A column of the family, with three categories or some known numbers.
  template <class F> static bayes::ColumnSpec some_spec() {
    bayes::ColumnSpec out{bayes::kind_of<F>, F::by_value ? 3 : 0};
    for (const bayes::KnownParameter &each : F::known_parameters) out.known.push_back(each.low + 2);
    return out;
  }

  /// Rows of a column of every family, of numbers together, and of named features.
  void classes() {
    for (const bool full : {false, true}) {
      Document::List likelihood = {"normal", "normal"};
      std::vector<bool> positive(2, false);
      bayes::for_each_column_family([&]<class F>(const F &family) {
        likelihood.push_back(bayes::likelihood_document(some_spec<F>()));
        positive.push_back(!family.allowed(0));
      });
      const Document options = Document::object()
                                   .set("covariance", full ? "full" : "diagonal")
                                   .set("likelihood", likelihood);
      bayes::NbAccumulator rows;
      bayes::nb_begin(rows, options, nullptr);
      const int d = int(likelihood.size());
      rows.set_columns({}, d);
      for (int i = 0; i < 30; ++i) {
        std::vector<double> x = {random.normal() + i % 3};
        while (int(x.size()) < d)
          x.push_back(double(random.below(2)) + (positive[x.size()] ? 1 : 0));
        rows.add(i % 3, x, 1, i);
      }
      add(*bayes::nb_fit(bayes::NbPart(rows, {"b", "a", "c"}, {}), options, nullptr));
    }
    bayes::NbAccumulator rows;
    bayes::nb_begin(rows, {}, nullptr);
    rows.set_sparse();
    bayes::RowColumns names = {{"word", bayes::ValueKind::number},
                               {"flag", bayes::ValueKind::boolean},
                               {"country", bayes::ValueKind::label, {"CH", "FR"}},
                               {"never", bayes::ValueKind::number}};
    for (std::int32_t j = 0; j < 4; ++j) {
      rows.add_feature(names[std::size_t(j)].name);
      if (j < 3) rows.set_kind(j, names[std::size_t(j)].kind);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 6; ++i) {
      const bayes::NbWord words[] = {
          {0, double(i)}, {1, double(i % 2)}, {2, double(i / 3)}, {3, none}};
      rows.add(i % 2, words, 1.5, i);
    }
    add(*bayes::nb_fit(bayes::NbPart(rows, {"y", "x"}, names), {}, nullptr));
  }

  static Document regression_options(const std::string &method) {
    if (method == "gibbs") return chains("gibbs");
    Document out = Document::object().set("method", method);
    return method == "exact" ? out : out.set("max_iter", 5);
  }

  void regressions() {
    for (const bool labels : {false, true}) {
      bayes::RowColumns columns;
      if (labels) columns = {{"a"}, {"b", bayes::ValueKind::label, {"p", "q", "r"}}};
      bayes::LinregAccumulator rows(std::pmr::get_default_resource());
      rows.begin(columns, 2, false);
      for (int i = 0; i < 9; ++i)
        rows.add(i * i % 5, std::vector<double>{i * 0.5, double(i % 3)}, 1);
      const bayes::LinregSums sums = rows.sums(columns);
      for (const char *const method : {"exact", "em", "laplace", "vi", "gibbs"}) {
        bayes::LinregWarnings warnings;
        add(*bayes::linreg_fit(sums, regression_options(method), control, warnings));
      }
      bayes::LinregWarnings warnings;
      add(*bayes::linreg_fit(sums, Document::object().set("noise_variance", 2), control, warnings));
    }
  }

  /// Some of these, given an element of a row, and given a label that the model does not know.
  void conditionals() {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Document> others = documents;
    for (std::size_t i = 0; i < others.size(); i += 3) {
      const auto *const family = others[i].find("family")->as<std::string>();
      if (*family != "gmm" && *family != "bmm" && *family != "dpmm" && *family != "nb") continue;
      std::unique_ptr<Model> model = Model::from_document(others[i]);
      if (model->words().takes) continue;
      const auto rows = model->row_distribution();
      std::vector<double> given(std::size_t(rows->dimension()), missing);
      given[0] = 1;  // allowed in a column of any family
      for (int j = 1; j < rows->dimension(); ++j)
        if (rows->categories(j).size() == 3) given[std::size_t(j)] = bayes::unseen_category;
      add(*bayes::condition(std::move(model), given));
    }
  }

  bayes::Random random{5};
  bayes::Control control;
};

inline const std::vector<Document> &all() {
  static const Fits fits;
  return fits.documents;
}

}  // namespace valid_models
