#include "mixture/bmm_bootstrap.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/option_table.hpp"
#include "fit/fit_options.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

BmmBootstrapOptions read_bmm_bootstrap_options(const Document &options) {
  require_object(options, "{\"draws\": 999}");
  BmmBootstrapOptions out;
  OptionTable t = OptionTable::reading(options);
  t.integer({"draws", "tables that are drawn"}, out.draws, 1, 100000);
  t.integer(restarts_key, out.restarts, 1, 1000);
  t.seed(seed_key, out.seed);
  t.finish("a bootstrap");
  return out;
}

BmmBootstrap bmm_bootstrap(const BernoulliMixture &model, RowSource &rows,
                           const BmmBootstrapOptions &options, Control &control) {
  const PollScope scope(control);
  const BmmFitStatistics found = bmm_fit_statistics(model, rows, control);
  if (std::isnan(found.g2))
    throw Error(Errc::invalid_argument, "there is no table of answers to compare with the model",
                "No row is complete, or an element has an unlimited number of values.",
                "The bootstrap needs complete rows of boolean and categorical columns.");
  BmmBootstrap out;
  out.draws = options.draws;
  out.rows = std::int64_t(std::llround(found.complete));
  out.g2 = found.g2;
  out.x2 = found.x2;
  const RowShape shape{model.dimension(), false};
  if (8.0 * double(out.rows) * shape.dimension > std::max(control.row_memory, 64e6))
    throw Error(Errc::too_large,
                message("{} simulated rows of {} elements do not fit into maintenance_work_mem",
                        out.rows, shape.dimension),
                {}, "Raise maintenance_work_mem.");

  Document refit = Document::object();
  refit.set("restarts", std::int64_t(options.restarts));
  refit.set("seed", std::int64_t(options.seed));
  QuietControl quiet(control);
  const auto began = std::chrono::steady_clock::now();
  const std::unique_ptr<RowDistribution> distribution = model.row_distribution();
  std::vector<double> x(std::size_t(shape.dimension));
  int g2_larger = 0, x2_larger = 0;
  for (int draw = 0; draw < options.draws; ++draw) {
    MemoryRows drawn(shape);
    for (std::int64_t i = 0; i < out.rows; ++i) {
      poll_in_loop(std::size_t(i));
      distribution->sample(options.seed, draw * out.rows + i, x);
      drawn.append(x.data(), 1);
    }
    const auto fitted = bmm_fit(drawn, model.size(), refit, &model, false, quiet);
    const BmmFitStatistics of_drawn = bmm_fit_statistics(*fitted, drawn, quiet);
    if (of_drawn.g2 >= out.g2) ++g2_larger;
    if (of_drawn.x2 >= out.x2) ++x2_larger;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    control.progress({"bootstrap", draw + 1, options.draws, fitted->info.iterations,
                      fitted->info.iterations, of_drawn.g2,
                      std::numeric_limits<double>::quiet_NaN(), seconds, 0});
  }
  out.g2_p = double(1 + g2_larger) / (1 + options.draws);
  out.x2_p = double(1 + x2_larger) / (1 + options.draws);
  return out;
}

}  // namespace bayes
