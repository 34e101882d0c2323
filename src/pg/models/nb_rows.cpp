#include "pg/models/nb_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.hpp"
#include "data/row_reference.hpp"
#include "pg/bind/binding.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {
namespace {

const SumsKind nb_sums('n', "statistics", "leave out rare words and labels.", make_sums<NbRows>);

/// The function that throws an Error if a label, or the name of a feature, is too long, or if there
/// are too many of them.
TermDictionary::Refuse refusal(const char *what, const char *many, std::size_t most,
                               const char *hint) {
  return [=](TermDictionary::Excess excess, std::string_view text) {
    if (excess == TermDictionary::Excess::length)
      throw Error(
          Errc::too_large,
          message("{} is {} bytes long, but the limit is {}", what, text.size(), max_term_bytes),
          message("It begins with \"{}\".", abbreviated(text)), "md5() makes a short one.");
    throw Error(Errc::too_large, message("rows have more than {} {}", most, many), {}, hint);
  };
}

}  // namespace

const SumsKind &NbRows::kind() const { return nb_sums; }

Missing missing_of(std::string_view option) {
  return option == "skip" ? Missing::skip : option == "error" ? Missing::error : Missing::keep;
}

/// The labels of the classes, numbered in the order of their first occurrence.
struct NbRows::Classes final : SymbolCodes {
  TermDictionary labels{
      std::size_t(nb_max_classes),
      refusal("the label of a class", "classes", nb_max_classes,
              "A label is one of a limited number of classes; use linreg_fit to predict numbers.")};
  double code(std::string_view label) override { return labels.number(label); }
};

/// The features of sparse rows.
struct NbRows::Words {
  explicit Words(Oid type) : reader(type) {}
  FeatureReader reader;
  TermDictionary names{std::size_t(nb_max_words), refusal("the name of a feature", "features",
                                                          nb_max_words, "Leave out rare words.")};
  /// the labels of each feature whose values are strings; nullptr for other features
  std::vector<std::unique_ptr<ColumnLabels>> labels;
  /// the features of the current row
  std::vector<NbWord> row;
};

NbRows::NbRows(MemoryContext context)
    : SumsWithParameters(2),
      label_type_(context),
      context_(context),
      classes_(std::make_unique<Classes>()) {}

NbRows::NbRows(MemoryContext context, Oid label, Oid features, FitRequest request)
    : NbRows(context) {
  open(label, features);
  without_parameters();
  begin(std::move(request));
}

NbRows::NbRows(MemoryContext context, FunctionCallInfo fcinfo) : NbRows(context) {
  open(argument_type(fcinfo, 1), argument_type(fcinfo, 2));
  read_parameters(fcinfo);
  begin(parameters_.request(nb_family));
}

NbRows::~NbRows() = default;

void NbRows::open(Oid label, Oid features) {
  label_type_.use(label);
  const Oid base = guarded([features] { return getBaseType(features); });
  FeatureReader::require_type(base);
  if (FeatureReader::reads(base))
    words_ = std::make_unique<Words>(features);
  else
    reader_ = std::make_unique<RowReader>(context_, features);
}

void NbRows::begin(FitRequest request) {
  progress_.begin(nb_family);
  request_ = std::move(request);
  const BayesClassifier *const update = request_.start ? &classifier(*request_.start) : nullptr;
  missing_ = missing_of(nb_begin(rows_, request_.options, update));
  null_on_error_ = request_.null_on_error;
  if (words_) rows_.set_sparse();
  if (words_ || update) sample_.close();
  if (!update || (!words_ && !reader_)) return;
  if (update->sparse() != bool(words_))
    throw Error(Errc::invalid_argument,
                update->sparse()
                    ? "rows have columns, but the model was fitted to objects of names"
                    : "rows are objects of names, but the model was fitted to rows with "
                      "columns",
                {}, "Rows must have the form that they had when the model was fitted.");
  if (reader_) reader_->expect(update->info, UnknownLabels::added);
}

bool NbRows::admit(const NullableDatum *weight) {
  if (!weight) return true;
  const double w = weight->isnull ? 0 : DatumGetFloat8(weight->value);
  if (w > 0 && w <= max_abs_element) return true;
  if (w != 0)
    throw Error(
        Errc::invalid_argument, message("weight of row {} is {}", seen_, format_number(w)),
        "A weight must be finite and not negative: it is the number of times that the row counts.");
  zero_weights_ += !weight->isnull;
  return false;
}

int NbRows::class_of(Datum label) {
  const double code = label_type_.symbol(label, *classes_);
  if (code == code_of_nan)
    throw Error(Errc::invalid_argument, message("the label of row {} is NaN", seen_), {},
                "Leave such rows out with WHERE.");
  return int(code);
}

void NbRows::check_length(std::size_t length) {
  if (rows_.dimension() > 0) {
    if (length != std::size_t(rows_.dimension()))
      wrong_length(length, std::size_t(rows_.dimension()),
                   request_.start ? "the model" : "the first row", seen_);
    return;
  }
  if (length > std::size_t(nb_max_columns))
    throw Error(Errc::too_large, message("row {} has {} elements, but the limit is {}", seen_,
                                         length, nb_max_columns));
  if (request_.start && length != std::size_t(request_.start->info.dimension))
    wrong_length(length, std::size_t(request_.start->info.dimension), "the model", seen_);
  const auto set_columns = [&] { rows_.set_columns(reader_->columns(), int(length)); };
  // A list of likelihoods may not suit the rows of this group alone.
  const Document *const likelihood = request_.options.find("likelihood");
  likelihood && likelihood->as<Document::List>() ? set_columns() : about_statement(set_columns);
}

bool NbRows::complete(Datum features) {
  bool complete = true;
  words_->reader.read(features, seen_,
                      [&](const NamedFeature &feature) { complete &= feature.kind.has_value(); });
  return complete;
}

