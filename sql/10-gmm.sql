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

-- Catches calls with separate columns, as in other languages, and says how to combine them into a
-- row.
CREATE FUNCTION _bayes_columns_transition(state internal, a "any", b "any", k "any")
  RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_columns_transition' @immutable;
COMMENT IS 'Internal. Raises 42804: a row is one argument.';
CREATE AGGREGATE gmm_fit(a "any", b "any", k int) (
  SFUNC = _bayes_columns_transition, @state, FINALFUNC = _gmm_fit_final
);
COMMENT IS 'Always raises error 42804, which says how to combine columns into a row: '
  'gmm_fit(ARRAY[a, b], k).';
-- Given the form above, a call with a smallint k and a literal of options would be ambiguous
-- without this one.
CREATE AGGREGATE gmm_fit(x "any", k smallint, options jsonb) (
  SFUNC = _gmm_fit_transition, @state, FINALFUNC = _gmm_fit_final, @combine
);
COMMENT IS 'The same as with an int k.'
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

CREATE FUNCTION gmm_fit(query bayes_query, k int, options jsonb DEFAULT NULL)
  RETURNS TABLE (component int, weight float8, mean float8[], covariance float8[], count float8)
  AS 'MODULE_PATHNAME', 'gmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a mixture of k Gaussians to the rows of a query and returns its components, as '
  'gmm_components does. '
  @gmm_query
  @gmm_options;

CREATE FUNCTION gmm_fit(query bayes_query, k smallint, options jsonb)
  RETURNS TABLE (component int, weight float8, mean float8[], covariance float8[], count float8)
  AS 'MODULE_PATHNAME', 'gmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'The same as with an int k.'
  @gmm_options;

CREATE FUNCTION gmm_model(query bayes_query, k int, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'gmm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a mixture of k Gaussians to the rows of a query and returns the model.'
  ' Query, options and errors are those of gmm_fit(query, ...); NULL if there are no rows.'
  @gmm_options;

CREATE FUNCTION gmm_fit(query bayes_query, start bayes_model, options jsonb DEFAULT NULL)
  RETURNS TABLE (component int, weight float8, mean float8[], covariance float8[], count float8)
  AS 'MODULE_PATHNAME', 'gmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'The same as gmm_fit(query, k)'
  @from_start
  @gmm_options;

CREATE FUNCTION gmm_model(query bayes_query, start bayes_model, options jsonb DEFAULT NULL)
  RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'gmm_model_query' @volatile COST 1000000;
COMMENT IS 'Returns the model of gmm_fit(query, start)'
  @from_start
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

CREATE FUNCTION gmm_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 100;
COMMENT IS 'One row for every parameter of a component: its weight (element NULL), and mean and '
  'sd, the standard deviation within the component, of every element. After vi the posterior is q, '
  'corrected by linear response where that costs less than the fit (sd_method says so), after svi '
  'q itself, too narrow where components overlap; after gibbs and collapsed the average of the '
  'posteriors given the stored draws. '
  @parameters
  @parameters_level;

CREATE FUNCTION gmm_posterior(model bayes_model)
  RETURNS TABLE (component int, alpha float8, m float8[], c float8, s float8[], a float8,
    b float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The posterior of a model fitted by vi or svi: weights ~ Dirichlet(alpha), precision '
  'Lambda ~ Wishart(a, b) with E[Lambda] = a b^-1, mean ~ N(m, (c Lambda)^-1), s NULL; with the '
  'independent prior mean ~ N(m, s), c NULL. b and s are d x d. 22023 for a model without a '
  'posterior.';

CREATE FUNCTION gmm_sample(model bayes_model, n int, seed bigint)
  RETURNS TABLE (component int, x float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'n draws from the (predictive) mixture and the component that each came from. The same '
  'seed gives the same draws. 22023 for n < 0.';

-- ---- a model and a row ----

CREATE FUNCTION gmm_predict(model bayes_model, x "any") RETURNS int
  AS 'MODULE_PATHNAME' @strict COST 50;
COMMENT IS 'The most probable component of x, from 1. NULL elements of x are integrated out; if '
  'the model was fitted with option missing = skip the result is NULL, with missing = error it is '
  'an error (22004). 22023 for NaN and infinity, 2202E if x does not have the length of the '
  'model''s rows.';

CREATE FUNCTION gmm_probabilities(model bayes_model, x "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 50;
COMMENT IS 'The posterior probability of every component for x; they sum to 1.';

CREATE FUNCTION gmm_log_density(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 50;
COMMENT IS 'The natural logarithm of the (predictive) density at x.';

CREATE FUNCTION gmm_probabilities_mcse(model bayes_model, x "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 10000;
COMMENT IS 'The Monte Carlo standard error of each of gmm_probabilities, an average over the draws '
  'that the model stores; NULL for one that does not differ between draws. 22023 for a model '
  'without draws.';

CREATE FUNCTION gmm_log_density_mcse(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10000;
COMMENT IS 'The Monte Carlo standard error of gmm_log_density, the log of an average over the '
  'draws that the model stores; NULL if there are too few of them, or not the same number from '
  'each chain. 22023 for a model without draws.';

-- ---- a model and many rows ----

CREATE FUNCTION _gmm_profile_transition(state internal, model bayes_model, x "any")
  RETURNS internal
  AS 'MODULE_PATHNAME', 'gmm_profile_transition' @immutable COST 50;
COMMENT IS 'Internal. Adds one row.';
CREATE FUNCTION _gmm_profile_final(state internal) RETURNS bayes_profile[]
  AS 'MODULE_PATHNAME', 'gmm_profile_final' @immutable COST 100;
COMMENT IS 'Internal. Computes the profile of the collected rows.';
CREATE AGGREGATE gmm_profile(model bayes_model, x "any") (
  SFUNC = _gmm_profile_transition, @profile_state, FINALFUNC = _gmm_profile_final
);
COMMENT IS 'How the rows of each component differ from all other rows, column by column. '
  @profile;
