#include "families/normal/normal_prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/aligned.hpp"
#include "base/message.hpp"
#include "data/local_step.hpp"
#include "data/pass.hpp"
#include "data/sweep.hpp"
#include "document/members.hpp"

namespace bayes {

namespace {

/// Sums of differences from a common origin, over the observed elements.
struct ObservedSums {
  /// weight of the rows with at least one observed element
  double rows = 0;
  /// of every element: weight, sum of differences, and sum of their squares
  std::vector<double> count, sum, squares;

  explicit ObservedSums(std::size_t d = 0) : count(d), sum(d), squares(d) {}
  template <class F> void fields(F &f) {
    f.number("rows", rows);
    f.numbers("count", count, count.size());
    f.numbers("sum", sum, sum.size());
    f.numbers("squares", squares, squares.size());
  }
  void add(const ObservedSums &other) {
    rows += other.rows;
    for (std::size_t j = 0; j < count.size(); ++j) {
      count[j] += other.count[j];
      sum[j] += other.sum[j];
      squares[j] += other.squares[j];
    }
  }
};

/// Adds the rows of a block. weight: `size` numbers.
void add_block(const double *block, int size, const double *weight,
               const std::vector<double> &about, ObservedSums &to) {
  bool any[block_rows] = {};
  for (std::size_t j = 0; j < to.count.size(); ++j)
    for (int b = 0; b < size; ++b) {
      const double x = block[j * block_rows + std::size_t(b)];
      if (x != x) continue;
      const double difference = x - about[j];
      any[b] = true;
      to.count[j] += weight[b];
      to.sum[j] += weight[b] * difference;
      to.squares[j] += weight[b] * difference * difference;
    }
  for (int b = 0; b < size; ++b) to.rows += any[b] ? weight[b] : 0;
}

struct ObservedSumsPass {
  static constexpr const char *name = "observed sums";
  using Sums = ObservedSums;
  /// the origin of every element
  std::vector<double> about = {};

  template <class F> void fields(F &f, RowSource &rows) {
    f.numbers("about", about, std::size_t(rows.shape().dimension));
  }
  Sums nothing(RowSource &rows) const { return Sums(std::size_t(rows.shape().dimension)); }
  Sums here(RowSource &rows, Control &control) const {
    const RowShape shape = rows.shape();
    const std::size_t d = std::size_t(shape.dimension);
    Sweep sweep(rows, control);
    const SweepPlan plan = sweep.plan(4.0 * shape.dimension, 24 * d);
    std::vector<Sums> parts(std::size_t(plan.slots), Sums(d));
    Sums total(d);
    const std::vector<double> ones(block_rows, 1.0);
    sweep.run(
        plan,
        [&](int, int slot, const Segment &segment, const Stop &stop) {
          Sums &part = parts[std::size_t(slot)] = Sums(d);
          for (std::int64_t first = 0; first < segment.rows && !stop(); first += block_rows) {
            const double *const block =
                segment.blocks + std::size_t(first / block_rows) * shape.block_doubles();
            add_block(block, int(std::min<std::int64_t>(block_rows, segment.rows - first)),
                      shape.weighted ? block + d * block_rows : ones.data(), about, part);
          }
        },
        [&](int slot) { total.add(parts[std::size_t(slot)]); });
    return total;
  }
};

ObservedSums observed_sums(RowSource &rows, const Vector &about, Control &control) {
  return run(rows, ObservedSumsPass{to_vector(about)}, control);
}

/// The first observed value of every element, NaN for one that is missing in all rows.
struct FirstValuesPass {
  static constexpr const char *name = "first values";
  struct Sums {
    Vector values;
    template <class F> void fields(F &f) { f.vector("values", values); }
    void add(const Sums &other) {
      for (Eigen::Index j = 0; j < values.size(); ++j)
        if (std::isnan(values(j))) values(j) = other.values(j);
    }
  };

