-- Gaussian mixtures

DEFINE @gmm_rows =
  'x: numbers, the same length 1 to 1600 in every row; a NULL x is skipped, NULL elements are '
  'integrated out; no rows give NULL. Errors: 22023 invalid option, argument or element (also '
  'NaN and infinity), or k above the number of distinct rows; 22004 NULL element with option '
  'missing = error; 2202E rows of different length; 22003 no fit exists.';
DEFINE @gmm_query =
  'query: one SELECT of an array column, of an array column and a numeric weight, or of numeric '
  'columns, in addition to those that options id and weight name; it is run as the caller, '
  'read-only. 22023 for any other query, and, with option push_down (docs/scale.md), for one that '
  'cannot be run where the rows are.';
DEFINE @gmm_options = ' options: see docs/gmm.md; NULL means none.';

-- the comment on a selection, of bmm too
DEFINE @mixture_selection =
  'One of the fits of a selection. bic, icl: smaller is better, NULL if the method samples; elbo: '
  'larger is better, NULL unless the method is variational; parameters: the number of free '
  'parameters; degenerate: components are at a bound beyond which the likelihood would rise, so '
  'bic and icl cannot be compared; model: NULL unless option models is true. best: the row to '
  'choose, with the criterion in reason: the best elbo after vi and svi, the best bic after em, '
  'map and mcem, or the smallest k within 1 nat (of bic 2) of it; NULL where no fit can be '
  'compared.';

CREATE TYPE gmm_selection AS (
  k int, covariance text, method text, objective float8, log_likelihood float8, parameters float8,
  bic float8, icl float8, elbo float8, converged boolean, degenerate boolean, model bayes_model,
  best boolean, reason text
);
COMMENT ON TYPE gmm_selection IS @mixture_selection;

-- ---- aggregates: rows in, a model out ----

-- For the forms of gmm_fit that take k, and for those that take a start model.
CREATE FUNCTION _gmm_fit_transition(
  state internal, x "any", k "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'gmm_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _gmm_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'gmm_fit_final' @immutable COST 100000;
COMMENT IS 'Internal. Fits a Gaussian mixture to the collected rows.';

CREATE AGGREGATE gmm_fit(x "any", k int [, options jsonb [, weight float8]]) (
  SFUNC = _gmm_fit_transition, @state, FINALFUNC = _gmm_fit_final, @combine
);
COMMENT IS 'Fits a mixture of k Gaussians (1 to 10000) to the rows x, by variational Bayes unless '
  'options name another method. '
  @gmm_rows;
COMMENT IS 'The same with options.'
  @gmm_options;
COMMENT IS 'The same with a weight for each row: how many times it counts. A row of weight 0 or '
  'NULL is left out; 22023 if negative, not finite, or all zero.'
  @gmm_options;

CREATE AGGREGATE gmm_fit(x "any", start bayes_model [, options jsonb [, weight float8]]) (
  SFUNC = _gmm_fit_transition, @state, FINALFUNC = _gmm_fit_final, @combine
);
COMMENT IS 'Fits a Gaussian mixture, starting from the parameters of a fitted one (for instance '
  'yesterday''s): components keep their numbers, and options covariance and missing and the given '
  'prior are kept unless options say otherwise. With option restarts the result is the best of '
  'that run and of fresh ones. 42804 for a model of another family. '
  @gmm_rows;
COMMENT IS 'The same with options.'
  @gmm_options;
COMMENT IS 'The same with options and weights.'
  @gmm_options;

CREATE FUNCTION _gmm_update_transition(
  state internal, x "any", prior "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'gmm_update_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE AGGREGATE gmm_update(x "any", prior bayes_model [, options jsonb [, weight float8]]) (
  SFUNC = _gmm_update_transition, @state, FINALFUNC = _gmm_fit_final, @combine
);
COMMENT IS 'Learns from more rows: the posterior of the given model is the prior of the new one. '
  @gmm_rows;
COMMENT IS 'The same with options.'
  @gmm_options;
COMMENT IS 'The same with options and weights.'
  @gmm_options;

CREATE FUNCTION _gmm_select_transition(
  state internal, x "any", ks "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'gmm_select_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _gmm_select_final(state internal) RETURNS gmm_selection[]
  AS 'MODULE_PATHNAME', 'gmm_select_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits all mixtures of a selection.';

CREATE AGGREGATE gmm_select(x "any", ks int[] [, options jsonb]) (
  SFUNC = _gmm_select_transition, @state, FINALFUNC = _gmm_select_final, @combine
);
COMMENT IS 'Fits a Gaussian mixture for every k in ks (and every covariance in '
  'options.covariance, which may be an array): SELECT * FROM unnest((SELECT gmm_select(x, '
  '''{1,2,3}'') FROM t)).';
COMMENT IS 'The same with options.'
  @gmm_options;

-- ---- window: rows in, one component for each row out ----

CREATE FUNCTION gmm_cluster(x "any", k int, options jsonb DEFAULT NULL) RETURNS int
  AS 'MODULE_PATHNAME' @window COST 1000;
COMMENT IS 'Fits a mixture of k Gaussians to the whole partition, regardless of the frame, and '
  'returns the most probable component of every row, counted from 1; NULL for a NULL row.'
  @gmm_options;

-- ---- relations: a query in, a relation out ----

CREATE FUNCTION gmm_fit(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (component int, weight float8, mean float8[], covariance float8[], count float8)
  AS 'MODULE_PATHNAME', 'gmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a mixture of k Gaussians to the rows of a query and returns its components, as '
  'gmm_components does. '
  @gmm_query
  @from_start
  @gmm_options;

CREATE FUNCTION gmm_model(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'gmm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a mixture of k Gaussians to the rows of a query and returns the model.'
  ' Query, options and errors are those of gmm_fit(query, ...); NULL if there are no rows.'
  @gmm_options;

CREATE FUNCTION gmm_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS SETOF gmm_selection
  AS 'MODULE_PATHNAME', 'gmm_select_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a Gaussian mixture for every k in ks (and every covariance in '
  'options.covariance) to the rows of a query. '
  @gmm_query
  @gmm_options;

-- ---- a model as relations ----

CREATE FUNCTION gmm_components(model bayes_model)
  RETURNS TABLE (component int, weight float8, mean float8[], covariance float8[], count float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The components at the point estimate, numbered from 1 by decreasing weight: weight in '
  '[0, 1], mean of d numbers, covariance d x d, count the expected number of rows. For vi and svi '
  'the posterior means. 42804 for a model of another family.';

CREATE FUNCTION gmm_posterior(model bayes_model)
  RETURNS TABLE (component int, alpha float8, m float8[], c float8, s float8[], a float8,
    b float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The posterior of a model fitted by vi or svi: weights ~ Dirichlet(alpha), precision '
  'Lambda ~ Wishart(a, b) with E[Lambda] = a b^-1, mean ~ N(m, (c Lambda)^-1), s NULL; with the '
  'independent prior mean ~ N(m, s), c NULL. b and s are d x d. 22023 for a model without a '
  'posterior.';

-- ---- a model and a row ----

CREATE FUNCTION gmm_predict(model bayes_model, x "any") RETURNS int
  AS 'MODULE_PATHNAME' @strict COST 50;
COMMENT IS 'The most probable component of x, from 1. NULL elements of x are integrated out; if '
  'the model was fitted with option missing = skip the result is NULL, with missing = error it is '
  'an error (22004). 22023 for NaN and infinity, 2202E if x does not have the length of the '
  'model''s rows.';

