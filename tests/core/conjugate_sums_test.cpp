// What conjugate models keep of rows: sums in any order and in parts, of frames that move, stored.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "conjugate/dirichlet_categorical.hpp"
#include "conjugate_support.hpp"

using namespace bayes;
using namespace conjugate_models;

BOOST_AUTO_TEST_SUITE(conjugate_sums)

BOOST_AUTO_TEST_CASE(order_merge_and_moving_frames) {
  for (const ConjugateKind kind : kinds) {
    for (const double offset : {0.0, 1e8}) {
      if (offset > 0 && kind != ConjugateKind::normal_inverse_gamma) continue;
      std::vector<Row> rows = make_rows(kind, 3000, 8, true);
      for (Row &row : rows) row.x += offset;
      const auto prior = proper_prior(kind);
      const auto text = [&](const ConjugateSums &sums) {
        return ConjugateModel(kind, prior, sums).to_document().to_json();
      };
      ConjugateSums backward, first, second, inverse;
      for (std::size_t i = rows.size(); i-- > 0;) backward.add(kind, rows[i].x, rows[i].weight, 1);
      const std::string whole = text(sums_of(kind, rows));
      BOOST_TEST(text(backward) == whole);
      // models of parts, stored and read again
      for (std::size_t i = 0; i < rows.size(); ++i)
        (i % 3 == 0 ? first : second).add(kind, rows[i].x, rows[i].weight, 1);
      ConjugateModel a(kind, prior, first), b(kind, prior, second);
      const auto read = Model::from_bytes(a.to_bytes());
      BOOST_TEST(read->to_document().to_json() == a.to_document().to_json());
      read->merge(*Model::from_bytes(b.to_bytes()));
      const auto &merged = static_cast<const ConjugateModel &>(*read);
      const ConjugateModel all(kind, prior, sums_of(kind, rows));
      for (std::size_t i = 0; i < 4; ++i)
        BOOST_TEST(near(merged.posterior()[i], all.posterior()[i], 1e-14));
      // a frame of 50 rows that moves over all of them
      const std::size_t width = 50;
      int declined = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        inverse.add(kind, rows[i].x, rows[i].weight, 1);
        if (i < width) continue;
        const std::vector<Row> frame(rows.begin() + long(i - width) + 1,
                                     rows.begin() + long(i) + 1);
        if (!inverse.add(kind, rows[i - width].x, rows[i - width].weight, -1)) {
          inverse = sums_of(kind, frame);
          ++declined;
        }
        if (i % 500 != 0) continue;
        const ConjugateModel moved(kind, prior, inverse), anew(kind, prior, sums_of(kind, frame));
        for (std::size_t k = 0; k < 4; ++k)
          BOOST_TEST(near(moved.posterior()[k], anew.posterior()[k], 1e-13));
        BOOST_TEST(moved.info.rows == std::int64_t(width));
      }
      BOOST_TEST(declined == 0);
    }
  }
}

// To be stored, the second part of the sum of these weights is rounded to half a unit of the first,
// which is odd.
BOOST_AUTO_TEST_CASE(sums_that_move_when_rounded_are_read) {
  const double weights[] = {1, 0x1p-52, 0x1p-53 - 0x1p-106};
  for (const ConjugateKind kind : kinds) {
    ConjugateSums sums;
    for (const double weight : weights) sums.add(kind, 1, weight, 1);
    const ConjugateModel model(kind, proper_prior(kind), sums);
    const auto read = Model::from_bytes(model.to_bytes());
    for (std::size_t i = 0; i < 4; ++i)
      BOOST_TEST(near(static_cast<const ConjugateModel &>(*read).posterior()[i],
                      model.posterior()[i], 1e-15));
    BOOST_TEST(read->to_document().to_json() == model.to_document().to_json());
  }
  LabelSums labels;
  for (const double weight : weights) labels.add("a", weight, 1);
  const DirichletCategorical model({}, labels);
  BOOST_TEST(Model::from_bytes(model.to_bytes())->to_document().to_json() ==
             model.to_document().to_json());
}

