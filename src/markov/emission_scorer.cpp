#include "markov/emission_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/simd.hpp"
#include "data/remote_rows.hpp"
#include "document/document.hpp"
#include "markov/forward_backward.hpp"

namespace bayes {
namespace {

class BlockEmissions final : public EmissionScorer {
 public:
  BlockEmissions(const BlockScorer &scorer, bool whole_steps,
                 std::function<CompleteStep()> completion)
      : scorer_(scorer),
        whole_steps_(whole_steps),
        completion_(std::move(completion)) {}
  int states() const override { return scorer_.components(); }
  double operations() const override { return scorer_.operations(); }
  std::size_t raw_size() const override { return scorer_.raw_size(); }
  std::unique_ptr<EmissionWorker> worker() const override {
    return std::make_unique<Worker>(scorer_, whole_steps_,
                                    completion_ ? completion_() : CompleteStep());
  }
  Document message() const override {
    if (completion_) return EmissionScorer::message();
    return scorer_.message();
  }

 private:
  class Worker final : public EmissionWorker {
   public:
    Worker(const BlockScorer &scorer, bool whole_steps, CompleteStep complete)
        : scorer_(scorer),
          worker_(scorer.worker()),
          whole_steps_(whole_steps),
          complete_(std::move(complete)),
          counts_(std::size_t(scorer.components()) * simd::sum_lanes) {}

    void score(const double *block, int, int, double *out) override {
      find_missing(block);
      worker_->prepare(block);
      for (int k = 0; k < scorer_.components(); ++k) {
        double *const scores = out + std::size_t(k) * block_rows;
        worker_->score(block, k, scores);
        if (any_)
          for (int b = 0; b < block_rows; ++b)
            if (missing_[b]) scores[b] = 0;
      }
    }

    void accumulate(const double *block, std::int64_t first, double *r) override {
      const double *const usable =
          find_missing(block) && complete_ ? completed(block, first, r) : block;
      worker_->prepare(usable);
      for (int k = 0; k < scorer_.components(); ++k, r += block_rows) {
        if (any_)
          for (int b = 0; b < block_rows; ++b)
            if (missing_[b]) r[b] = 0;
        for (int at = 0; at < simd::sum_lanes; at += simd::lanes) {
          double *const count = counts_.data() + std::size_t(k) * simd::sum_lanes + at;
          simd::Vector sum = simd::load(count);
          for (int b = at; b < block_rows; b += simd::sum_lanes) sum += simd::load(r + b);
          simd::store(count, sum);
        }
        worker_->accumulate(usable, k, r);
      }
    }

    void clear() override {
      worker_->clear();
      std::fill(counts_.begin(), counts_.end(), 0.0);
    }

    void reduce(double *counts, double *raw) override {
      for (int k = 0; k < scorer_.components(); ++k)
        counts[k] += simd::sum(counts_.data() + std::size_t(k) * simd::sum_lanes);
      worker_->reduce(raw);
    }

   private:
    /// Marks the steps with missing elements. False if there are none, or if the family handles
    /// missing elements itself (without whole_steps_).
    bool find_missing(const double *block) {
      any_ = false;
      if (!whole_steps_ || !misses_element(scorer_.dimension(), block)) return false;
      for (int b = 0; b < block_rows; ++b) {
        int elements = 0;
        for (int j = 0; j < scorer_.dimension(); ++j) {
          const double x = block[j * block_rows + b];
          elements += x != x;
        }
        any_ |= missing_[b] = elements == scorer_.dimension();
        incomplete_[b] = elements > 0;
      }
      worker_->incomplete = true;
      return true;
    }

