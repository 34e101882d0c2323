-- Generalized linear models: regressions of counts, amounts, successes, and yes or no

DEFINE @glm_rows =
  'Option response, which is required, names the distribution of y: bernoulli, binomial, poisson, '
  'negative_binomial, exponential, gamma, normal or student_t, ordinal of levels with an order or '
  'categorical of classes without one (docs/regression.md). y of these two is a value of any type, '
  'known by its text: option levels lists the labels in their order; without it they are those of '
  'the rows, in the order of numbers and then of bytes, for ordinal those of an enum. x: numbers, '
  'as many in every row; in a record each column is a number, a boolean or a label, and a column '
  'of labels becomes an indicator for each label except the first, which is the reference. '
  'Options exposure, offset and trials name columns of x that are no predictors; option terms, if '
  'given, lists the columns that are, and products of columns. Rows with a NULL '
  'are skipped; no rows give NULL. Errors: 22023 invalid option, y that the distribution does not '
  'allow, a NaN or an infinite element, an exposure that is not positive, more successes than '
  'trials; 22004 a NULL with option missing = error; 2202E rows of different length; 42804 y of '
  'any other type; 54000 more than 5000 terms; 22003 no fit exists.';

CREATE TYPE glm_prediction AS (
  mean float8, sd float8, lower float8, upper float8,
  mean_sd float8, mean_lower float8, mean_upper float8
);
COMMENT ON TYPE glm_prediction IS
  'The prediction of a generalized linear model for a row. mean: the expected response; sd, lower, '
  'upper: standard deviation and interval of a new response, for counts from quantiles that are '
  'whole numbers; sd is NULL for a student_t response of at most 2 degrees of freedom, which has '
  'no variance; mean_sd, mean_lower, mean_upper: standard deviation and interval of the expected '
  'response, due to the uncertainty of the coefficients, NULL after method em.';

-- ---- aggregates: rows in, a model out ----

CREATE FUNCTION _glm_fit_transition(
  state internal, y "any", x "any" [, a "any" [, b "any" [, c "any"]]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'glm_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _glm_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'glm_fit_final' @immutable COST 100000;
COMMENT IS 'Internal. Fits a generalized linear model to the collected rows.';

CREATE AGGREGATE glm_fit(y "any", x "any" [, options jsonb [, weight float8]]) (
  SFUNC = _glm_fit_transition, @state, FINALFUNC = _glm_fit_final, @combine_responses
);
COMMENT IS 'Fits a generalized linear model of y on the predictors x, by Laplace''s approximation '
  'about the posterior mode or, with method slice, by draws from the posterior. '
  @glm_rows;
COMMENT IS 'The same with options, among them response: see docs/regression.md.';
COMMENT IS @binary_weight
  '.';

CREATE AGGREGATE glm_fit(
  y "any", x "any", start bayes_model, options jsonb [, weight float8]
) (
  SFUNC = _glm_fit_transition, @state, FINALFUNC = _glm_fit_final, @combine_responses
);
COMMENT IS @binary_resume
  '.';
COMMENT IS @binary_resume
  ', with a weight for each row.';

-- ---- relations: a query in, a relation out ----

-- With options of type jsonb a call with two literals would be ambiguous.
CREATE FUNCTION glm_fit(query bayes_query, options "any")
  RETURNS TABLE (
    term text, class text, mean float8, sd float8, lower float8, upper float8,
    effect float8, effect_lower float8, effect_upper float8
  )
  AS 'MODULE_PATHNAME', 'glm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a generalized linear model to the rows of a query and returns its coefficients, '
  'as glm_coefficients does. '
  @response_query
  ' options: see docs/regression.md.';

CREATE FUNCTION glm_model(query bayes_query, options jsonb) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'glm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a generalized linear model to the rows of a query and returns the model.'
  ' Query, options and errors are those of glm_fit(query, ...); NULL if there are no rows.';

-- ---- a model ----

CREATE FUNCTION glm_coefficients(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (
    term text, class text, mean float8, sd float8, lower float8, upper float8,
    effect float8, effect_lower float8, effect_upper float8
  )
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 10;
COMMENT IS 'The coefficients of a regression as bayes_coefficients lists them, and effects: exp of '
  'mean, lower and upper, by which one unit of a column multiplies the mean of the response (log '
  'link) or the odds of a yes (logit), NULL for linreg and for other links. Of a categorical '
  'response each class but the first has coefficients, which compare it with the first: class is '
  'its label, and NULL for all others. Of an ordinal response the first rows are cuts, "low|high", '
  'at which the probability of the lower levels is 1/2: the log odds of y <= low are cut - x''w; '
  'other coefficients are changes of the log odds of higher levels. 22023 unless 0 < level < 1; '
  '42804 for a model that is no regression.';

CREATE FUNCTION glm_fit_statistics(
  query bayes_query, model bayes_model, level float8 DEFAULT 0.95, draws int DEFAULT 400
) RETURNS TABLE (
    statistic text, value float8, lower float8, upper float8, expected float8, p float8,
    meaning text
  )
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 10;
COMMENT IS 'How well a generalized linear model (glm, logreg, probit) fits the rows of a query, '
  'usually the rows of the fit. A row for each statistic that the response has: rows and '
  'left_out, the numbers of rows without and with a missing value; log_density, the mean log '
  'predictive density; deviance, and dispersion, Pearson''s over the residual degrees of freedom, '
  'both at the posterior mean of the coefficients; zeros, the share of counts that are 0, '
  'minimum, of other numbers, and maximum; r2, the Bayesian R2; of yes or no brier, auc, '
  'calibration_in_the_large and calibration_slope; of levels error, the share of rows whose most '
  'probable level is another, and brier (docs/regression.md). lower, upper: an interval '
  'of the statistic; expected: its value if the model is true; p: the posterior predictive '
  'probability that new responses of these rows have a larger one, ties counting half; NULL where '
  'there is none. draws: how many data sets are simulated for p and r2, always the same ones; 0 '
  'to 10000. query: one SELECT of the response and the columns of the fit; it is run as the '
  'caller, read-only. Errors: 22004 a NULL argument; 22023 another query, level or number of '
  'draws, a response that the distribution does not allow; 42804 a model of another family; 54000 '
  'draws that exceed maintenance_work_mem.';

-- ---- a model and a row ----

CREATE FUNCTION glm_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS glm_prediction
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The posterior predictive distribution of the response for a row x, which has the '
  'columns of the fit, exposure, offset and trials among them. '
  @binary_new_rows
  @binary_prediction_level;

CREATE FUNCTION glm_probabilities(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS TABLE (level text, probability float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 5;
COMMENT IS 'The posterior predictive probability of each level of an ordinal or categorical '
  'response for a row x, in the order of the levels, with its standard deviation and the quantiles '
  'that bound an interval; of a bernoulli response of false and true. No rows for a row with a '
  'NULL, or with a label that the model does not know; if it was fitted with option missing = '
  'error that is an error (22004, 22023). 22023 for NaN and infinity, and unless 0 < level < 1; '
  '2202E if x does not have the length of the model''s rows; 42804 for a model of another family, '
  'and for a response that is a number.';
