#include "pg/input/unknown_names.hpp"

#include <algorithm>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// what varstr_levenshtein takes
constexpr std::size_t max_bytes = 255;
/// A misspelt column differs by at most so much, and by less than half of its length.
constexpr int max_misspelling = 2;

/// The text in the database's encoding, cut where a character ends. Raises.
std::string_view comparable(std::string_view text) {
  const char *const out = server_of_utf8(text.data(), text.size());
  const std::size_t size = out == text.data() ? text.size() : std::strlen(out);
  return {out, std::size_t(pg_mbcliplen(out, int(size), int(max_bytes)))};
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known,
                                        int farthest) {
  std::size_t best = known.size();
  const ScopedContext scratch(CurrentMemoryContext, "pg_bayes names");
  const CurrentContext here(scratch);
  guarded([&] {
    const std::string_view from = comparable(name);
    int nearest = farthest;
    for (std::size_t i = 0; i < known.size(); ++i) {
      CHECK_FOR_INTERRUPTS();
      const std::string_view to = comparable(known[i]);
      const int distance = varstr_levenshtein_less_equal(from.data(), int(from.size()), to.data(),
                                                         int(to.size()), 1, 1, 1, nearest, false);
      if (distance > nearest || (best < known.size() && distance == nearest)) continue;
      nearest = distance;
      best = i;
    }
  });
  return best < known.size() ? std::optional(known[best]) : std::nullopt;
}

void report_unknown_label(const std::string &place, std::string_view label,
                          const std::function<std::vector<std::string>()> &known) {
  if (!first_in_statement("unknown label of " + place)) return;
  const std::vector<std::string> names = known();
  const auto nearest = nearest_name(label, names, int(max_bytes));
  report(NOTICE,
         message("{} has the label {}, which the model does not know", place,
                 describe(Document(abbreviated(label)))),
         "It is no evidence; densities and probabilities of the label itself are those of one more "
         "label without rows.",
         nearest ? message("The nearest of the {} labels that the model knows is {}.", names.size(),
                           describe(Document(abbreviated(*nearest))))
                 : std::string());
}

void report_misspelt_column(const std::string &column, std::span<const std::string> others) {
  const int farthest = std::min(max_misspelling, (int(column.size()) - 1) / 2);
  const auto nearest = nearest_name(column, others, farthest);
  if (!nearest || !first_in_statement("misspelt column " + column)) return;
  report(NOTICE,
         message("rows have no column {}, which counts as NULL", describe(Document(column))),
         message("They have a column {}, which the model does not know.",
                 describe(Document(*nearest))),
         "Columns are matched by name; additional columns are ignored.");
}

}  // namespace bayes::pg