    /// A copy of the block with missing elements imputed, except in steps without any observed
    /// element and in steps whose responsibilities are all 0.
    const double *completed(const double *block, std::int64_t first, const double *r) {
      const std::size_t d = std::size_t(scorer_.dimension());
      copy_.assign(block, block + d * block_rows);
      x_.resize(d);
      for (std::size_t b = 0; b < std::size_t(block_rows); ++b) {
        int state = 0;
        while (state < scorer_.components() && r[std::size_t(state) * block_rows + b] == 0) ++state;
        if (!incomplete_[b] || missing_[b] || state == scorer_.components()) continue;
        for (std::size_t j = 0; j < d; ++j) x_[j] = copy_[j * block_rows + b];
        complete_(x_, state, first + std::int64_t(b));
        for (std::size_t j = 0; j < d; ++j) copy_[j * block_rows + b] = x_[j];
      }
      return copy_.data();
    }

    const BlockScorer &scorer_;
    std::unique_ptr<BlockWorker> worker_;
    bool whole_steps_, any_ = false;
    /// by step: are all elements missing; is at least one?
    bool missing_[block_rows] = {}, incomplete_[block_rows] = {};
    CompleteStep complete_;
    Buffer copy_, counts_;
    std::vector<double> x_;
  };

  const BlockScorer &scorer_;
  bool whole_steps_;
  std::function<CompleteStep()> completion_;
};

/// Tabulates the scores of other emissions for observations 0 .. values - 1.
class TableEmissions final : public EmissionScorer {
 public:
  TableEmissions(std::unique_ptr<EmissionScorer> of, int values)
      : of_(std::move(of)),
        padded_((of_->states() + simd::lanes - 1) / simd::lanes * simd::lanes) {
    const std::size_t padded = std::size_t(padded_), k = std::size_t(of_->states());
    table_.values = values;
    table_.likelihoods.assign(std::size_t(values + 1) * padded, 0.0);
    table_.logarithms.assign(std::size_t(values + 1) * padded, minus_infinity);
    table_.shifts.assign(std::size_t(values + 1), 0.0);
    const auto worker = of_->worker();
    Buffer scores(k * block_rows);
    for_each_block(values, [&](int first, int size, const double *block) {
      worker->score(block, 0, size, scores.data());
      for (int b = 0; b < size; ++b) {
        double *const logs = table_.logarithms.data() + std::size_t(first + b) * padded;
        for (std::size_t i = 0; i < k; ++i) logs[i] = scores[i * block_rows + std::size_t(b)];
        const double largest = *std::max_element(logs, logs + k);
        table_.shifts[std::size_t(first + b)] = largest;
        for (std::size_t i = 0; i < k; ++i)
          table_.likelihoods[std::size_t(first + b) * padded + i] = std::exp(logs[i] - largest);
      }
    });
  }

  int states() const override { return of_->states(); }
  double operations() const override { return 4.0 * of_->states(); }
  std::size_t raw_size() const override { return of_->raw_size(); }
  const EmissionTable *table() const override { return &table_; }
  Document message() const override { return of_->message(); }
  std::unique_ptr<EmissionWorker> worker() const override {
    return std::make_unique<Worker>(*this);
  }

 private:
  /// f(first value, number of rows, block) for blocks that hold the values in order, then a missing
  /// one.
  template <class F> static void for_each_block(int values, F f) {
    Buffer block(block_rows, 0.0);
    for (int first = 0; first <= values; first += block_rows) {
      const int size = std::min(block_rows, values + 1 - first);
      for (int b = 0; b < size; ++b)
        block[std::size_t(b)] =
            first + b < values ? first + b : std::numeric_limits<double>::quiet_NaN();
      std::fill(block.begin() + size, block.end(), 0.0);
      f(first, size, block.data());
    }
  }