  template <class F> void fields(F &, RowSource &) {}
  Sums nothing(RowSource &rows) const {
    return {Vector::Constant(rows.shape().dimension, std::numeric_limits<double>::quiet_NaN())};
  }
  Sums here(RowSource &rows, Control &control) const {
    Sums out = nothing(rows);
    const int d = rows.shape().dimension;
    Buffer block(rows.shape().block_doubles());
    int left = d;
    for (std::int64_t begin = 0; left > 0 && begin < rows.rows(); begin += block_rows) {
      control.poll();
      rows.read_block(begin / block_rows, block.data());
      const int size = int(std::min<std::int64_t>(block_rows, rows.rows() - begin));
      for (int j = 0; j < d; ++j)
        for (int b = 0; b < size && std::isnan(out.values(j)); ++b) {
          out.values(j) = block[std::size_t(j) * block_rows + std::size_t(b)];
          left -= !std::isnan(out.values(j));
        }
    }
    return out;
  }
};

Vector values_found(RowSource &rows, Control &control) {
  return run(rows, FirstValuesPass{}, control).values;
}

/// The first observed value of every element; each must have one.
Vector first_values(RowSource &rows, Control &control) {
  const Vector out = values_found(rows, control);
  for (int j = 0; j < out.size(); ++j)
    if (std::isnan(out(j)))
      throw Error(Errc::invalid_argument, message("element {} is missing in every row", j + 1),
                  "An element without observed values cannot be fitted.", "Leave the element out.");
  return out;
}

/// Improves mean and covariance by EM for a single normal and incomplete rows.
void improve(Survey &survey, RowSource &rows, Control &control) {
  constexpr int iteration_limit = 100;
  // of the log-likelihood per unit of weight: enough for a default prior and a starting point
  constexpr double tolerance = 1e-5;
  const CovarianceFloor floor(survey.variance, 1e-6);
  double before = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < iteration_limit; ++i) {
    Matrix regular = survey.covariance;
    floor.regularise(survey.shape, regular);
    const auto found = local_step<HardAllocation>(
        rows, control, make_scorer(NormalPoint{full_covariance, survey.mean, {regular}}), {0.0});
    survey.mean = found.statistics.mean.col(0);
    survey.covariance = found.statistics.scatter[0] / survey.weight;
    for (Eigen::Index j = 0; j < survey.variance.size(); ++j)
      if (!(survey.variance(j) > 0)) {  // constant: remove what regularise() added
        survey.covariance.row(j).setZero();
        survey.covariance.col(j).setZero();
      }
    if (found.sums.objective - before <= tolerance * survey.weight) return;
    before = found.sums.objective;
  }
}

Survey survey_incomplete(const CovarianceShape &shape, RowSource &rows, Control &control) {
  const Eigen::Index d = rows.shape().dimension;
  const Vector first = first_values(rows, control);
  const auto mean_of = [d](const ObservedSums &sums, const Vector &about) {
    Vector out = about;
    for (Eigen::Index j = 0; j < d; ++j)
      out(j) += sums.sum[std::size_t(j)] / sums.count[std::size_t(j)];
    return out;
  };
  // First the mean, about the first values; then all sums about this mean, so that no digits
  // cancel.
  const Vector about = mean_of(observed_sums(rows, first, control), first);
  const ObservedSums sums = observed_sums(rows, about, control);
  Survey out{shape,     sums.rows, mean_of(sums, about),
             Vector(d), {},        std::accumulate(sums.count.begin(), sums.count.end(), 0.0)};
  for (Eigen::Index j = 0; j < d; ++j) {
    const double shift = out.mean(j) - about(j);
    out.variance(j) = sums.squares[std::size_t(j)] / sums.count[std::size_t(j)] - shift * shift;
  }
  if (!shape.dense) return out;
  out.covariance = out.variance.asDiagonal();
  if (out.mean.allFinite() && out.variance.allFinite()) improve(out, rows, control);
  return out;
}

Survey survey_complete(const CovarianceShape &shape, RowSource &rows, Control &control) {
  const int d = rows.shape().dimension;
  // First the mean, about the first row; then the scatter about this mean, so that no digits
  // cancel.
  const Vector first = values_found(rows, control);
  const auto pass = [&](const CovarianceShape &of, const Vector &about) {
    FactoredScale unit;
    unit.whiten = of.dense ? Matrix(Matrix::Identity(d, d)) : Matrix(Vector::Ones(d));
    return local_step<HardAllocation>(rows, control,
                                      NormalScorer(of, about, {unit}, Vector::Zero(1)), {0.0})
        .statistics;
  };
  const Vector mean = pass(diagonal_covariance, first).mean.col(0);
  const auto statistics = pass(shape.dense ? full_covariance : diagonal_covariance, mean);
  const double weight = statistics.total();
  Survey out{shape, weight, statistics.mean.col(0), {}, {}, weight * d};
  if (shape.dense) {
    out.covariance = statistics.scatter[0] / weight;
    out.variance = out.covariance.diagonal();
  } else {
    out.variance = statistics.scatter[0].col(0) / weight;
  }
  return out;
}

}  // namespace

const PassOver<PartOfRows> first_values_pass = pass_over<PartOfRows, FirstValuesPass>(),
                           observed_sums_pass = pass_over<PartOfRows, ObservedSumsPass>();

