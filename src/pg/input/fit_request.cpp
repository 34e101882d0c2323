#include "pg/input/fit_request.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/message.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "fit/schedule.hpp"
#include "pg/values/json.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {
namespace {

const char *name_of(Role role) {
  switch (role) {
    case Role::k: return "k";
    case Role::rank: return "rank";
    case Role::ks: return "ks";
    case Role::options: return "options";
    case Role::start: return "start";
    case Role::prior: return "prior";
    case Role::model: return "model";
    case Role::weight: return "weight";
  }
  return "";
}

bool is_model(Role role) {
  return role == Role::start || role == Role::prior || role == Role::model;
}

/// Identifies a varlena without reading more of it than necessary.
ModelIdentity identity(Role role, Datum value) {
  if (is_model(role)) return ModelIdentity::of(value);
  const auto *const datum = static_cast<const char *>(DatumGetPointer(value));
  if (VARATT_IS_EXTERNAL(datum) && !VARATT_IS_EXTERNAL_ONDISK(datum)) return {'x', 0, {}};
  return {'r', VARSIZE_ANY(datum), {datum, std::size_t(VARSIZE_ANY(datum))}};
}

/// An aligned copy of stored bytes, as PostgreSQL's functions need it.
Datum aligned_copy(const std::string &contents) {
  return guarded([&contents] {
    void *const copy = palloc(contents.size());
    std::memcpy(copy, contents.data(), contents.size());
    return PointerGetDatum(copy);
  });
}

std::vector<int> integers(const std::string &contents) {
  const Datum copy = aligned_copy(contents);
  auto *const array = reinterpret_cast<ArrayType *>(DatumGetPointer(copy));
  if (ARR_NDIM(array) != 1)
    throw Error(Errc::array_shape,
                "ks must be a one-dimensional array of at least one number of components");
  if (array_contains_nulls(array)) throw Error(Errc::null_value, "ks must not contain NULL");
  const auto *const first = reinterpret_cast<const std::int32_t *>(ARR_DATA_PTR(array));
  return {first, first + ARR_DIMS(array)[0]};
}

}  // namespace

void put_error(std::string &out, const Error &error) {
  put_plain(out, error.code());
  for (const std::string_view text :
       {std::string_view(error.what()), std::string_view(error.detail()),
        std::string_view(error.hint())}) {
    put_bytes(out, text);
  }
}

Error take_error(const char *&at, const char *end) {
  const Errc code = take_plain<Errc>(at, end);
  std::string_view texts[3];
  for (std::string_view &text : texts) text = take_bytes(at, end);
  return {code, texts[0], texts[1], texts[2]};
}

void refuse_change(Role role) {
  throw StatementError(Error(Errc::invalid_argument,
                             message("{} must be the same for all rows of one fit", name_of(role)),
                             "It differs from the value in the first row.",
                             "To fit one model for each value, GROUP BY it."));
}

bool null_on_error(const Document &options) {
  const Document *const given = options.find("on_error");
  const std::string *const choice = given ? given->as<std::string>() : nullptr;
  return choice && *choice == "null";
}

std::optional<Document> take_option(Document &options, std::string_view key) {
  const Document *const given = options.find(key);
  if (!given) return std::nullopt;
  Document out = *given;
  Document::Object others;
  for (const auto &member : *options.as<Document::Object>()) {
    poll_in_loop(others.size());
    if (member.first != key) others.push_back(member);
  }
  options = std::move(others);
  return out.is_null() ? std::nullopt : std::optional(std::move(out));
}

std::string Parameters::contents_of(Role role, Datum value) {
  if (by_value(role)) {
    const std::int32_t integer = DatumGetInt32(value);
    return {reinterpret_cast<const char *>(&integer), sizeof integer};
  }
  auto *const plain = guarded([value] { return PG_DETOAST_DATUM(value); });
  std::string contents(reinterpret_cast<const char *>(plain), VARSIZE(plain));
  if (PointerGetDatum(plain) != value) pfree(plain);
  return contents;
}

void Parameters::remember(Value &value, Datum seen) {
  if (by_value(value.role)) return;
  const ModelIdentity id = identity(value.role, seen);
  value.form = id.form;
  value.size = id.size;
  value.seen = id.bytes;
}