  class Worker final : public EmissionWorker {
   public:
    explicit Worker(const TableEmissions &scorer)
        : scorer_(scorer),
          worker_(scorer.of_->worker()),
          sums_(std::size_t(scorer.table_.values + 1) * std::size_t(scorer.padded_)) {}
    void score(const double *block, int from, int to, double *out) override {
      worker_->score(block, from, to, out);
    }
    void accumulate(const double *block, std::int64_t first, double *r) override {
      worker_->accumulate(block, first, r);
    }
    double *table_sums() override { return sums_.data(); }
    void clear() override {
      worker_->clear();
      std::fill(sums_.begin(), sums_.end(), 0.0);
    }
    void reduce(double *counts, double *raw) override {
      const std::size_t k = std::size_t(scorer_.states()), padded = std::size_t(scorer_.padded_);
      Buffer r(k * block_rows);
      for_each_block(scorer_.table_.values, [&](int first, int size, const double *block) {
        std::fill(r.begin(), r.end(), 0.0);
        for (int b = 0; b < size; ++b)
          for (std::size_t i = 0; i < k; ++i)
            r[i * block_rows + std::size_t(b)] = sums_[std::size_t(first + b) * padded + i];
        worker_->accumulate(block, 0, r.data());
      });
      worker_->reduce(counts, raw);
    }

   private:
    const TableEmissions &scorer_;
    std::unique_ptr<EmissionWorker> worker_;
    Buffer sums_;
  };

  std::unique_ptr<EmissionScorer> of_;
  int padded_;
  EmissionTable table_;
};

/// For scoring only: there are no statistics.
class ScoringEmissions : public EmissionScorer {
 public:
  std::size_t raw_size() const override { return 0; }

 protected:
  class ScoringWorker : public EmissionWorker {
   public:
    void accumulate(const double *, std::int64_t, double *) override {}
    void clear() override {}
    void reduce(double *, double *) override {}
  };
};

/// Posterior predictive densities, with the parameters of the states integrated out, row by row.
class PredictiveEmissions final : public ScoringEmissions {
 public:
  PredictiveEmissions(int states, int dimension, std::function<std::unique_ptr<RowPart>()> make)
      : states_(states),
        dimension_(dimension),
        make_(std::move(make)) {}
  int states() const override { return states_; }
  double operations() const override { return 10.0 * states_ * dimension_; }
  std::unique_ptr<EmissionWorker> worker() const override {
    return std::make_unique<Worker>(*this);
  }

 private:
  class Worker final : public ScoringWorker {
   public:
    explicit Worker(const PredictiveEmissions &scorer)
        : states_(scorer.states_),
          steps_(scorer.make_()),
          x_(std::size_t(scorer.dimension_)),
          out_(std::size_t(scorer.states_ + simd::lanes - 1) / simd::lanes * simd::lanes) {}
    void score(const double *block, int from, int to, double *out) override {
      for (int b = from; b < to; ++b) {
        bool missing = true;
        for (std::size_t j = 0; j < x_.size(); ++j) {
          x_[j] = block[j * block_rows + std::size_t(b)];
          missing &= x_[j] != x_[j];
        }
        std::fill(out_.begin(), out_.end(), 0.0);
        if (!missing) steps_->condition(x_.data(), false, out_.data());
        for (int k = 0; k < states_; ++k)
          out[std::size_t(k) * block_rows + std::size_t(b)] = out_[std::size_t(k)];
      }
    }

   private:
    int states_;
    std::unique_ptr<RowPart> steps_;
    std::vector<double> x_;
    Buffer out_;
  };

  int states_, dimension_;
  std::function<std::unique_ptr<RowPart>()> make_;
};

/// The scores of other emissions plus a term for each step and state.
class AddedEmissions final : public ScoringEmissions {
 public:
  AddedEmissions(const EmissionScorer &of, int dimension, RowScorer add)
      : of_(of),
        dimension_(dimension),
        add_(std::move(add)) {}
  int states() const override { return of_.states(); }
  double operations() const override { return of_.operations() + 2.0 * states(); }
  std::unique_ptr<EmissionWorker> worker() const override {
    return std::make_unique<Worker>(*this);
  }

