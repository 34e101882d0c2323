-- Questions to any model that is a distribution over rows.

CREATE FUNCTION bayes_conditional(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS TABLE (element int, column_name text, label text, value float8, mean float8, sd float8,
    lower float8, upper float8, probability float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 10;
COMMENT IS 'What the NULLs of a row are, given its other columns: for a number one line with its '
  'median (value), mean, standard deviation and the bounds of the interval of probability level, '
  'its quantiles; for a category or a boolean a line for each label with its probability. mean and '
  'sd are NULL where they do not exist, as for a Student t of few degrees of freedom. A row '
  'without a NULL gives no lines. 22023 unless 0 < level < 1. '
  @rows_of_questions;

CREATE FUNCTION bayes_impute(model bayes_model, x anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME' @of_labels COST 200;
COMMENT IS 'The row itself, of its own type, with the NULLs in columns of the model replaced given '
  'its other columns: by the median of a number, rounded for a column of whole numbers, and the '
  'most probable label of a category. Other columns stay, and so does a row without a NULL. '
  'UPDATE t SET spend = (bayes_impute(model, t)).spend WHERE spend IS NULL. 22003 for a number '
  'that the type of its column cannot hold. '
  @rows_of_questions;

CREATE FUNCTION bayes_impute(model bayes_model, x anyelement, n int, seed bigint)
  RETURNS SETOF anyelement
  AS 'MODULE_PATHNAME', 'bayes_impute_draws' @of_labels COST 1000 ROWS 10;
COMMENT IS 'n copies of the row with its NULLs replaced by draws from their joint distribution '
  'given its other columns, for multiple imputation: the values of one copy belong together. Equal '
  'rows with an equal seed have equal draws, so the seed should differ by row, as one made of its '
  'key does. 22023 for n < 0. '
  @rows_of_questions;
