// Hostile bytes into the decoders: they return or throw bayes::Error, and accepted values are
// written back.
//
// Besides the bytes as they are, an input is tried as a model with its fingerprint set right, and
// with changes made to the members of its document: mutated bytes alone would rarely pass the first
// checks.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "data/rows.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/nmf.hpp"
#include "factor/pmf.hpp"
#include "families/product/column_families.hpp"
#include "fuzz.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "model_uses.hpp"
#include "topics/lda.hpp"

using namespace model_uses;
using bayes::Document;
using bayes::Error;
using bayes::Model;
using bayes::Random;
using bayes::Tensor;

namespace {

/// A model family without members of its own, so that the common members are tested even if few
/// models are accepted.
class Bare final : public Model {
 protected:
  void write(Document &) const override {}
};

std::unique_ptr<Model> read_bare(const Document &document) {
  auto model = std::make_unique<Bare>();
  model->info = bayes::read_model_info(document, 1600, 10000);
  return model;
}

bayes::ModelReader find_reader(std::string_view family) {
  return family == "bare" ? read_bare : bayes::find_model_reader(family);
}

std::optional<Document> try_document(std::string_view bytes) {
  Document document;
  try {
    document = Document::from_bytes(bytes);
  } catch (const Error &error) {
    if (error.code() != bayes::Errc::invalid_binary)
      fail("Document::from_bytes threw an error of another kind");
    return std::nullopt;
  }
  std::string again;
  document.to_bytes(again);
  if (again != bytes) fail("an accepted document is written otherwise than it was read");
  document.to_json();
  return document;
}

void use(const Model &model) {
  if (const auto *gmm = dynamic_cast<const bayes::GaussianMixture *>(&model)) {
    use_mixture(*gmm);
    use_rows(*gmm, 0.5);
  } else if (const auto *bmm = dynamic_cast<const bayes::BernoulliMixture *>(&model)) {
    std::vector<double> mean, covariance;
    use_mixture(*bmm);
    attempt([&] { bmm->moments(mean, covariance); });
  } else if (const auto *dpmm = dynamic_cast<const bayes::DirichletProcessMixture *>(&model)) {
    use_rows(*dpmm, 1);
    attempt([&] { dpmm->cluster(dpmm->size() - 1); });
    use_parameters(*dpmm);
  } else if (const auto *hmm = dynamic_cast<const bayes::HiddenMarkovModel *>(&model)) {
    use_chain(*hmm);
  } else if (const auto *lda = dynamic_cast<const bayes::TopicModel *>(&model)) {
    use_topics(*lda);
  } else if (const auto *nmf = dynamic_cast<const bayes::NmfModel *>(&model)) {
    use_factors(*nmf);
  } else if (const auto *pmf = dynamic_cast<const bayes::PmfModel *>(&model)) {
    use_ratings(*pmf);
  } else if (!dynamic_cast<const Bare *>(&model)) {
    fail("a model that this fuzzer does not use");
  }
}

bool try_model(std::string_view bytes) {
  std::unique_ptr<Model> model;
  try {
    model = Model::from_bytes(bytes, find_reader);
  } catch (const Error &error) {
    if (error.code() != bayes::Errc::invalid_binary)
      fail("Model::from_bytes threw an error of another kind");
    return false;
  }
  // Members in another order, or an integer where a number stands, are accepted and written in
  // canonical form; after that nothing may change.
  const std::string once = model->to_bytes(),
                    twice = Model::from_bytes(once, find_reader)->to_bytes();
  if (once != twice) fail("an accepted model does not survive being written and read");
  model->to_document().to_json();
  use(*model);
  return true;
}

std::string sealed(const Document &document) {
  std::string bytes(bayes::model_header_bytes, '\0');
  document.to_bytes(bytes);
  bayes::seal_model(bytes);
  return bytes;
}

double strange_number(Random &random) {
  constexpr double numbers[] = {0,
                                -0.0,
                                1,
                                -1,
                                0.5,
                                1e-320,
                                1e-300,
                                1e300,
                                std::numeric_limits<double>::max(),
                                1e16,
                                1600,
                                1601,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
  return numbers[random.below(std::size(numbers))];
}

Document strange_value(Random &random) {
  switch (random.below(9)) {
    case 0: return {};
    case 1: return random.below(2) == 0;
    case 2: return static_cast<std::int64_t>(random.below(5)) - 1;
    case 3: return static_cast<std::int64_t>(random.bits());
    case 4: return strange_number(random);
    case 5: return random.below(2) == 0 ? "NaN" : "full";
    case 6: return Document::List(random.below(3), Document::object());
    case 7: return Document::object().set("number", 1);
    default: {
      const auto size = static_cast<std::int64_t>(random.below(4));
      return Tensor{{size}, std::vector<double>(std::size_t(size), strange_number(random))};
    }
  }
}

/// A copy with a change that mutated bytes would rarely make: a member removed, repeated, moved or
/// of another type, a number replaced, a shape turned. The result may be no valid document.
Document changed(const Document &document, Random &random) {
  const bool here = random.below(6) == 0;
  if (const auto *object = document.as<Document::Object>();
      object != nullptr && !object->empty() && !here) {
    Document::Object result = *object;
    const std::size_t i = random.below(result.size()), j = random.below(result.size());
    switch (random.below(8)) {
      case 0: result.erase(result.begin() + std::ptrdiff_t(i)); break;
      case 1: std::swap(result[i], result[j]); break;
      case 2: std::swap(result[i].second, result[j].second); break;
      case 3: result[i].first += 'x'; break;
      default: result[i].second = changed(result[i].second, random);
    }
    return result;
  }
  if (const auto *list = document.as<Document::List>();
      list != nullptr && !list->empty() && !here) {
    Document::List result = *list;
    const std::size_t i = random.below(result.size());
    switch (random.below(4)) {
      case 0: result.erase(result.begin() + std::ptrdiff_t(i)); break;
      case 1: result.push_back(result[i]); break;
      default: result[i] = changed(result[i], random);
    }
    return result;
  }
  if (const auto *tensor = document.as<Tensor>();
      tensor != nullptr && !tensor->values.empty() && !here) {
    Tensor result = *tensor;
    double &value = result.values[random.below(result.values.size())];
    switch (random.below(5)) {
      case 0: value = strange_number(random); break;
      case 1: value = -value; break;
      case 2: value *= std::exp(random.normal() * 10); break;
      case 3: std::swap(result.shape.front(), result.shape.back()); break;
      default: result.shape = {static_cast<std::int64_t>(result.values.size())};
    }
    return result;
  }
  return strange_value(random);
}

std::vector<Document> fit_models() {
  Bare bare;
  bare.info.family = "bare";
  bare.info.method = "none";
  bare.info.rows = bare.info.dimension = bare.info.components = 1;
  bare.info.options =
      Document::object()
          .set("choice", "text")
          .set("list", Document::List{1, 2.5, false, Document(), "x", Document::object()});
  bare.trace = {{-3, -2.5}, {}, {std::numeric_limits<double>::quiet_NaN(), -2}};
  std::vector<Document> models = {bare.to_document()};
  bare.draws = {
      {"clusters", "log_joint"},
      2,
      3,
      {1, -2.5, 2, -3, 1, std::numeric_limits<double>::quiet_NaN(), 2, -2, 3, -1.5, 2, -4}};
  models.push_back(bare.to_document());
  bayes::MemoryRows rows({2, false});
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const double x[] = {random.normal() + (i % 2 == 0 ? 0 : 6), random.normal()};
    rows.append(x);
  }
  bayes::Control control;
  const auto fit = [&](const Document &options) {
    models.push_back(bayes::gmm_fit(rows, 2, options, nullptr, false, control)->to_document());
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
  const auto chains = [](const char *method) {
    return Document::object()
        .set("method", method)
        .set("chains", 2)
        .set("draws", 12)
        .set("warmup", 4);
  };
  fit(chains("gibbs"));
  const auto process = [&](bayes::RowSource &from, const Document &options) {
    models.push_back(bayes::dpmm_fit(from, options, control).model->to_document());
  };
  process(rows, chains("collapsed"));
  process(rows, Document::object()
                    .set("method", "vi")
                    .set("max_iter", 5)
                    .set("truncation", 3)
                    .set("covariance", "diagonal"));

  // A column of every family, of draws of its default prior.
  std::vector<bayes::ColumnSpec> specs;
  Document::List likelihood;
  bayes::for_each_column_family([&]<class F>(const F &family) {
    specs.push_back({bayes::kind_of<F>, F::by_value ? 3 : 0});
    likelihood.emplace_back(family.name);
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
    models.back().set("row_columns", std::move(named));
  };
  for (const char *method : {"em", "vi"}) {
    const Document options = Document::object()
                                 .set("method", method)
                                 .set("max_iter", 5)
                                 .set("restarts", 2)
                                 .set("likelihood", likelihood);
    models.push_back(bayes::bmm_fit(columns, 2, options, nullptr, false, control)->to_document());
    name_columns();
  }
  models.push_back(bayes::bmm_fit(columns, 2, chains("collapsed").set("likelihood", likelihood),
                                  nullptr, false, control)
                       ->to_document());
  process(columns, chains("slice").set("likelihood", likelihood));

  // Sequences of names, and of vectors.
  bayes::MemoryRows named({1, true}), measured({2, true});
  bayes::Sequences names{named, 1}, vectors{measured, 2};
  bayes::SequenceWriter names_writer(
      names, named.shape(), [&named](const double *x, double weight) { named.append(x, weight); });
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
  const auto brief = [](const char *method) {
    return Document::object().set("method", method).set("max_iter", 5).set("restarts", 2);
  };
  const auto chain = [&](bool symbols, const Document &options) {
    const std::vector<std::string> known =
        symbols ? std::vector<std::string>{"a", "b", "c"} : std::vector<std::string>();
    const auto elements =
        symbols ? bayes::SequenceElements::symbols : bayes::SequenceElements::numbers;
    models.push_back(bayes::hmm_fit(symbols ? names : vectors, known, 2, options, elements,
                                    !symbols, nullptr, false, control)
                         ->to_document());
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

  bayes::MemoryCorpus documents(3);
  for (std::int32_t i = 0; i < 6; ++i) {
    const std::int32_t terms[] = {i % 2, 2};
    const double counts[] = {double(1 + i), 1};
    documents.append({terms, counts});
  }
  for (const Document &options : {brief("em"), brief("vi"), brief("svi"), brief("cvb0"),
                                  chains("gibbs"), chains("collapsed")})
    models.push_back(bayes::lda_fit(documents, {"a", "b", "c"}, 2, options, nullptr, false, control)
                         ->to_document());

  for (const Document &options :
       {brief("em"), brief("vi"), brief("squared"), brief("svi").set("batch_size", 2),
        brief("vi").set("hierarchical", true), brief("em").set("absent", "missing"),
        brief("vi").set("absent", "missing")}) {
    bayes::FactorTable table = {documents, nullptr, bayes::Side::row, {}, {"a", "b", "c"}, 0};
    for (int i = 1; i <= 6; ++i) table.line_keys.push_back(std::to_string(i));
    models.push_back(bayes::nmf_fit(table, 2, options, nullptr, control)->to_document());
  }

  // Rows b and c have no number in column y.
  bayes::MemoryCorpus by_row(2), by_column(3);
  const std::int32_t codes[] = {0, 1, 2};
  const double numbers[] = {1.5, -2, 3};
  by_row.append({{codes, 2}, {numbers, 2}});
  by_row.append({{codes, 1}, {numbers + 1, 1}});
  by_row.append({{codes, 1}, {numbers + 2, 1}});
  by_column.append({{codes, 3}, {numbers, 3}});
  by_column.append({{codes, 1}, {numbers + 1, 1}});
  for (const bool hierarchical : {false, true}) {
    bayes::FactorTable table = {by_row,          &by_column, bayes::Side::row,
                                {"a", "b", "c"}, {"x", "y"}, 0};
    const Document options =
        chains("gibbs")
            .set("means", !hierarchical)
            .set("prior", Document::object().set("hierarchical", hierarchical));
    models.push_back(bayes::pmf_fit(table, 2, options, control)->to_document());
  }
  return models;
}

/// How long a fit took stands in its model, and would make every run try other inputs.
Document without_time(const Document &document) {
  Document out = document;
  out.set("seconds", 0.0);
  return out;
}

const std::vector<Document> &valid_models() {
  static const std::vector<Document> models = [] {
    std::vector<Document> out;
    for (const Document &model : fit_models()) out.push_back(without_time(model));
    return out;
  }();
  return models;
}

/// Tries the document with this many changes, chosen by `random`.
void try_changes(const Document &document, int changes, Random &random) {
  for (; changes > 0; --changes) {
    Document other = changed(document, random);
    while (random.below(3) == 0) other = changed(other, random);
    std::string bytes;
    try {
      bytes = sealed(other);
    } catch (const Error &) {
      continue;  // to_bytes refuses the document that the changes have made
    }
    try_model(bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  try_document(bytes);
  try_model(bytes);
  if (size < bayes::model_header_bytes) return 0;
  const std::optional<Document> document =
      try_document(std::string_view(bytes).substr(bayes::model_header_bytes));
  bayes::seal_model(bytes);
  // The fingerprint of the input seeds the changes, so that the same input always does the same.
  std::uint64_t seed = 0;
  for (int i = 8; i < 16; ++i) seed = seed << 8 | static_cast<unsigned char>(bytes[std::size_t(i)]);
  Random random(seed);
  if (document) {
    try_model(bytes);
    try_changes(*document, 4, random);
  } else {
    // Most mutated bytes are not a document: such an input selects a change of a valid one.
    try_changes(valid_models()[random.below(valid_models().size())], 1, random);
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const Document &model : valid_models()) {
    seeds.push_back(sealed(model));
    if (!try_model(seeds.back())) fail("a valid model is not accepted");
  }
  return seeds;
}