// A huge value that leaves the frame takes the digits of the others with it: then the sums decline.
BOOST_AUTO_TEST_CASE(frames_that_lose_digits_decline) {
  const auto normal = ConjugateKind::normal_inverse_gamma;
  ConjugateSums sums;
  sums.add(normal, 1e100, 1, 1);
  for (int i = 0; i < 10; ++i) sums.add(normal, i, 1, 1);
  BOOST_TEST(!sums.add(normal, 1e100, 1, -1));
  const auto bernoulli = ConjugateKind::beta_bernoulli;
  ConjugateSums weights;
  weights.add(bernoulli, 1, 1e100, 1);
  weights.add(bernoulli, 0, 0.1, 1);
  ConjugateSums apart = weights;  // no other success
  BOOST_TEST(apart.add(bernoulli, 1, 1e100, -1));
  BOOST_TEST((apart.sums[0].hi == 0 && apart.sums[1].hi == 0.1));
  weights.add(bernoulli, 1, 0.1, 1);
  BOOST_TEST(!weights.add(bernoulli, 1, 1e100, -1));
  ConjugateSums few = sums_of(bernoulli, {{1, 1e20}, {1, 1e-5}, {0, 1e20}});
  BOOST_TEST(!few.add(bernoulli, 1, 1e20, -1));
  // equal values do not
  ConjugateSums equal;
  for (int i = 0; i < 5; ++i) equal.add(normal, 0.1, 1, 1);
  for (int i = 0; i < 4; ++i) BOOST_TEST(equal.add(normal, 0.1, 1, -1));
}

// Weights that grow or fall by 10^22 within a frame: what leaves it altogether leaves nothing, and
// what is left is right to 12 digits, however small beside what was there.
BOOST_AUTO_TEST_CASE(frames_of_very_different_weights) {
  const auto kind = ConjugateKind::beta_bernoulli;
  constexpr int rows = 1500, width = 400;
  for (const double growth : {0.13, -0.13}) {
    const auto row = [growth](int i) {
      return Row{double(i < 700 && i * i % 11 < 4), std::exp(growth * i)};
    };
    const auto label_of = [&row](int i) { return row(i).x != 0 ? "a" : i % 2 ? "b" : "c"; };
    const auto frame_until = [&](int end, ConjugateSums &sums, LabelSums &labels) {
      for (int i = std::max(0, end - width); i < end; ++i) {
        sums.add(kind, row(i).x, row(i).weight, 1);
        labels.add(label_of(i), row(i).weight, 1);
      }
    };
    ConjugateSums sums;
    LabelSums labels;
    int wrong = 0, declined = 0;
    for (int i = 0; i < rows; ++i) {
      sums.add(kind, row(i).x, row(i).weight, 1);
      labels.add(label_of(i), row(i).weight, 1);
      if (i < width) continue;
      ConjugateSums anew;
      LabelSums labels_anew;
      frame_until(i + 1, anew, labels_anew);
      const int first = i - width;
      if (!sums.add(kind, row(first).x, row(first).weight, -1)) sums = anew, ++declined;
      if (!labels.add(label_of(first), row(first).weight, -1)) labels = labels_anew, ++declined;
      for (int k = 0; k < 2; ++k)
        wrong += !(std::fabs(sums.sums[k].hi - anew.sums[k].hi) <= 1e-12 * anew.sums[k].hi);
      wrong += labels.weights.size() != labels_anew.weights.size();
      for (const auto &[label, own] : labels_anew.weights)
        wrong += !(std::fabs(labels.weights[label].sum.hi - own.sum.hi) <= 1e-12 * own.sum.hi);
    }
    BOOST_TEST(wrong == 0);
    // A frame made anew lasts.
    if (growth > 0)
      BOOST_TEST(declined == 0);
    else
      BOOST_TEST((declined > 0 && declined < rows / 10));
  }
}

// The sum of weights, too, keeps its digits or declines.
BOOST_AUTO_TEST_CASE(frames_of_normals_and_very_different_weights) {
  const auto kind = ConjugateKind::normal_inverse_gamma;
  ConjugateSums weights;
  weights.add(kind, 5, 1e30, 1);  // at the shift: no squares
  for (int i = 0; i < 10; ++i) weights.add(kind, i, 1, 1);
  BOOST_TEST(!weights.add(kind, 5, 1e30, -1));
}

BOOST_AUTO_TEST_CASE(squares_of_sums_beyond_doubles) {
  const auto sums = sums_of(ConjugateKind::normal_inverse_gamma, {{0, 1e100}, {1e60, 1e100}});
  BOOST_TEST(std::fabs(sums.squares().hi / 5e219 - 1) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