void NbRows::take(const NamedFeature &feature) {
  Words &words = *words_;
  if (!feature.kind && missing_ == Missing::error)
    refuse_value(std::nullopt, name_of_feature(feature.name, seen_), seen_);
  const std::int32_t known = words.names.size(), number = words.names.number(feature.name);
  if (number == known) {
    rows_.add_feature(feature.name);
    words.labels.emplace_back();
  }
  if (!feature.kind) {
    words.row.push_back({number, missing_value});
    return;
  }
  if (const std::optional<ValueKind> kind = rows_.kind_of(number); !kind) {
    rows_.set_kind(number, *feature.kind);
    if (feature.kind == ValueKind::label)
      words.labels[std::size_t(number)] = std::make_unique<ColumnLabels>(
          std::string(feature.name), std::vector<std::string>(), false);
  } else if (kind != feature.kind) {
    throw Error(
        Errc::invalid_argument,
        message("{} is a {}, but was a {} in the rows before", name_of_feature(feature.name, seen_),
                feature.kind == ValueKind::label ? "string" : name_of(*feature.kind),
                kind == ValueKind::label ? "string" : name_of(*kind)),
        "It must be of the same kind in all rows.");
  }
  words.row.push_back({number, feature.kind == ValueKind::label
                                   ? words.labels[std::size_t(number)]->code(feature.label)
                                   : feature.number});
}

void NbRows::take(const Item &item) {
  if (seen_++ % items_between_shown == 0) progress_.read(seen_);
  const NullableDatum &label = item.values[0], &features = item.values[1];
  if (label.isnull || features.isnull || !admit(item.weight)) return rows_.skip();
  const double w = weight_of(item);
  if (words_) {
    // Checked before the names are added: a row that is left out must not add features.
    if (missing_ == Missing::skip && !complete(features.value)) return rows_.skip();
    words_->row.clear();
    words_->reader.read(features.value, seen_,
                        [this](const NamedFeature &feature) { take(feature); });
    return rows_.add(class_of(label.value), std::span<const NbWord>(words_->row), w, seen_);
  }
  reader_->open(features.value);
  // Options that depend on the columns are checked even if the first row is refused.
  if (rows_.dimension() == 0 && reader_->records()) check_length(reader_->columns().size());
  const auto x = reader_->read(features.value, seen_, missing_);
  if (!x) return rows_.skip();
  if (x->size() != std::size_t(rows_.dimension())) check_length(x->size());
  if (!rows_.takes(*x)) return rows_.skip();
  rows_.add(class_of(label.value), *x, w, seen_);
  sample_.add(*x, w);
}

NbPart NbRows::part() const {
  std::vector<std::string> labels;
  for (std::int32_t i = 0; i < classes_->labels.size(); ++i)
    labels.emplace_back(classes_->labels.term(i));
  RowColumns names;
  if (words_)
    for (std::int32_t i = 0; i < words_->names.size(); ++i) {
      const auto &of = words_->labels[std::size_t(i)];
      names.push_back({std::string(words_->names.term(i)),
                       rows_.kind_of(i).value_or(ValueKind::number),
                       of ? of->all() : std::vector<std::string>()});
    }
  else if (reader_)
    names = reader_->columns();
  NbPart out(rows_, labels, names);
  out.merge(others_);
  return out;
}

RowSample NbRows::sample() const {
  RowSample out = sample_;
  if (reader_) out.set_columns(reader_->columns());
  out.merge(sample_of_others_);
  return out;
}

void NbRows::serialize(std::string &out) {
  parameters_.write(out);
  put_plain(out, zero_weights_);
  put_bytes(out, sample().to_bytes());
  out += part().to_bytes();
}

void NbRows::combine(const char *at, const char *end) {
  if (combine_parameters(at, end)) begin(parameters_.request(nb_family));
  zero_weights_ += take_plain<std::int64_t>(at, end);
  sample_of_others_.merge(RowSample::from_bytes(take_bytes(at, end)));
  others_.merge(NbPart::from_bytes({at, std::size_t(end - at)}));
}

void NbRows::clear() {
  rows_ = NbAccumulator();
  others_ = NbPart();
  words_.reset();
  reader_.reset();
}

std::unique_ptr<Model> NbRows::fit(std::string *bytes) {
  if (warn_of_refusal(*this)) return nullptr;
  std::unique_ptr<BayesClassifier> model;
  progress_.has_read(seen_);
  const bool fitted = attempt(progress_, null_on_error_, [&](Control &control) {
    control.begins(Method::exact, std::numeric_limits<double>::infinity());
    const NbPart all = part();
    if (all.empty()) {
      if (zero_weights_ > 0) refuse_zero_weights("row");
      return false;
    }
    model = nb_fit(all, request_.options, request_.start ? &classifier(*request_.start) : nullptr);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    model->info.seconds = seconds.count();
    if (bytes) model->info.reference = reference_of(*model, sample(), control);
    progress_.writing();
    if (bytes) *bytes = bytes_of(*model);
    if (!model->sparse() && !request_.start) {
      note_positions(model->info.columns);
      report_names_of_rows(model->info.columns);
      for (const int j : model->constant_features())
        note_scale(model->info.columns.empty() ? message("x{}", j + 1)
                                               : quoted_names(model->info.columns)[std::size_t(j)]);
    }
    if (!too_few_to_warn(model->info.rows))
      for (const int j : model->copies_of_label())
        warn_of_response(model->info.columns, std::size_t(j), "label");
    return true;
  });
  if (!fitted) return nullptr;
  return model;
}

std::string NbRows::model_bytes() {
  std::string bytes;
  fit(&bytes);
  return bytes;
}

}  // namespace bayes::pg
