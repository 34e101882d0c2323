#include "pg/input/collector.hpp"

#include "base/message.hpp"

namespace bayes::pg {

void WeightedCollector::leave_out(const NullableDatum &weight) {
  if (!weight.isnull) {
    const double w = DatumGetFloat8(weight.value);
    if (w != 0)
      throw Error(Errc::invalid_argument,
                  message("weight of {} {} is {}", item_name(), seen_, format_number(w)),
                  message("A weight must be finite and not negative: it is the number of times "
                          "that the {} counts.",
                          item_name()));
    ++zero_weights_;
  }
  rows.skip();
}

}  // namespace bayes::pg
