#include "pg/input/resumable_fit.hpp"

#include <algorithm>
#include <limits>

#include "base/message.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "fit/schedule.hpp"

namespace bayes::pg {
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

/// The options of the fit that goes on, the fit of a model of this description.
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
