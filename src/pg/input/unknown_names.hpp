// NOTICEs about names in rows that a model does not know, which would otherwise count as nothing
// known without a word: a label that is misspelt, a column that is called otherwise.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bayes::pg {

/// The known name (UTF-8) with the smallest edit distance; nullopt if there is none, or none within
/// `farthest`. Of equally near ones the first. Names are compared to a length of 255 bytes.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known,
                                        int farthest);

/// NOTICE, once in a statement for each place, that a row has a label that the model does not know,
/// with the nearest one that it does. `place`: "column \"a\"".
void report_unknown_label(const std::string &place, std::string_view label,
                          const std::function<std::vector<std::string>()> &known);

/// NOTICE, once in a statement, that rows lack a column of the model, if one of their `others`,
/// which the model does not know, is called nearly so.
void report_misspelt_column(const std::string &column, std::span<const std::string> others);

}  // namespace bayes::pg