Survey survey(const CovarianceShape &shape, RowSource &rows, Control &control) {
  const int d = rows.shape().dimension;
  const Survey out = rows.incomplete() ? survey_incomplete(shape, rows, control)
                                       : survey_complete(shape, rows, control);
  if (!out.mean.allFinite() || !out.variance.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  for (int j = 0; j < d; ++j)
    if (out.variance(j) < min_variance) require_constant(rows, j, control);
  return out;
}

NormalPoint point_of(const Survey &survey) {
  const CovarianceShape &shape = survey.shape.dense ? full_covariance : diagonal_covariance;
  Matrix covariance = survey.shape.dense ? survey.covariance : Matrix(survey.variance);
  CovarianceFloor(survey.variance, 1e-6).regularise(shape, covariance);
  return {shape, survey.mean, {covariance}};
}

namespace {

[[noreturn]] void wrong_shape(const std::string &option, const Tensor &given,
                              const std::string &wanted) {
  throw Error(Errc::invalid_argument, message("option \"{}\" is {}, but must be {}", option,
                                              describe_shape(given.shape), wanted));
}

}  // namespace

Matrix given_scale(const CovarianceShape &shape, const std::string &option, const Tensor &given,
                   int d) {
  Matrix out;
  if (given.shape.empty()) {
    out = shape.dense ? Matrix(given.values[0] * Matrix::Identity(d, d))
                      : Matrix::Constant(shape.rows(d), 1, given.values[0]);
  } else if (shape.dense) {
    if (given.shape != std::vector<std::int64_t>{d, d})
      wrong_shape(option, given, message("a number or an array of {} x {} numbers", d, d));
    out = Eigen::Map<const Matrix>(given.values.data(), d, d);
    if (out != out.transpose())
      throw Error(Errc::invalid_argument, message("option \"{}\" is not symmetric", option));
  } else {
    if (shape.isotropic || given.shape != std::vector<std::int64_t>{d})
      wrong_shape(option, given,
                  shape.isotropic ? "a number" : message("a number or an array of {} numbers", d));
    out = Eigen::Map<const Vector>(given.values.data(), d);
  }
  FactoredScale factored;
  if (!factor(shape, out, d, factored))
    throw Error(Errc::invalid_argument, message("option \"{}\" is not positive definite", option));
  return out;
}

NormalWishart make_normal_prior(const NormalPriorKeys &given, const Survey &rows, int k,
                                const std::string &path) {
  const CovarianceShape &shape = rows.shape;
  const int d = int(rows.mean.size()), p = shape.wishart_dimension(d);
  Matrix scale;
  if (shape.dense)
    scale = rows.covariance;
  else if (shape.isotropic)
    scale = Matrix::Constant(1, 1, rows.variance.mean());
  else
    scale = rows.variance;
  CovarianceFloor(rows.variance, 1e-6).regularise(shape, scale);
  const double a = given.a.value_or(p + 2.0);
  scale /= std::pow(double(k), 2.0 / d);
  if (given.precision) scale *= a;
  if (given.B) scale = given_scale(shape, path + "B", *given.B, d);
  Vector mean = rows.mean;
  if (given.m) {
    const std::vector<double> &m = given.m->values;
    if (m.size() != std::size_t(d))
      throw Error(
          Errc::invalid_argument,
          message("option \"{}m\" has {} numbers, but the rows have {}", path, m.size(), d));
    mean = Eigen::Map<const Vector>(m.data(), d);
  }
  if (!(a > p - 1))
    throw Error(Errc::invalid_argument,
                message("option \"{}a\" is {}, but must be above {}", path, describe(a), p - 1));
  return {
      shape, mean, Vector::Constant(1, given.c.value_or(0.01)), Vector::Constant(1, a), {scale}};
}

Tensor scale_tensor(const CovarianceShape &shape, const Matrix &scale) {
  Tensor out{{}, {scale.data(), scale.data() + scale.size()}};
  if (!shape.isotropic) out.shape.push_back(scale.rows());
  if (shape.dense) out.shape.push_back(scale.cols());
  return out;
}

NormalPriorKeys keys_of(const NormalWishart &prior) {
  NormalPriorKeys out;
  out.m = Tensor{{prior.m.rows()}, to_vector(prior.m.col(0))};
  out.c = prior.c(0);
  out.a = prior.a(0);
  out.B = scale_tensor(prior.shape, prior.B[0]);
  return out;
}

void write_normal_prior(Document &out, const NormalWishart &prior) {
  OptionTable t = OptionTable::writing(std::move(out));
  keys_of(prior).lines(t);
  out = t.document();
}

}  // namespace bayes
