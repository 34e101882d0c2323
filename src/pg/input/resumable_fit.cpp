#include "pg/input/resumable_fit.hpp"

#include <algorithm>

#include "base/message.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "fit/loop_course.hpp"

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

/// The options of the fit that goes on.
Document options_of_resumed(const Document &saved, const Document &given) {
  static constexpr std::string_view changeable[] = {"max_iter", "max_seconds", "on_error"};
  Document out = saved;
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
          "A resumed fit keeps the options that it began with, except for max_iter, "
          "max_seconds and on_error.",
          "To fit with other options, start from the model without option resume.");
  }
  return out;
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
  if (!saved && is_set(info.options, "resumable") && is_sampler(info.method) && !info.out_of_time)
    throw Error(Errc::invalid_argument, "the fit of this model has made all its draws", {},
                "Resume fits for which bayes_info(model) says that max_seconds stopped them.");
  if (!saved)
    throw Error(Errc::invalid_argument, "the fit of this model cannot be resumed",
                "It was fitted without option resumable, or bayes_compact has removed what the "
                "model kept.",
                "Fit with option {\"resumable\": true}. Without option resume, a fit starts from "
                "the model.");
  request.k = saved->k;
  request.options = options_of_resumed(saved->options, request.options);
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
  // The draws of a sampler are all made once it has ended: no option extends them.
  const bool done = is_sampler(model.info.method) && !model.info.out_of_time;
  if (saved_ && !done) model.saved = saved_;
}

void compact(Model &model) { model.saved = nullptr; }

}  // namespace bayes::pg