 private:
  class Worker final : public ScoringWorker {
   public:
    explicit Worker(const AddedEmissions &scorer)
        : add_(scorer.add_),
          worker_(scorer.of_.worker()),
          x_(std::size_t(scorer.dimension_)),
          more_(std::size_t(scorer.states())) {}
    void score(const double *block, int from, int to, double *out) override {
      worker_->score(block, from, to, out);
      for (std::size_t b = std::size_t(from); b < std::size_t(to); ++b) {
        for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = block[j * block_rows + b];
        std::fill(more_.begin(), more_.end(), 0.0);
        add_(x_.data(), more_.data());
        for (std::size_t k = 0; k < more_.size(); ++k) out[k * block_rows + b] += more_[k];
      }
    }

   private:
    RowScorer add_;
    std::unique_ptr<EmissionWorker> worker_;
    std::vector<double> x_, more_;
  };

  const EmissionScorer &of_;
  int dimension_;
  RowScorer add_;
};

/// Averages of log densities over several emissions.
class AveragedEmissions final : public ScoringEmissions {
 public:
  explicit AveragedEmissions(std::vector<const EmissionScorer *> parts)
      : parts_(std::move(parts)) {}
  int states() const override { return parts_[0]->states(); }
  double operations() const override { return double(parts_.size()) * parts_[0]->operations(); }
  std::unique_ptr<EmissionWorker> worker() const override {
    return std::make_unique<Worker>(*this);
  }

 private:
  class Worker final : public ScoringWorker {
   public:
    explicit Worker(const AveragedEmissions &of)
        : scores_(std::size_t(of.states()) * block_rows),
          possible_(scores_.size()) {
      for (const EmissionScorer *const part : of.parts_) workers_.push_back(part->worker());
    }
    void score(const double *block, int from, int to, double *out) override {
      const std::size_t k = scores_.size() / block_rows;
      // stands for a log density that overflowed to -infinity; finite ones may be about as small
      constexpr double least = -1e290;
      std::fill_n(out, scores_.size(), 0.0);
      std::fill(possible_.begin(), possible_.end(), false);
      for (const auto &worker : workers_) {
        poll_here();
        worker->score(block, from, to, scores_.data());
        for (std::size_t j = 0; j < k; ++j)
          for (std::size_t at = j * block_rows + std::size_t(from),
                           end = j * block_rows + std::size_t(to);
               at < end; ++at) {
            const bool possible = scores_[at] > minus_infinity;
            possible_[at] = possible_[at] || possible;
            out[at] += possible ? scores_[at] : least;
          }
      }
      for (std::size_t at = 0; at < scores_.size(); ++at)
        out[at] = possible_[at] ? out[at] / double(workers_.size()) : minus_infinity;
    }

   private:
    std::vector<std::unique_ptr<EmissionWorker>> workers_;
    Buffer scores_;
    std::vector<char> possible_;
  };

  std::vector<const EmissionScorer *> parts_;
};

}  // namespace

Document EmissionScorer::message() const { refuse_remote("this kind of emission"); }

std::unique_ptr<EmissionScorer> emissions_of(const BlockScorer &scorer, bool whole_steps,
                                             int values, std::function<CompleteStep()> completion) {
  constexpr double most = 1 << 20;  // entries of a table
  auto out = std::make_unique<BlockEmissions>(scorer, whole_steps, std::move(completion));
  if (values == 0 || double(values) * scorer.components() > most) return out;
  return std::make_unique<TableEmissions>(std::move(out), values);
}

std::unique_ptr<EmissionScorer> table_emissions(std::unique_ptr<EmissionScorer> of, int values) {
  return std::make_unique<TableEmissions>(std::move(of), values);
}

std::unique_ptr<EmissionScorer> predictive_emissions(
    int states, int dimension, std::function<std::unique_ptr<RowPart>()> make) {
  return std::make_unique<PredictiveEmissions>(states, dimension, std::move(make));
}

std::unique_ptr<EmissionScorer> emissions_with(const EmissionScorer &of, int dimension,
                                               RowScorer add) {
  return std::make_unique<AddedEmissions>(of, dimension, std::move(add));
}

std::unique_ptr<EmissionScorer> averaged_emissions(std::vector<const EmissionScorer *> parts) {
  return std::make_unique<AveragedEmissions>(std::move(parts));
}

}  // namespace bayes
