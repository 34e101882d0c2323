#include "pg/input/fit_data.hpp"

#include "base/message.hpp"

namespace bayes::pg {

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
