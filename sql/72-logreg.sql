-- Logistic regression

-- Definitions that 74-probit.sql uses too.
DEFINE @binary_rows =
  'y: a boolean, or a number that is 0 or 1. x: numbers, as many in every row; in a record each '
  'column is a number, a boolean or a label, and a column of labels becomes an indicator for each '
  'label except the first, which is the reference. Rows with a NULL are skipped; no rows give '
  'NULL. Errors: 22023 invalid option, any other y, a NaN or an infinite element; 22004 a NULL '
  'with option missing = error; 2202E rows of different length; 42804 y of any other type; 54000 '
  'more than 5000 terms; 22003 no fit exists.';
DEFINE @binary_options =
  'The same with options: see docs/classification.md; NULL means none.';
DEFINE @binary_weight =
  'The same with a weight for each row: how many times it counts. A row of weight 0 or NULL is '
  'left out; 22023 if negative, not finite, or all zero';
DEFINE @binary_resume =
  'Goes on with the fit of the same rows that start comes from: option resume must be true '
  '(docs/jobs.md). 22023 if the rows are others, if the fit was not resumable, or without the '
  'option; 42804 for a model of another family';
DEFINE @binary_prediction =
  'The probability that y is true of a row x: its posterior mean, which is the predictive '
  'probability, its standard deviation, and its quantiles (1 - level) / 2 and (1 + level) / 2';
DEFINE @binary_new_rows =
  'NULL for a row with a NULL, or with a label that the model does not know; if it was fitted '
  'with option missing = error that is an error (22004, 22023). 22023 for NaN and infinity; '
  '2202E if x does not have the length of the model''s rows; 42804 for a model of another family.';
DEFINE @binary_prediction_level =
  ' level: 0.95 by default; 22023 unless 0 < level < 1.';

CREATE TYPE bayes_probability AS (mean float8, sd float8, lower float8, upper float8);
COMMENT ON TYPE bayes_probability IS
  'The distribution of an uncertain probability: its mean and standard deviation, and the '
  'quantiles that bound an interval.';

-- ---- aggregates: rows in, a model out ----

CREATE FUNCTION _logreg_fit_transition(
  state internal, y "any", x "any" [, a "any" [, b "any" [, c "any"]]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'logreg_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _logreg_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'logreg_fit_final' @immutable COST 100000;
COMMENT IS 'Internal. Fits a logistic regression to the collected rows.';

CREATE AGGREGATE logreg_fit(y "any", x "any" [, options jsonb [, weight float8]]) (
  SFUNC = _logreg_fit_transition, @state, FINALFUNC = _logreg_fit_final, @combine_responses
);
COMMENT IS 'Fits a logistic regression of y on the predictors x, by Laplace''s approximation about '
  'the posterior mode. '
  @binary_rows;
COMMENT IS @binary_options;
COMMENT IS @binary_weight
  '.';

CREATE AGGREGATE logreg_fit(
  y "any", x "any", start bayes_model, options jsonb [, weight float8]
) (
  SFUNC = _logreg_fit_transition, @state, FINALFUNC = _logreg_fit_final, @combine_responses
);
COMMENT IS @binary_resume
  '.';
COMMENT IS @binary_resume
  ', with a weight for each row.';

-- ---- relations: a query in, a relation out ----

-- With options of type jsonb a call with two literals would be ambiguous.
CREATE FUNCTION logreg_fit(query bayes_query, options "any" DEFAULT NULL)
  RETURNS TABLE (term text, mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME', 'logreg_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a logistic regression to the rows of a query and returns its coefficients, as '
  'bayes_coefficients does. '
  @response_query
  ' options: see docs/classification.md; NULL means none.';

CREATE FUNCTION logreg_model(query bayes_query, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'logreg_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a logistic regression to the rows of a query and returns the model.'
  ' Query, options and errors are those of logreg_fit(query, ...); NULL if there are no rows.'
  ' options: see docs/classification.md; NULL means none.';

-- ---- a model and a row ----

CREATE FUNCTION logreg_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS bayes_probability
  AS 'MODULE_PATHNAME' @of_labels COST 200;
COMMENT IS @binary_prediction
  '. '
  @binary_new_rows
  @binary_prediction_level;
