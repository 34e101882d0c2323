// Answers of other servers that say what is not so.
#pragma once

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/document.hpp"
#include "support.hpp"

namespace lying {

using bayes::Document;
using bayes::Random;
using bayes::Tensor;

/// A number that no rows give, or that leads beyond what doubles hold.
inline double falsehood(Random &random) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double all[] = {0,
                            -1,
                            0.5,
                            3,
                            1e9,
                            -1e9,
                            1e17,
                            1e-300,
                            -1e-300,
                            2.7e148,
                            -2.7e148,
                            1e300,
                            -1e300,
                            1.7e308,
                            infinite,
                            -infinite,
                            std::numeric_limits<double>::quiet_NaN()};
  return all[random.below(std::size(all))];
}

/// The document with about one in `every` of its arrays and doubles changed: in one number, in
/// all to one number, or multiplied.
inline Document falsified(const Document &from, Random &random, std::uint64_t every) {
  if (const auto *const object = from.as<Document::Object>()) {
    Document out = Document::object();
    for (const auto &[key, value] : *object) out.set(key, falsified(value, random, every));
    return out;
  }
  if (const auto *const list = from.as<Document::List>()) {
    Document::List out;
    for (const Document &each : *list) out.push_back(falsified(each, random, every));
    return out;
  }
  const auto *const tensor = from.as<Tensor>();
  if (!tensor && !from.as<double>()) return from;
  if (random.below(every) > 0) return from;
  if (!tensor) return falsehood(random);
  Tensor out = *tensor;
  if (out.values.empty()) return out;
  const double said = falsehood(random);
  switch (random.below(3)) {
    case 0: out.values[random.below(out.values.size())] = said; break;
    case 1: std::fill(out.values.begin(), out.values.end(), said); break;
    default:
      for (double &x : out.values) x *= said;
  }
  return out;
}

/// How fits over such answers end.
struct Endings {
  int models = 0, refusals = 0;

  /// This one ends with a model, or with an error that blames no fault of ours.
  template <class F> void check(F fit) {
    try {
      fit();
      ++models;
    } catch (const bayes::Error &error) {
      BOOST_TEST((error.code() != bayes::Errc::internal), error.what());
      ++refusals;
    }
  }

  /// Many ended either way: falsehoods are neither all refused at sight, nor all let pass.
  void check_both() const {
    BOOST_TEST(std::min(models, refusals) > (models + refusals) / 20,
               models << " models and " << refusals << " refusals");
  }
};

}  // namespace lying
