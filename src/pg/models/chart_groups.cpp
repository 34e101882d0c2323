#include "pg/models/chart_groups.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "pg/input/query.hpp"
#include "pg/models/lda.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

constexpr const char *hint_of_groups =
    "SELECT date_trunc('month', t), document FROM t: a time or another group, and a document.";

/// Groups of documents, in the order of the type of what they are grouped by: values that are equal
/// in it are one group, under the least of their texts. Types without an order go by their texts.
class Groups {
 public:
  /// Values of groups are copied into CurrentMemoryContext.
  explicit Groups(TupleDesc columns) : context_(CurrentMemoryContext) {
    const Form_pg_attribute column = TupleDescAttr(columns, 0);
    collation_ = OidIsValid(column->attcollation) ? column->attcollation : DEFAULT_COLLATION_OID;
    output_ = output_function_of(column->atttypid);
    guarded([this, column] {
      type_ = lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC_FINFO);
      base_ = getBaseType(column->atttypid);
    });
  }

  /// Adds the proportions of a document of the group with this value; none if they are not known.
  void add(Datum value, std::optional<std::span<const double>> proportions) {
    const std::string text =
        utf8_of_server(guarded([&] { return OidOutputFunctionCall(output_, value); }));
    const auto [at, found] = place(value, text);
    if (!found) {
      if (!proportions && unknown_ == max_groups) return;
      const CurrentContext here(context_);
      const Datum own = guarded([this, value] {
        return type_->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
                                   : datumCopy(value, type_->typbyval, type_->typlen);
      });
      groups_.insert(groups_.begin() + std::ptrdiff_t(at), {own, {.name = text, .shares = {}}});
      ++unknown_;
    }
    ChartRows::Group &to = groups_[at].second;
    to.name = std::min(to.name, text);
    if (!proportions) return;
    if (to.documents == 0) {
      if (std::ssize(groups_) - unknown_ == max_groups) refuse(text);
      --unknown_;
      to.shares.assign(proportions->size(), 0.0);
    }
    ++to.documents;
    for (std::size_t k = 0; k < to.shares.size(); ++k)
      to.shares[k] += ((*proportions)[k] - to.shares[k]) / double(to.documents);
  }

  void end(ChartRows &to) {
    to.unknown_groups = unknown_;
    std::erase_if(groups_, [](const auto &group) { return group.second.documents == 0; });
    set_times();
    to.over_time = !groups_.empty();
    for (std::size_t g = 0; g < groups_.size(); ++g)
      to.over_time &= std::isfinite(groups_[g].second.time) &&
                      (g == 0 || groups_[g].second.time >= groups_[g - 1].second.time + 1);
    if (timestamps()) cut_midnight();
    for (auto &[value, group] : groups_) to.groups.push_back(std::move(group));
  }

 private:
  bool timestamps() const { return base_ == TIMESTAMPOID || base_ == TIMESTAMPTZOID; }

  /// Where the group with this value is, or would be.
  std::pair<std::size_t, bool> place(Datum value, const std::string &text) {
    std::size_t low = 0, high = groups_.size();
    bool found = false;
    guarded([&] {
      while (low < high && !found) {
        const std::size_t middle = (low + high) / 2;
        const auto &[own, group] = groups_[middle];
        const int order =
            OidIsValid(type_->cmp_proc_finfo.fn_oid)
                ? DatumGetInt32(FunctionCall2Coll(&type_->cmp_proc_finfo, collation_, own, value))
                : group.name.compare(text);
        found = order == 0;
        (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
      }
    });
    return {high * found + low * !found, found};
  }

  [[noreturn]] void refuse(const std::string &text) const {
    throw Error(Errc::too_large, message("there are more than {} groups", max_groups),
                message("Another one is \"{}\".", abbreviated(text)),
                timestamps() || base_ == DATEOID
                    ? "Group by longer times: date_trunc('month', t) or date_trunc('year', t)."
                : is_number_type(base_)
                    ? "Group by ranges of the number: width_bucket(), round() or trunc()."
                    : "Group by fewer values: CASE WHEN g IN (...) THEN g ELSE 'other' END.");
  }

  /// Dates and times have distances, but for those that are infinite or beyond what charts know.
  void set_times() {
    constexpr double day = 86400000, most = 8.64e15;
    const double since_1970 = double(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * day;
    // One zone for all keeps distances through the changes of clocks.
    std::optional<double> west;
    for (auto &[value, group] : groups_) {
      if (base_ == DATEOID) {
        // Infinite ones are beyond as well.
        group.time = since_1970 + double(DatumGetInt32(value)) * day;
      } else if (timestamps()) {
        const Timestamp time = DatumGetTimestamp(value);
        if (TIMESTAMP_NOT_FINITE(time)) continue;
        if (!west) west = base_ == TIMESTAMPOID ? 0 : milliseconds_west(time);
        group.time = since_1970 + std::floor(double(time) / 1000) - *west;
      }
      if (std::fabs(group.time) > most) group.time = ChartItem::none;
    }
  }
  /// Of Greenwich, of the zone of the session at that time.
  static double milliseconds_west(TimestampTz time) {
    return guarded([time] {
      int zone = 0;
      pg_tm parts;
      fsec_t fraction;
      const char *name;
      timestamp2tm(time, &zone, &parts, &fraction, &name, nullptr);
      return zone * 1000.0;
    });
  }

  /// Of days there is no need to say that they begin at midnight, nor in which zone.
  void cut_midnight() {
    constexpr std::string_view midnight = " 00:00:00";
    std::set<std::string> days;
    for (const auto &[value, group] : groups_) {
      const std::size_t at = group.name.find(midnight), end = at + midnight.size();
      if (at == std::string::npos) return;
      if (end < group.name.size() && group.name[end] != '+' && group.name[end] != '-') return;
      days.insert(group.name.substr(0, at));
    }
    if (days.size() < groups_.size()) return;
    for (auto &[value, group] : groups_) group.name.resize(group.name.find(midnight));
  }

  const MemoryContext context_;
  Oid collation_ = InvalidOid, output_ = InvalidOid, base_ = InvalidOid;
  TypeCacheEntry *type_ = nullptr;
  /// in their order, with the values that have it
  std::vector<std::pair<Datum, ChartRows::Group>> groups_;
  /// groups without a document that the model knows, at most max_groups
  std::int64_t unknown_ = 0;
};

}  // namespace

