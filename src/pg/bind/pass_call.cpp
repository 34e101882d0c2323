#include "pg/bind/pass_call.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "data/remote_rows.hpp"
#include "document/model.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/pass_value.hpp"

namespace bayes::pg {

PassCall::PassCall(Datum request) : message_(document_of_pass(request)) {
  const PassReader given(message_);
  if (const std::string &version = given.text("version"); version != library_version)
    throw Error(Errc::invalid_argument,
                message("this server has pg_bayes {}, but the server of the fit has {}",
                        library_version, version),
                "Servers that work on one fit must have the same version.",
                "Install the same version on all of them.");
  fit_ = given.text("fit");
}

const Document &PassCall::body() const { return PassReader(message_).member("request"); }

int PassCall::part_of_shard(std::int64_t shard) const {
  const auto place = [shard](const Document::List &list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (const auto *const each = list[i].as<std::int64_t>(); each && *each == shard)
        return int(i);
    return -1;
  };
  const PassReader given(message_);
  if (const Document *const only = message_.find("only"); only && place(given.list("only")) < 0)
    return -1;
  return place(given.list("shards"));
}

Document PassCall::answer(int part) const {
  const std::string &pass = PassReader(body()).text("pass");
  if (pass == "forget") {
    forget_kept_rows(fit_);
    return Document::object();
  }
  KeptRows *const kept = find_kept_rows({fit_, part});
  if (!kept) return {};
  if (pass == "describe") return kept->end();
  ServerControl control;
  return pass == "settle" ? kept->settle(body(), control) : kept->answer(body(), control);
}

Document PassCall::answered(int part, Document answer) {
  Document out = Document::object();
  out.set("part", part).set("answer", std::move(answer));
  return out;
}

KeptRows &begin_kept_rows(const PassCall &call, int part, FunctionCallInfo fcinfo, int first) {
  std::vector<Oid> types;
  for (int i = first; i < PG_NARGS(); ++i) types.push_back(argument_type(fcinfo, i));
  return keep_rows({call.fit(), part}, {call.body(), types});
}

}  // namespace bayes::pg
