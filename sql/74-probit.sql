-- Probit regression

-- ---- aggregates: rows in, a model out ----

CREATE FUNCTION _probit_fit_transition(
  state internal, y "any", x "any" [, a "any" [, b "any" [, c "any"]]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'probit_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _probit_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'probit_fit_final' @immutable COST 100000;
COMMENT IS 'Internal. Fits a probit regression to the collected rows.';

CREATE AGGREGATE probit_fit(y "any", x "any" [, options jsonb [, weight float8]]) (
  SFUNC = _probit_fit_transition, @state, FINALFUNC = _probit_fit_final, @combine_responses
);
COMMENT IS 'Fits a probit regression of y on predictors x, by Laplace''s approximation about the '
  'posterior mode unless options name another method. '
  @binary_rows;
COMMENT IS @binary_options;
COMMENT IS @binary_weight
  ', or if the method samples.';

CREATE AGGREGATE probit_fit(
  y "any", x "any", start bayes_model, options jsonb [, weight float8]
) (
  SFUNC = _probit_fit_transition, @state, FINALFUNC = _probit_fit_final, @combine_responses
);
COMMENT IS @binary_resume
  '.';
COMMENT IS @binary_resume
  ', with a weight for each row.';

-- ---- relations: a query in, a relation out ----

-- With options of type jsonb a call with two literals would be ambiguous.
CREATE FUNCTION probit_fit(query bayes_query, options "any" DEFAULT NULL)
  RETURNS TABLE (term text, mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME', 'probit_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a probit regression to the rows of a query and returns its coefficients, as '
  'bayes_coefficients does. '
  @response_query
  ' options: see docs/classification.md; NULL means none.';

CREATE FUNCTION probit_model(query bayes_query, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'probit_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a probit regression to the rows of a query and returns the model.'
  ' Query, options and errors are those of probit_fit(query, ...); NULL if there are no rows.'
  ' options: see docs/classification.md; NULL means none.';

-- ---- a model and a row ----

CREATE FUNCTION probit_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS bayes_probability
  AS 'MODULE_PATHNAME' @of_labels COST 200;
COMMENT IS @binary_prediction
  '; the last three NULL for a point estimate (method em). '
  @binary_new_rows
  @binary_prediction_level;
