#include "pg/input/collector.hpp"

#include "base/message.hpp"

namespace bayes::pg {

void Collector::count_zero(double weight) {
  if (weight != 0)
    throw Error(Errc::invalid_argument,
                message("weight of {} {} is {}", item_name(), seen_, format_number(weight)),
                message("A weight must be finite and not negative: it is the number of times "
                        "that the {} counts.",
                        item_name()));
  ++zero_weights_;
}

void warn_of_failure(const Error &error, const char *result) {
  report(WARNING, message("no {}: {}", result, error.what()), error.detail(), error.hint());
}

Error refusal_of(const Error &error, const char *item_name, std::int64_t number) {
  const std::string end = message("Reading ended at {} {}{}.", item_name, number,
                                  IsParallelWorker() ? " of a parallel worker" : "");
  return {error.code(), error.what(),
          error.detail().empty() ? end : message("{} {}", error.detail(), end), error.hint()};
}

}  // namespace bayes::pg