void Parameters::read(std::span<const Role> roles, const NullableDatum *arguments) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    Value value{roles[i], arguments[i].isnull, {}, {}};
    if (!value.null) {
      value.contents = contents_of(value.role, arguments[i].value);
      remember(value, arguments[i].value);
    }
    values.push_back(std::move(value));
  }
  values_ = std::move(values);
}

bool Parameters::looks_same(const Value &value, const NullableDatum &argument) {
  if (value.null || argument.isnull) return value.null == argument.isnull;
  if (by_value(value.role)) {
    const std::int32_t integer = DatumGetInt32(argument.value);
    return std::memcmp(value.contents.data(), &integer, sizeof integer) == 0;
  }
  const ModelIdentity id = identity(value.role, argument.value);
  return id.form == value.form && id.form != 'x' && id.size == value.size && id.bytes == value.seen;
}

/// Different bytes may still be the same value, toasted differently.
void Parameters::check_contents(Value &value, const NullableDatum &argument) {
  if (value.null || argument.isnull || by_value(value.role) ||
      contents_of(value.role, argument.value) != value.contents)
    refuse_change(value.role);
  remember(value, argument.value);
}

void Parameters::check_same(const Parameters &other) const {
  if (values_.size() != other.values_.size())
    throw Error(Errc::internal, "partial states belong to different aggregates");
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].null != other.values_[i].null ||
        values_[i].contents != other.values_[i].contents)
      refuse_change(values_[i].role);
}

FitRequest Parameters::request(const char *family) const {
  FitRequest request;
  request.family = family;
  for (const Value &value : values_) {
    if (value.null) {
      if (value.role == Role::options) continue;
      throw Error(Errc::null_value, message("{} must not be NULL", name_of(value.role)));
    }
    switch (value.role) {
      case Role::k:
      case Role::rank: {
        std::int32_t k;
        std::memcpy(&k, value.contents.data(), sizeof k);
        request.k = k;
        break;
      }
      case Role::ks: request.ks = integers(value.contents); break;
      case Role::options: request.options = document_of_jsonb(aligned_copy(value.contents)); break;
      case Role::start:
      case Role::prior:
      case Role::model:
        request.start = load_model(aligned_copy(value.contents), family);
        request.k = request.start->info.components;
        request.update = value.role == Role::prior;
        break;
      case Role::weight: break;
    }
  }
  if (std::any_of(values_.begin(), values_.end(),
                  [](const Value &value) { return value.role == Role::ks; }))
    if (const auto given = take_option(request.options, "models")) {
      const Document models = Document::object().set("models", *given);
      OptionTable::reading(models).flag("models", request.models);
    }
  if (*family) apply_resume(request);  // else the options are not those of a fit
  request.null_on_error = pg::null_on_error(request.options);
  return request;
}

bool Parameters::null_on_error() const {
  for (const Value &value : values_)
    if (value.role == Role::options && !value.null)
      return pg::null_on_error(document_of_jsonb(aligned_copy(value.contents)));
  return false;
}

void Parameters::write(std::string &out) const {
  put_plain(out, std::uint32_t(values_.size()));
  for (const Value &value : values_) {
    put_plain(out, value.role);
    put_plain(out, value.null);
    put_bytes(out, value.contents);
  }
}

Parameters Parameters::from_bytes(const char *&at, const char *end) {
  Parameters parameters;
  for (std::uint32_t count = take_plain<std::uint32_t>(at, end); count > 0; --count) {
    Value value{};
    value.role = take_plain<Role>(at, end);
    value.null = take_plain<bool>(at, end);
    value.contents = take_bytes(at, end);
    parameters.values_.push_back(std::move(value));
  }
  return parameters;
}

