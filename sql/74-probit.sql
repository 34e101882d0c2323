-- Probit regression

DEFINE @probit_options = 'options: see docs/classification.md; NULL means none.';

-- ---- aggregates: rows in, a model out ----

CREATE FUNCTION probit_fit_transition(
  state internal, y "any", x {float8[] | record | float8} [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION probit_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME' @immutable COST 100000;
COMMENT IS 'Internal. Fits a probit regression to the collected rows.';

CREATE AGGREGATE probit_fit(
  y "any", x {float8[] | record | float8} [, options jsonb [, weight float8]]
) (
  SFUNC = probit_fit_transition, @state, FINALFUNC = probit_fit_final, @combine_responses
);
COMMENT IS 'Fits a probit regression of y on predictors x, by Laplace''s approximation about the '
  'posterior mode unless options name another method. y: a boolean, or a '
  'number that is 0 or 1. x: numbers, as many in every row; in a record each column is a number, a '
  'boolean or a label, and a column of labels becomes an indicator for each label but a reference, '
  'the first. Rows with a NULL are skipped; no rows give NULL. Errors: 22023 invalid option, '
  'another y, a NaN or an infinite element; 22004 a NULL with option missing = error; 2202E rows '
  'of different length; 42804 y of another type; 54000 more than 5000 terms; 22003 no fit exists.';
COMMENT IS 'The same with options. '
  @probit_options;
COMMENT IS 'The same with a weight for each row: how many times it counts. A row of weight 0 or '
  'NULL is left out; 22023 if negative, not finite, or all zero, or if the method samples. '
  @probit_options;

-- ---- a model as a relation ----

CREATE FUNCTION probit_coefficients(model bayes_model [, level float8])
  RETURNS TABLE (term text, mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 10;
COMMENT IS 'The coefficients, in units of the columns: (intercept), names of columns, or x1, x2 '
  'and so on of arrays, column=label of indicators; posterior mean (or mode) and standard '
  'deviation, and the quantiles 0.025 and 0.975 of the posterior; NULL in a model that is but a '
  'point. 42804 for a model of another family.';
COMMENT IS 'The same with intervals that hold a coefficient with probability level, 22023 unless 0 '
  '< level < 1.';

-- ---- a model and a row ----

CREATE FUNCTION probit_predict(model bayes_model, x "any" [, level float8])
  RETURNS bayes_probability
  AS 'MODULE_PATHNAME' @strict COST 200;
COMMENT IS 'The probability that y is true of a row x: its posterior mean, which is the predictive '
  'probability, its standard deviation, and its quantiles 0.025 and 0.975; the last three NULL of '
  'a point estimate (method em). NULL for a row with a NULL, or with a label that the model does '
  'not know; if it was fitted with option missing = error that is an error (22004, 22023). 2202E '
  'if x does not have the length of the model''s rows; 42804 for a model of another family.';
COMMENT IS 'The same with the quantiles (1 - level) / 2 and (1 + level) / 2; 22023 unless 0 < '
  'level < 1.';

CREATE FUNCTION probit_probability(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The predictive probability that y is true of a row x: the mean of probit_predict.';
