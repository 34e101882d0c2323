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
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "classification/nb.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/nmf.hpp"
#include "factor/pmf.hpp"
#include "fuzz.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "model_uses.hpp"
#include "questions/conditional_model.hpp"
#include "topics/lda.hpp"
#include "valid_models.hpp"

using namespace model_uses;
using bayes::Document;
using bayes::Error;
using bayes::Model;
using bayes::Random;
using bayes::Tensor;
using valid_models::Bare;

namespace {

constexpr bayes::Method bare_methods[] = {bayes::Method::em};

std::unique_ptr<Model> read_bare(const Document &document) {
  auto model = std::make_unique<Bare>();
  model->info = bayes::read_model_info(document, bare_methods, 1600, 10000);
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

/// What any model may be asked.
void ask(const Model &model) {
  attempt([&] { model.describe_parameters(0.9, [](const bayes::Parameter &) {}); });
  attempt([&] { model.overlaps(model); });
  if (model.words().takes) return;
  std::vector<double> x(std::size_t(model.info.dimension), 1.0), out(std::size_t(model.outcomes()));
  attempt([&] { model.predict_row(x, 0.9); });
  attempt([&] { model.probabilities(x, out); });
  attempt([&] { model.log_density(x); });
}

void use(const Model &model) {
  ask(model);
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
  } else if (const auto *linreg = dynamic_cast<const bayes::LinregModel *>(&model)) {
    use_regression(*linreg);
  } else if (const auto *pmf = dynamic_cast<const bayes::PmfModel *>(&model)) {
    use_ratings(*pmf);
  } else if (const auto *nb = dynamic_cast<const bayes::BayesClassifier *>(&model)) {
    use_classes(*nb);
  } else if (const auto *sums = dynamic_cast<const bayes::ConjugateModel *>(&model)) {
    use_conjugate(*sums);
  } else if (const auto *labels = dynamic_cast<const bayes::DirichletCategorical *>(&model)) {
    use_labels(*labels);
  } else if (const auto *binary = dynamic_cast<const bayes::Glm *>(&model)) {
    use_binary(*binary);
  } else if (const auto *conditional = dynamic_cast<const bayes::ConditionalModel *>(&model)) {
    use_conditional(*conditional);
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
  // Whichever form they have, equal models have one header.
  const std::string header = bayes::content_header(bytes);
  if (header.size() != bayes::model_header_bytes ||
      bayes::content_header(once) != once.substr(0, header.size()))
    fail("the header of an accepted model is wrong");
  use(*model);
  return true;
}

/// The bytes of a document, with its seconds behind it, if it has such, or as early versions had
/// them.
std::string sealed(const Document &document, bool seconds) {
  std::string bytes(bayes::model_header_bytes, '\0');
  const Document *const found = seconds ? document.find("seconds") : nullptr;
  const auto *const number = found ? found->as<double>() : nullptr;
  if (!number) {
    document.to_bytes(bytes);
    bayes::seal_model(bytes, false);
    return bytes;
  }
  Document::Object rest;
  for (const Document::Member &member : *document.as<Document::Object>())
    if (member.first != "seconds") rest.push_back(member);
  Document(rest).to_bytes(bytes);
  char behind[sizeof(double)];
  std::memcpy(behind, number, sizeof behind);
  bytes.append(behind, sizeof behind);
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

/// Tries the document with this many changes, chosen by `random`.
void try_changes(const Document &document, int changes, Random &random) {
  for (; changes > 0; --changes) {
    Document other = changed(document, random);
    while (random.below(3) == 0) other = changed(other, random);
    std::string bytes;
    try {
      bytes = sealed(other, random.below(2) == 0);
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
  if (size >= bayes::model_header_bytes + sizeof(double)) {
    bayes::seal_model(bytes);
    try_model(bytes);
  }
  bayes::seal_model(bytes, false);
  // The fingerprint of the input seeds the changes, so that the same input always does the same.
  std::uint64_t seed = 0;
  for (int i = 8; i < 16; ++i) seed = seed << 8 | static_cast<unsigned char>(bytes[std::size_t(i)]);
  Random random(seed);
  if (document) {
    try_model(bytes);
    try_changes(*document, 4, random);
  } else {
    // Most mutated bytes are not a document: such an input selects a change of a valid one.
    try_changes(valid_models::all()[random.below(valid_models::all().size())], 1, random);
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const Document &model : valid_models::all()) {
    for (const bool seconds : {true, false}) {
      seeds.push_back(sealed(model, seconds));
      if (!try_model(seeds.back())) fail("a valid model is not accepted");
    }
  }
  return seeds;
}
