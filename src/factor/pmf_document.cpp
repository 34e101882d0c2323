// Serialisation of probabilistic matrix factorizations; every number is checked on reading.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/pmf_state.hpp"

namespace bayes {
namespace {

/// limit of vectors and means, whose products and squares must not overflow
constexpr double max_vector_element = 1e60;
constexpr double max_variance = 1e100;

// ---- the cells that had numbers ----
//
// One text, in which every row ends with a period. The ascending columns of a row are stored as
// their differences minus 1, beginning at -1. Each difference is written in digits of 5 bits, the
// lowest first; 32 is added to all digits but the last.
constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

void append_gaps(std::span<const std::int32_t> columns, std::string &out) {
  std::int32_t before = -1;
  for (const std::int32_t column : columns) {
    std::uint32_t gap = std::uint32_t(column - before - 1);
    for (; gap >= 32; gap >>= 5) out += digits[32 + (gap & 31)];
    out += digits[gap];
    before = column;
  }
  out += '.';
}

struct DigitValues {
  signed char of[256];
  DigitValues() {
    std::fill(std::begin(of), std::end(of), static_cast<signed char>(-1));
    for (int i = 0; i < 64; ++i)
      of[static_cast<unsigned char>(digits[i])] = static_cast<signed char>(i);
  }
};

/// Returns false if the text was not written by append_gaps for this number of rows.
bool read_gaps(const std::string &text, std::size_t rows, std::int64_t columns,
               PmfModel::State &state) {
  static const DigitValues values;
  std::int64_t before = -1, gap = 0;
  int shift = 0;
  state.begin.assign(1, 0);
  WorkPoll poll;
  for (const char c : text) {
    poll(4);
    if (c == '.') {
      if (shift > 0 || state.begin.size() > rows) return false;
      state.begin.push_back(std::int64_t(state.rated.size()));
      before = -1;
      continue;
    }
    const int digit = values.of[static_cast<unsigned char>(c)];
    if (digit < 0 || shift > 25) return false;
    gap += std::int64_t(digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    if (digit == 0 && shift > 5) return false;
    before += gap + 1;
    if (before >= columns) return false;
    state.rated.push_back(std::int32_t(before));
    gap = shift = 0;
  }
  return shift == 0 && state.begin.size() == rows + 1;
}

void read_rated(const MemberReader &in, PmfModel::State &state) {
  const auto *const text = in.value("rated").as<std::string>();
  if (!text || !read_gaps(*text, state.of(Side::row).keys.size(),
                          std::int64_t(state.of(Side::column).keys.size()), state))
    in.reject("rated", "does not have the columns of every row");
  state.knows_rated = true;
}

// ---- sides ----

Document write_side(const PmfSideDraws &side, std::int64_t draws, std::int64_t rank) {
  const auto keys = std::int64_t(side.keys.size());
  Document out = Document::object();
  out.set("keys", write_keys(side.keys.all()));
  Tensor vectors{{draws, keys, rank}, {}};
  append_numbers(vectors.values, side.vectors);
  out.set("vectors", std::move(vectors));
  if (!side.level.empty())
    out.set("means", Tensor{{draws, keys}, side.means})
        .set("level", Tensor{{draws}, side.level})
        .set("spread", Tensor{{draws}, side.spread});
  if (!side.covariance.empty())
    out.set("center", Tensor{{draws, rank}, side.center})
        .set("covariance", Tensor{{draws, rank, rank}, side.covariance});
  return out;
}

std::vector<double> read_within(const MemberReader &in, const char *key,
                                const std::vector<std::int64_t> &shape, double max) {
  std::vector<double> out = in.tensor(key, shape).values;
  WorkPoll poll;
  for (const double x : out) {
    poll(1);
    if (!(std::abs(x) <= max))
      in.reject(key, message("contains {}, but its numbers must be within {} of 0", describe(x),
                             describe_number(max)));
  }
  return out;
}

std::vector<double> read_variances(const MemberReader &in, const char *key, std::int64_t draws) {
  std::vector<double> out = in.tensor(key, {draws}).values;
  for (const double x : out)
    if (!(x > 0 && x <= max_variance))
      in.reject(key, message("contains {}, but variances must be greater than 0 and at most {}",
                             describe(x), describe_number(max_variance)));
  return out;
}

/// Whether a matrix is symmetric, with positive variances and correlations from -1 to 1. A Cholesky
/// factorization would prove nothing, as draws may be nearly singular.
bool is_covariance(std::span<const double> values, std::size_t rank) {
  for (std::size_t p = 0; p < rank; ++p) {
    if (!(values[p * rank + p] > 0)) return false;
    for (std::size_t q = 0; q < p; ++q) {
      const double x = values[p * rank + q],
                   bound = std::sqrt(values[p * rank + p]) * std::sqrt(values[q * rank + q]);
      if (x != values[q * rank + p] || !(std::abs(x) <= bound * (1 + 1e-6))) return false;
    }
  }
  return true;
}

PmfSideDraws read_side(const MemberReader &in, std::int64_t draws, std::int64_t rank, bool means,
                       bool hierarchical) {
  PmfSideDraws out;
  out.keys = read_keys(in, true);
  const auto keys = std::int64_t(out.keys.size());
  out.vectors = read_within(in, "vectors", {draws, keys, rank}, max_vector_element);
  if (means) {
    out.means = read_within(in, "means", {draws, keys}, max_vector_element);
    out.level = read_within(in, "level", {draws}, max_vector_element);
    out.spread = read_variances(in, "spread", draws);
  }
  if (!hierarchical) return out;
  out.center = read_within(in, "center", {draws, rank}, max_vector_element);
  out.covariance = read_within(in, "covariance", {draws, rank, rank}, max_variance);
  const auto size = static_cast<std::size_t>(rank);
  for (std::size_t at = 0; at < out.covariance.size(); at += size * size)
    if (!is_covariance({out.covariance.data() + at, size * size}, size))
      in.reject("covariance", "must have covariance matrices");
  return out;
}

}  // namespace

void PmfModel::write(Document &document) const {
  const State &s = *state;
  const std::int64_t draws = stored_draws();
  document.set("center", s.center).set("scale", s.scale);
  document.set("noise", Tensor{{draws}, s.noise});
  if (!s.hierarchical()) document.set("c", Tensor{{draws}, s.c});
  document.set("row_draws", write_side(s.of(Side::row), draws, rank()));
  document.set("column_draws", write_side(s.of(Side::column), draws, rank()));
  if (!s.knows_rated) return;
  std::string rated;
  for (std::size_t i = 0; i + 1 < s.begin.size(); ++i) {
    poll_in_loop(i);
    append_gaps(s.rated_of(std::int32_t(i)), rated);
  }
  document.set("rated", std::move(rated));
}

std::unique_ptr<Model> read_pmf_model(const Document &document) {
  auto model = std::make_unique<PmfModel>();
  const MemberReader in(document);
  model->info = read_model_info(document, pmf_methods, factor_max_keys, factor_max_factors);
  PmfModel::State &state = *model->state;
  state.center = in.number("center", -1e300, 1e300);
  state.scale = in.number("scale", 0, 1e301, true);
  const std::int64_t draws = in.tensor("noise", {-1}).shape[0];
  if (draws == 0) in.reject("noise", "must not be empty");
  state.noise = read_variances(in, "noise", draws);
  const bool hierarchical = !in.has("c");
  if (!hierarchical) state.c = read_variances(in, "c", draws);
  const bool means = in.object("row_draws").has("means");
  for (const Side side : {Side::row, Side::column})
    state.of(side) = read_side(in.object(side == Side::row ? "row_draws" : "column_draws"), draws,
                               model->rank(), means, hierarchical);
  if (state.of(Side::column).keys.size() != std::size_t(model->info.dimension))
    in.reject("dimension", "is not the number of columns");
  if (in.has("rated")) read_rated(in, state);
  return model;
}

}  // namespace bayes
