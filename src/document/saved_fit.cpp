#include "document/saved_fit.hpp"

#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

constexpr std::int64_t max_whole = std::numeric_limits<int>::max();

Tensor list_of(const std::vector<double> &values) {
  return {{std::int64_t(values.size())}, values};
}

std::vector<double> read_numbers(const MemberReader &reader, const char *key) {
  std::optional<Tensor> numbers = to_tensor(reader.value(key), true);
  if (!numbers || numbers->shape.size() != 1) reader.reject(key, "is not an array of numbers");
  return std::move(numbers->values);
}

/// objectives, at least one
std::vector<double> read_objectives(const MemberReader &reader) {
  std::vector<double> out = read_numbers(reader, "trace");
  if (out.empty()) reader.reject("trace", "must not be empty");
  for (const double x : out)
    if (!std::isfinite(x)) reader.reject("trace", "must be finite");
  return out;
}

/// Calls f(reader) for every object of a list.
template <class F> void each_object(const MemberReader &reader, const char *key, F f) {
  const Document &value = reader.value(key);
  // An empty list is read from JSON as a tensor.
  if (const Tensor *const none = value.as<Tensor>(); none && none->values.empty()) return;
  const auto *const list = value.as<Document::List>();
  if (!list) reader.reject(key, "is not an array of objects");
  for (const Document &each : *list) {
    poll_here();
    if (!each.as<Document::Object>()) reader.reject(key, "is not an array of objects");
    f(MemberReader(each, message("checkpoint.{}.", key)));
  }
}

Document write_run(const RunRecord &run) {
  Document out = Document::object();
  Document::List loops;
  for (const LoopRecord &loop : run.loops)
    loops.push_back(
        Document::object().set("trace", list_of(loop.trace)).set("state", list_of(loop.state)));
  out.set("loops", std::move(loops));
  if (run.begun_afresh) out.set("begun_afresh", true);
  if (!run.ended) return out;
  out.set("converged", run.converged)
      .set("iterations", run.iterations)
      .set("limit", run.limit)
      .set("limited", run.limited)
      .set("trace", list_of(run.trace));
  Tensor degenerate{{std::int64_t(run.degenerate.size())}, {}};
  for (const int k : run.degenerate) degenerate.values.push_back(k);
  return out.set("degenerate", std::move(degenerate));
}

RunRecord read_run(const MemberReader &reader) {
  RunRecord out;
  each_object(reader, "loops", [&](const MemberReader &loop) {
    out.loops.push_back({read_objectives(loop), read_numbers(loop, "state")});
  });
  if (reader.has("begun_afresh")) out.begun_afresh = reader.boolean("begun_afresh");
  out.ended = reader.has("trace");
  if (!out.ended) return out;
  out.converged = reader.boolean("converged");
  out.iterations = int(reader.integer("iterations", 0, max_whole));
  out.limit = int(reader.integer("limit", 0, max_whole));
  out.limited = reader.boolean("limited");
  out.trace = read_objectives(reader);
  for (const double k : read_numbers(reader, "degenerate")) {
    if (!(k >= 0 && k < double(max_whole)) || k != std::floor(k))
      reader.reject("degenerate", "must be numbers of components");
    out.degenerate.push_back(int(k));
  }
  return out;
}

}  // namespace

Document write_saved_fit(const SavedFit &fit) {
  Document out = Document::object();
  out.set("k", fit.k).set("data", std::int64_t(fit.data));
  out.set("options", fit.options.is_null() ? Document::object() : fit.options);
  if (fit.start) out.set("start", fit.start->to_document()).set("update", fit.update);
  Document::List runs;
  for (const RunRecord &run : fit.course.runs) runs.push_back(write_run(run));
  out.set("runs", std::move(runs));
  if (fit.course.chains.empty()) return out;
  Document::List chains;
  for (const std::vector<double> &each : fit.course.chains)
    chains.push_back(Document::object().set("state", list_of(each)));
  out.set("chains", std::move(chains));
  return out;
}

std::shared_ptr<const SavedFit> read_saved_fit(const MemberReader &reader,
                                               const std::string &family,
                                               ModelReader (*find_reader)(std::string_view)) {
  auto out = std::make_shared<SavedFit>();
  out->k = int(reader.integer("k", 0, max_whole));
  out->options = reader.any_object("options");
  out->data = std::uint64_t(reader.integer("data", std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()));
  if (reader.has("start")) {
    std::unique_ptr<Model> start = Model::from_document(reader.value("start"), find_reader);
    if (start->info.family != family) reader.reject("start", "must be a model of family " + family);
    if (start->saved) reader.reject("start", "must not have a checkpoint of its own");
    out->start = std::move(start);
    out->update = reader.boolean("update");
  }
  each_object(reader, "runs",
              [&](const MemberReader &run) { out->course.runs.push_back(read_run(run)); });
  if (reader.has("chains"))
    each_object(reader, "chains", [&](const MemberReader &chain) {
      out->course.chains.push_back(read_numbers(chain, "state"));
    });
  return out;
}

}  // namespace bayes
