// What collections of several kinds have in common that a session keeps: see kept_rows.hpp.
#pragma once

#include <optional>

#include "data/remote_rows.hpp"
#include "models/passes.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/kept_rows.hpp"

namespace bayes::pg {

/// Items that a collector takes as they come, and of which it knows what to say. Part: what passes
/// are made over, once they are arranged.
template <class Collector, class Part> class KeptItems : public KeptRows {
 protected:
  KeptItems(MemoryContext context, const KeptPart &which, const ItemForm &form)
      : KeptRows(context, which),
        collector_(context, form) {}
  Collector collector_;
  std::optional<Part> part_;

 private:
  void read(const NullableDatum *values) final { collector_.add({values, nullptr}); }
  Document described() final {
    collector_.progress.end();
    return collector_.part_message();
  }
  Document passed(const Document &request, Control &control) final {
    return answer_pass(*part_, request, control);
  }
};

/// What a part says of rows once all are read. `columns`: do rows have columns?
template <class Collector> Document rows_described(Collector &collector, bool columns) {
  collector.sort_labels();
  collector.progress.end();
  const std::int64_t rows = collector.rows.rows();
  Document out = Document::object();
  out.set("rows", rows).set("skipped", collector.rows.skipped()).set("seen", collector.seen());
  out.set("zero_weights", collector.zero_weights()).set("dimension", collector.dimension());
  if (rows > 0 && columns) out.set("columns", columns_message(collector.columns()));
  return out;
}

}  // namespace bayes::pg