void require_columns(TupleDesc columns, int count, const char *detail, const char *hint) {
  if (columns->natts != count)
    throw Error(Errc::invalid_argument,
                message("query returns {} column{}, but must return {}", columns->natts,
                        columns->natts == 1 ? "" : "s", count),
                detail, hint);
}

void read_groups(const std::shared_ptr<const Model> &shared, const char *query, ChartRows &to) {
  const TopicModel &model = topics(*shared);
  const MemoryContext context = CurrentMemoryContext;
  std::optional<Groups> groups;
  std::optional<ModelDocument> reader;
  run_query(
      query, hint_of_groups,
      [&](TupleDesc columns) {
        const CurrentContext here(context);
        require_columns(columns, 2, "The first one groups documents, the second one has them.",
                        hint_of_groups);
        const Oid type = TupleDescAttr(columns, 1)->atttypid;
        if (!is_document_type(guarded([type] { return getBaseType(type); })))
          wrong_column(columns, 1, "The second column is a document: tsvector, text[] or jsonb.",
                       hint_of_groups);
        const char *const name = NameStr(TupleDescAttr(columns, 0)->attname);
        // An expression has no name of its own.
        to.grouped_by = name == std::string_view("?column?") ? "group" : utf8_of_server(name);
        groups.emplace(columns);
        reader.emplace(context, type);
      },
      [&](TupleTableSlot *slot) {
        ++to.read;
        if (slot->tts_isnull[0] || slot->tts_isnull[1]) {
          ++(slot->tts_isnull[0] ? to.ungrouped_documents : to.null_documents);
          return;
        }
        const DocumentTerms document = reader->read(model, slot->tts_values[1]);
        const bool known = !document.terms.empty();
        to.unknown_documents += !known;
        const std::vector<double> mean =
            known ? model.proportions(document).mean : std::vector<double>();
        groups->add(slot->tts_values[0], known ? std::optional(std::span(mean)) : std::nullopt);
      });
  groups->end(to);
}

}  // namespace bayes::pg
