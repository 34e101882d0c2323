// The observations of sequences as plain weighted rows, for surveys and initialization, which
// ignore their order.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "data/sequences.hpp"

namespace bayes {

/// Observations that other servers make of their sequences: each request says how.
class ObservationsElsewhere final : public RemoteRows {
 public:
  /// `rows`: of the sequences; `of`: stands for their observations here, and outlives this.
  ObservationsElsewhere(RemoteRows &rows, const RowSource &of, bool zeros)
      : elsewhere_(rows),
        of_(of),
        zeros_(zeros) {
    shape_ = of.shape();
    rows_ = of.rows();
  }
  std::vector<Document> ask(const Document &request) override {
    Document way = Document::object();
    way.set("zeros", zeros_).set("incomplete", of_.incomplete() > 0);
    Document out = request;
    out.set("observations", std::move(way));
    return elsewhere_.ask(out);
  }
  const std::vector<std::int64_t> &rows_of_parts() const override {
    return elsewhere_.rows_of_parts();
  }
  std::string name_of_element(int element) const override {
    return elsewhere_.name_of_element(element);
  }

 private:
  RemoteRows &elsewhere_;
  const RowSource &of_;
  const bool zeros_;
};

/// Entirely missing steps and padding have weight 0: their elements are NaN, or (`zeros`) 0 for
/// families that do not handle missing values.
class Observations final : public RowSource {
 public:
  /// `every`: reads every `every`-th block only, unless other servers have the sequences.
  Observations(const Sequences &sequences, bool zeros, std::int64_t every = 1)
      : from_(sequences.rows),
        stored_(from_.shape()),
        zeros_(zeros),
        every_(every),
        block_(stored_.block_doubles()) {
    shape_ = {sequences.dimension, true};
    if (RemoteRows *const remote = from_.remote()) {
      rows_ = sequences.steps;
      elsewhere_.emplace(*remote, *this, zeros);
      return;
    }
    const std::int64_t blocks = (from_.rows() + block_rows - 1) / block_rows,
                       chosen = (blocks + every - 1) / every;
    rows_ = every == 1 ? from_.rows()
                       : chosen * block_rows -
                             ((blocks - 1) % every == 0 ? blocks * block_rows - from_.rows() : 0);
  }

  Observations(const Observations &) = delete;
  Observations &operator=(const Observations &) = delete;

  RemoteRows *remote() override { return elsewhere_ ? &*elsewhere_ : nullptr; }
  std::string name_of_element(int element) const override { return from_.name_of_element(element); }
  std::int64_t stretches() const override {
    return (rows_ + shape_.piece_rows() - 1) / shape_.piece_rows();
  }
  std::span<const Piece> stretch(std::int64_t index) override {
    turn_ ^= 1;
    const std::int64_t each = shape_.piece_rows(), size = std::min(each, rows_ - index * each);
    buffer_[turn_].resize(shape_.piece_doubles());
    for (std::int64_t row = 0; row < size; row += block_rows)
      read_block((index * each + row) / block_rows,
                 buffer_[turn_].data() + std::size_t(row / block_rows) * shape_.block_doubles());
    piece_[turn_] = {buffer_[turn_].data(), size};
    return {&piece_[turn_], 1};
  }
  void read_block(std::int64_t index, double *out) override {
    from_.read_block(index * every_, block_.data());
    const std::size_t d = std::size_t(shape_.dimension);
    std::copy_n(block_.data(), d * block_rows, out);
    const double *const weight = block_.data() + std::size_t(stored_.dimension) * block_rows;
    for (std::size_t b = 0; b < block_rows; ++b) {
      bool missing = true;
      for (std::size_t j = 0; j < d; ++j)
        missing &= out[j * block_rows + b] != out[j * block_rows + b];
      missing |= weight[b] == 0;
      out[d * block_rows + b] = missing ? 0 : std::fabs(weight[b]);
      if (missing)
        for (std::size_t j = 0; j < d; ++j)
          out[j * block_rows + b] = zeros_ ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  RowSource &from_;
  RowShape stored_;
  bool zeros_;
  std::int64_t every_;
  Buffer block_, buffer_[2];
  Piece piece_[2] = {};
  int turn_ = 0;
  std::optional<ObservationsElsewhere> elsewhere_;
};

/// For messages that refer to a sequence by its number in the store.
inline std::string numbering(const Sequences &sequences) {
  return sequences.rows.skipped() > 0 ? " Sequences that were left out are not counted." : "";
}

/// f(numbers, row, sequence from 1, step from 1, weight) for every step, in order. The row's d +
/// labelled numbers have a stride of block_rows.
template <class F> void for_each_step_row(const Sequences &sequences, Control &control, F f) {
  const RowShape shape = sequences.rows.shape();
  Buffer block(shape.block_doubles());
  std::int64_t sequence = 0, step = 0;
  for (std::int64_t row = 0; row < sequences.rows.rows(); ++row) {
    if (row % block_rows == 0) {
      if (control.pending()) control.poll();
      sequences.rows.read_block(row / block_rows, block.data());
    }
    const double *const at = block.data() + row % block_rows;
    const double weight = at[std::size_t(shape.dimension) * block_rows];
    if (weight == 0) continue;
    if (weight < 0) ++sequence, step = 0;
    f(at, row, sequence, ++step, std::fabs(weight));
  }
}
/// The same without the index of the row.
template <class F> void for_each_step(const Sequences &sequences, Control &control, F f) {
  for_each_step_row(sequences, control,
                    [&f](const double *x, std::int64_t, std::int64_t sequence, std::int64_t step,
                         double weight) { f(x, sequence, step, weight); });
}

}  // namespace bayes
