#include "pg/input/feature_reader.hpp"

#include <cmath>

#include "base/message.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"

namespace bayes::pg {
namespace {

constexpr const char *object_of_features =
    "A row as jsonb is an object of names and numbers, booleans, strings or nulls: {\"money\": 3, "
    "\"html\": true}.";

}  // namespace

std::string name_of_feature(std::string_view name, std::int64_t row) {
  const std::string feature = message("feature \"{}\"", abbreviated(name));
  return row > 0 ? message("{} of row {}", feature, row) : feature;
}

void FeatureReader::require_type(Oid base) {
  const Oid element = guarded([base] { return get_element_type(base); });
  if (element == TEXTOID || element == VARCHAROID || element == BPCHAROID)
    throw SqlError(ERRCODE_DATATYPE_MISMATCH, "features are an array of texts",
                   "Words that are counted are a tsvector, or a jsonb object of words and numbers.",
                   "Write to_tsvector(array_to_string(words, ' ')) for an array of words, or a "
                   "record for one of labels: ROW(a[1], a[2]).");
}

FeatureReader::FeatureReader(Oid type) {
  object_ = guarded([type] { return getBaseType(type); }) == JSONBOID;
  if (!object_) lexemes_.emplace(CurrentMemoryContext, type);  // unused by a tsvector
}

void FeatureReader::read(Datum row, std::int64_t number, const Take &take) {
  if (object_) return read_object(row, number, take);
  lexemes_->read(row, number, [&take](std::string_view term, double count) {
    take({term, ValueKind::number, count});
  });
}

void FeatureReader::read_object(Datum row, std::int64_t number, const Take &take) {
  const JsonbObject object(row);
  if (!object.is_object())
    throw Error(
        Errc::invalid_argument,
        message("{} is {}", number > 0 ? message("row {}", number) : "the row", object.form()),
        object_of_features);
  object.each([&](std::string_view key, const JsonbValue &value) {
    NamedFeature feature{utf8_view(key, key_), ValueKind::number};
    if (feature.name.empty())
      throw Error(Errc::invalid_argument,
                  message("{} has an empty name", name_of_feature("", number)), object_of_features);
    switch (value.type) {
      case jbvNull: feature.kind.reset(); break;
      case jbvBool:
        feature.kind = ValueKind::boolean;
        feature.number = value.val.boolean ? 1 : 0;
        break;
      case jbvString:
        feature.kind = ValueKind::label;
        feature.label =
            utf8_view({value.val.string.val, std::size_t(value.val.string.len)}, label_);
        break;
      default:
        const std::optional<double> x = number_in(value);
        if (!x)
          throw Error(Errc::invalid_argument,
                      message("{} is {}", name_of_feature(feature.name, number), form_of(value)),
                      object_of_features, "Give each of its members a name in the object itself.");
        if (!(std::fabs(*x) <= max_abs_element))
          refuse_value(x, name_of_feature(feature.name, number), number);
        feature.number = *x;
    }
    take(feature);
  });
}

}  // namespace bayes::pg
