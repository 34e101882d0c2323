-- Conjugate models of one column: posteriors in closed form, as values that can be merged

DEFINE @conjugate_sums =
  SFUNC = _conjugate_transition, STYPE = internal, SSPACE = 256, PARALLEL = SAFE,
  FINALFUNC = _bayes_sums_final, @combine_sums,
  MSFUNC = _conjugate_transition, MINVFUNC = _conjugate_inverse_transition,
  MSTYPE = internal, MSSPACE = 256, MFINALFUNC = _bayes_sums_final;
DEFINE @conjugate_errors = '42804 for models of another family.';
DEFINE @conjugate_options =
  'The same with options; NULL means none. Beside prior there is on_error, "error" or "null": with '
  '"null" a row that is refused, or sums beyond double precision, give NULL and a WARNING.';
DEFINE @conjugate_number = RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
DEFINE @conjugate_integral = RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10000;
DEFINE @conjugate_interval =
  RETURNS TABLE (lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
DEFINE @conjugate_difference =
  RETURNS TABLE (mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 100000 ROWS 1;
DEFINE @conjugate_level = '22023 unless 0 < level < 1. ';
DEFINE @conjugate_parameters =
  'The parameters with their posterior. 22023 unless 0 < level < 1. '
  @parameters;
DEFINE @conjugate_evidence =
  'The logarithm of the density of all rows under the prior, which compares models of the same '
  'rows. NULL if it does not exist. '
  @conjugate_errors;

-- The type of x determines the family.
CREATE FUNCTION _conjugate_transition(
  state internal, x "any" [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'conjugate_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';
CREATE FUNCTION _conjugate_inverse_transition(
  state internal, x "any" [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'conjugate_inverse_transition' @immutable;
COMMENT IS 'Internal. Removes one row.';

-- ---- beta_bernoulli ----

CREATE AGGREGATE beta_bernoulli_fit(success boolean [, options jsonb [, weight float8]]) (
  @conjugate_sums
);
COMMENT IS 'The posterior of a probability, from successes and failures: success ~ '
  'Bernoulli(theta), theta ~ Beta(a, b). Option prior: an object with a and b, positive, by '
  'default 1, the uniform prior. Rows that are NULL are left out and counted; no rows give NULL. '
  'The result can be stored and merged by bayes_rollup; the aggregate supports moving windows. '
  'Errors: 22023 invalid option, weight or row; 22003 sums beyond double precision.';
COMMENT IS @conjugate_options;
COMMENT IS 'The same with weights: how many times each row counts. A row of weight 0 or NULL '
  'is left out.';

CREATE AGGREGATE beta_bernoulli_fit(success integer [, options jsonb [, weight float8]]) (
  @conjugate_sums
);
COMMENT IS 'The same for successes that are 1 and failures that are 0; 22023 for other numbers.';
COMMENT IS @conjugate_options;
COMMENT IS 'The same with weights: how many times each row counts. A row of weight 0 or NULL '
  'is left out.';

CREATE FUNCTION beta_bernoulli_mean(model bayes_model) @conjugate_number;
COMMENT IS 'The posterior mean of the probability of success. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_map(model bayes_model) @conjugate_number;
COMMENT IS 'The posterior mode of the probability of success. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_ml(model bayes_model) @conjugate_number;
COMMENT IS 'The maximum-likelihood estimate of the probability of success, which does not depend '
  'on the prior. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_evidence(model bayes_model) @conjugate_number;
COMMENT IS @conjugate_evidence;
CREATE FUNCTION beta_bernoulli_interval(model bayes_model, level float8 DEFAULT 0.95)
  @conjugate_interval;
COMMENT IS 'The equal-tailed credible interval that contains the probability of success with '
  'probability level, between quantiles of the beta posterior; NULL if the posterior does not '
  'exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_log_density(model bayes_model, success boolean)
  @conjugate_number;
COMMENT IS 'The logarithm of the posterior predictive probability of one more row, a success or a '
  'failure. NULL '
  'if the posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_greater(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'P(a > b): the probability that the probability of success is larger in model a than in '
  'model b, fitted to independent rows. NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_loss(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'The expected loss of choosing a where b may be larger: E[max(b - a, 0)] of the '
  'probability of success. NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_difference(a bayes_model, b bayes_model, level float8 DEFAULT 0.95)
  @conjugate_difference;
COMMENT IS 'The difference a - b of the probability of success, for models of independent rows: '
  'mean, standard deviation, and the equal-tailed interval that contains it with probability '
  'level; NULL where they do not exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_best(models bayes_model[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 100000;
COMMENT IS 'For each of several models of independent rows, in their order, the probability that '
  'its probability of success is the largest; they sum to 1. NULLs if a posterior does not exist. '
  '22004 for a NULL among them, 54000 for more than 1000. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_lift(a bayes_model, b bayes_model) @conjugate_number;
COMMENT IS 'The expected relative gain of a over b: E[(a - b) / b] of the probability of '
  'success; Infinity where E[1 / b] is, as under a posterior of b that does not fall to 0 at 0. '
  @conjugate_errors;
CREATE FUNCTION beta_bernoulli_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS @conjugate_parameters;

-- ---- gamma_poisson ----

CREATE AGGREGATE gamma_poisson_fit(count bigint [, options jsonb [, exposure float8]]) (
  @conjugate_sums
);
COMMENT IS 'The posterior of a rate, from counts: count ~ Poisson(exposure lambda), lambda ~ '
  'Gamma(a, rate b). Option prior: an object with a > 0 and b >= 0, by default 0.5 and 0, the '
  'prior of Jeffreys. Rows that are NULL are left out and counted; no rows give NULL. The result '
  'can be stored and merged by bayes_rollup; the aggregate supports moving windows. Errors: 22023 '
  'invalid option, exposure or row; 22003 sums beyond double precision.';
COMMENT IS @conjugate_options;
COMMENT IS 'The same with the exposure of each count, for instance the time in which it was '
  'counted; 1 if it is not given. A row whose exposure is NULL, or 0 with a count of 0, is left '
  'out; 22023 for a count above 0 with exposure 0.';

CREATE FUNCTION gamma_poisson_mean(model bayes_model) @conjugate_number;
COMMENT IS 'The posterior mean of the rate. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_map(model bayes_model) @conjugate_number;
COMMENT IS 'The posterior mode of the rate. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_ml(model bayes_model) @conjugate_number;
COMMENT IS 'The maximum-likelihood estimate of the rate, which does not depend on the prior. NULL '
  'if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_evidence(model bayes_model) @conjugate_number;
COMMENT IS @conjugate_evidence;
CREATE FUNCTION gamma_poisson_interval(model bayes_model, level float8 DEFAULT 0.95)
  @conjugate_interval;
COMMENT IS 'The equal-tailed credible interval that contains the rate with probability level, '
  'between quantiles of the gamma posterior; NULL if the posterior does not exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_log_density(
  model bayes_model, count bigint, exposure float8 DEFAULT 1
) @conjugate_number;
COMMENT IS 'The logarithm of the posterior predictive probability of one more count with this '
  'exposure, which must be positive. NULL if the posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_greater(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'P(a > b): the probability that the rate is larger in model a than in model b, fitted '
  'to independent rows. NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_loss(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'The expected loss of choosing a where b may be larger: E[max(b - a, 0)] of the rate. '
  'NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_difference(a bayes_model, b bayes_model, level float8 DEFAULT 0.95)
  @conjugate_difference;
COMMENT IS 'The difference a - b of the rate, for models of independent rows: mean, standard '
  'deviation, and the equal-tailed interval that contains it with probability level; NULL where '
  'they do not exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_best(models bayes_model[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 100000;
COMMENT IS 'For each of several models of independent rows, in their order, the probability that '
  'its rate is the largest; they sum to 1. NULLs if a posterior does not exist. 22004 for a NULL '
  'among them, 54000 for more than 1000. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_lift(a bayes_model, b bayes_model) @conjugate_number;
COMMENT IS 'The expected relative gain of a over b: E[(a - b) / b] of the rate; Infinity where '
  'E[1 / b] is, as under a posterior of b that does not fall to 0 at 0. '
  @conjugate_errors;
CREATE FUNCTION gamma_poisson_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS @conjugate_parameters;

-- ---- normal_inverse_gamma ----

CREATE AGGREGATE normal_inverse_gamma_fit(x float8 [, options jsonb [, weight float8]]) (
  @conjugate_sums
);
COMMENT IS 'The posterior of the mean and variance of a normal: x ~ Normal(mu, 1 / alpha), mu ~ '
  'Normal(m, 1 / (c alpha)), alpha ~ Gamma(a, rate b). Option prior: an object with m, c, a and b, '
  'by default 0, 0, -0.5 and 0, the reference prior. Rows that are NULL are left out and counted; '
  'no rows give NULL. The result can be stored and merged by bayes_rollup; the aggregate supports '
  'moving windows. Errors: 22023 invalid option, weight or row; 22003 a number beyond 1e150, or '
  'sums beyond double precision.';
COMMENT IS @conjugate_options;
COMMENT IS 'The same with weights: how many times each row counts. A row of weight 0 or NULL '
  'is left out.';

CREATE FUNCTION normal_inverse_gamma_mean(model bayes_model) @conjugate_number;
COMMENT IS 'The posterior mean of the mean. NULL if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_map(model bayes_model) @conjugate_number;
COMMENT IS 'The mean at the mode of the joint posterior density of mean and precision. NULL if it '
  'does not exist. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_ml(model bayes_model) @conjugate_number;
COMMENT IS 'The maximum-likelihood estimate of the mean, which does not depend on the prior. NULL '
  'if it does not exist. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_evidence(model bayes_model) @conjugate_number;
COMMENT IS @conjugate_evidence;
CREATE FUNCTION normal_inverse_gamma_interval(model bayes_model, level float8 DEFAULT 0.95)
  @conjugate_interval;
COMMENT IS 'The equal-tailed credible interval that contains the mean with probability level, '
  'between quantiles of the Student posterior; NULL if the posterior does not exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_log_density(model bayes_model, x float8)
  @conjugate_number;
COMMENT IS 'The logarithm of the posterior predictive density of one more x. NULL if the '
  'posterior does not exist. 22023 for an x that is NaN or infinite, 22003 beyond 1e150. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_greater(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'P(a > b): the probability that the mean is larger in model a than in model b, fitted '
  'to independent rows. NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_loss(a bayes_model, b bayes_model) @conjugate_integral;
COMMENT IS 'The expected loss of choosing a where b may be larger: E[max(b - a, 0)] of the mean. '
  'NULL if a posterior does not exist. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_difference(
  a bayes_model, b bayes_model, level float8 DEFAULT 0.95
) @conjugate_difference;
COMMENT IS 'The difference a - b of the mean, for models of independent rows: mean, standard '
  'deviation, and the equal-tailed interval that contains it with probability level; NULL where '
  'they do not exist. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_best(models bayes_model[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 100000;
COMMENT IS 'For each of several models of independent rows, in their order, the probability that '
  'its mean is the largest; they sum to 1. NULLs if a posterior does not exist. 22004 for a NULL '
  'among them, 54000 for more than 1000. '
  @conjugate_errors;
CREATE FUNCTION normal_inverse_gamma_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 2;
COMMENT IS @conjugate_parameters;

-- ---- dirichlet_categorical ----

CREATE FUNCTION _dirichlet_categorical_transition(
  state internal, label "any" [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'dirichlet_categorical_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';
CREATE FUNCTION _dirichlet_categorical_inverse_transition(
  state internal, label "any" [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'dirichlet_categorical_inverse_transition' @immutable;
COMMENT IS 'Internal. Removes one row.';
CREATE AGGREGATE dirichlet_categorical_fit(label "any" [, options jsonb [, weight float8]]) (
  SFUNC = _dirichlet_categorical_transition, STYPE = internal, SSPACE = 8192, PARALLEL = SAFE,
  FINALFUNC = _bayes_sums_final, @combine_sums,
  MSFUNC = _dirichlet_categorical_transition,
  MINVFUNC = _dirichlet_categorical_inverse_transition,
  MSTYPE = internal, MSSPACE = 8192, MFINALFUNC = _bayes_sums_final
);
COMMENT IS 'The posterior of the probabilities of labels, of any type, which are compared by their '
  'text: label ~ Categorical(theta), theta ~ Dirichlet(alpha) over the labels that occur and those '
  'that the prior names. Option prior: an object with alpha, a positive number for every label, by '
  'default 1, or an object of numbers by label. Rows that are NULL are left out and counted; no '
  'rows give NULL. The result can be stored and merged by bayes_rollup; the aggregate supports '
  'moving windows. Errors: 22023 invalid option, weight or label; 22003 sums beyond double '
  'precision; 54000 more than a million labels, one longer than 10000 bytes, or more than 256 MB '
  'of them.';
COMMENT IS @conjugate_options;
COMMENT IS 'The same with weights: how many times each row counts. A row of weight 0 or NULL is '
  'left out.';

CREATE FUNCTION dirichlet_categorical_probabilities(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (label text, count float8, mean float8, map float8, ml float8, lower float8,
    upper float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The labels with the number of their rows and the estimates of their probabilities: '
  'posterior mean, mode (NULL if it does not exist), maximum likelihood, and the interval that '
  'contains the probability with probability level, between quantiles of its posterior. '
  @conjugate_level
  @conjugate_errors;
CREATE FUNCTION dirichlet_categorical_mean(model bayes_model, label "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The posterior mean of the probability of a label. An unknown label has the probability '
  'of one additional label, a / (a + sum of alphas and counts), where a is the alpha of labels '
  'that the prior does not name. 22023 for NaN. '
  @conjugate_errors;
CREATE FUNCTION dirichlet_categorical_log_density(model bayes_model, label "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The logarithm of the posterior predictive probability of a label in one more row; for '
  'an unknown label as in dirichlet_categorical_mean. 22023 for NaN. '
  @conjugate_errors;
CREATE FUNCTION dirichlet_categorical_evidence(model bayes_model) @conjugate_number;
COMMENT IS 'The logarithm of the probability of all rows under the prior over the known labels. '
  @conjugate_errors;
CREATE FUNCTION dirichlet_categorical_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS @conjugate_parameters;
