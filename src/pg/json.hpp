// jsonb and Documents.
#pragma once

#include <string>

#include "core/document.hpp"
#include "pg/boundary.hpp"

namespace bayes::pg {

/// A jsonb (any varlena form of it) as a Document: whole numbers become integers, other numbers doubles, arrays of numbers that are
/// rectangular become tensors; inside them the strings "NaN", "Infinity", "-Infinity" and "-0" are numbers too.
Document document_of_jsonb(Datum jsonb);

/// A Document as jsonb.
Datum jsonb_of(const Document &document);

}  // namespace bayes::pg