namespace {

bool is_set(const Document &options, std::string_view key) {
  const Document *const given = options.find(key);
  const bool *const flag = given ? given->as<bool>() : nullptr;
  return flag && *flag;
}

/// A model cannot be copied, but its document can.
std::unique_ptr<Model> copy_of(const Model &model) {
  return Model::from_document(model.to_document());
}

double number_in(const Document &options, std::string_view key) {
  const Document *const found = options.find(key);
  const std::optional<double> number = found ? to_number(*found, false) : std::nullopt;
  return number.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// The options of a fit that resumes the fit of a model with this description.
Document options_of_resumed(const ModelInfo &info, const Document &saved, const Document &given) {
  static constexpr std::string_view changeable[] = {"max_iter", "draws", "max_seconds", "on_error"};
  Document out = saved;
  if (is_sampler(info.method)) {
    const double before = number_in(info.options, "draws"), draws = number_in(given, "draws");
    if (draws < before)
      throw Error(
          Errc::invalid_argument,
          message("option \"draws\" is {}, but the fit that is resumed has {}", draws, before), {},
          "Draws cannot be taken back: give a larger number, or none.");
    if (!(draws > before) && !info.out_of_time)
      throw Error(
          Errc::invalid_argument, "the fit of this model has made all its draws", {},
          message("Give option draws, above {}, to extend it. A fit that is not complete has "
                  "max_seconds in column stopped of bayes_info(model).",
                  before));
    // The default warmup depends on draws.
    if (draws > before) out.set("warmup", std::int64_t(number_in(info.options, "warmup")));
  }
  const auto *const members = given.as<Document::Object>();
  if (!members) return out;
  for (const auto &[key, value] : *members) {
    poll_here();
    if (std::ranges::find(changeable, key) != std::end(changeable)) {
      out.set(key, value);
      continue;
    }
    const Document *const before = saved.find(key);
    if (!before || before->to_json() != value.to_json())
      throw Error(
          Errc::invalid_argument,
          message("option {} cannot be given when a fit is resumed", describe(Document(key))),
          "A resumed fit keeps the options that it began with, except for max_iter, draws, "
          "max_seconds and on_error.",
          "To fit with other options, start from the model without option resume.");
  }
  return in_order_of_jsonb(out);
}

}  // namespace

void apply_resume(FitRequest &request) {
  const std::optional<Document> given = take_option(request.options, "resume");
  if (!given) return;
  bool resume = false;
  const Document alone = Document::object().set("resume", *given);
  OptionTable::reading(alone).flag("resume", resume);
  if (!resume) return;
  if (!request.start || request.update)
    throw Error(Errc::invalid_argument, "there is no fit to resume",
                "Option resume needs the model of a fit in the place where a fit may start from a "
                "model.",
                message("Call {}_fit(..., model, '{\"resume\": true}').", request.family));
  const std::shared_ptr<const SavedFit> saved = request.start->saved;
  const ModelInfo &info = request.start->info;
  if (!saved)
    throw Error(Errc::invalid_argument, "the fit of this model cannot be resumed",
                "It was fitted without option resumable, or bayes_compact has removed what the "
                "model kept.",
                "Fit with option {\"resumable\": true}. Without option resume, a fit starts from "
                "the model.");
  request.k = saved->k;
  request.options = options_of_resumed(info, saved->options, request.options);
  request.update = saved->update;
  request.start = saved->start ? copy_of(*saved->start) : nullptr;
  request.resumed = saved;
}

ResumableFit::ResumableFit(const FitRequest &request, const std::function<std::uint64_t()> &hash,
                           Control &control) {
  if (!is_set(request.options, "resumable")) return;
  const std::uint64_t data = hash();
  if (request.resumed && data != request.resumed->data)
    refuse_other_data("A hash of the data differs from that which the model keeps.");
  saved_ =
      request.resumed ? std::make_shared<SavedFit>(*request.resumed) : std::make_shared<SavedFit>();
  if (!request.resumed) {
    saved_->k = request.k;
    saved_->data = data;
    saved_->update = request.update;
    if (request.start) {
      std::unique_ptr<Model> start = copy_of(*request.start);
      compact(*start);
      saved_->start = std::move(start);
    }
  }
  saved_->options = request.options;
  take_option(saved_->options, "max_seconds");
  take_option(saved_->options, "on_error");
  if (request.resumed) saved_->course.rewind();
  control.checkpoint = &saved_->course;
}

void ResumableFit::save(Model &model) {
  if (saved_) model.saved = saved_;
}

void compact(Model &model) { model.saved = nullptr; }

}  // namespace bayes::pg
