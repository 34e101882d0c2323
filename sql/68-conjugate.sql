-- Conjugate models of one column: posteriors in closed form, as values that can be merged

DEFINE @conjugate_sums =
  SFUNC = _conjugate_transition, STYPE = internal, SSPACE = 256, PARALLEL = SAFE,
  FINALFUNC = _bayes_sums_final, @combine_sums,
  MSFUNC = _conjugate_transition, MINVFUNC = _conjugate_inverse_transition,
  MSTYPE = internal, MSSPACE = 256, MFINALFUNC = _bayes_sums_final;
DEFINE @conjugate_options =
  'The same with options; NULL means none. Beside prior there is on_error, "error" or "null": with '
  '"null" a row that is refused, or sums beyond double precision, give NULL and a WARNING.';

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
  '22023 unless 0 < level < 1; 42804 for a model of another family.';

-- ---- one parameter, of a model of beta_bernoulli, gamma_poisson or normal_inverse_gamma ----

DEFINE @one_parameter =
  'The parameter is the probability of success of beta_bernoulli, the rate of gamma_poisson, the '
  'mean of normal_inverse_gamma. 42804 for a model of another family.';
DEFINE @two_parameters =
  'a and b: models of one family, fitted to independent rows. NULL if a posterior does not exist. '
  @one_parameter;

CREATE FUNCTION bayes_mean(model bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The posterior mean of the parameter of a conjugate model. NULL if it does not exist. '
  @one_parameter;
CREATE FUNCTION bayes_map(model bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The posterior mode of the parameter of a conjugate model; of normal_inverse_gamma the '
  'mean at the mode of the joint density of mean and precision. NULL if it does not exist. '
  @one_parameter;
CREATE FUNCTION bayes_ml(model bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The maximum-likelihood estimate of the parameter of a conjugate model, which does not '
  'depend on the prior. NULL if it does not exist. '
  @one_parameter;
CREATE FUNCTION bayes_interval(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'The equal-tailed credible interval that contains the parameter of a conjugate model '
  'with probability level, between quantiles of its posterior; NULL if the posterior does not '
  'exist. 22023 unless 0 < level < 1. '
  @one_parameter;
CREATE FUNCTION bayes_evidence(model bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The logarithm of the density (or probability) of all rows under the prior of a '
  'conjugate model, which compares models of the same rows; of dirichlet_categorical, under the '
  'prior over the known labels. NULL if it does not exist. 42804 for a model of another family.';
CREATE FUNCTION bayes_greater(a bayes_model, b bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10000;
COMMENT IS 'P(a > b): the probability that the parameter is larger in model a than in model b. '
  @two_parameters;
CREATE FUNCTION bayes_loss(a bayes_model, b bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10000;
COMMENT IS 'The expected loss of choosing a where b may be larger: E[max(b - a, 0)] of the '
  'parameter. '
  @two_parameters;
CREATE FUNCTION bayes_lift(a bayes_model, b bayes_model) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 100;
COMMENT IS 'The expected relative gain of a over b: E[(a - b) / b] of the probability of success '
  '(beta_bernoulli) or the rate (gamma_poisson); Infinity where E[1 / b] is, as under a posterior '
  'of b that does not fall to 0 at 0. Means of normals have none: 42804. '
  @two_parameters;
CREATE FUNCTION bayes_difference(a bayes_model, b bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 100000 ROWS 1;
COMMENT IS 'The difference a - b of the parameter: mean, standard deviation, and the equal-tailed '
  'interval that contains it with probability level; NULL where they do not exist. 22023 unless '
  '0 < level < 1. '
  @two_parameters;
CREATE FUNCTION bayes_best(models bayes_model[]) RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 100000;
COMMENT IS 'For each of several models of one family and of independent rows, in their order, the '
  'probability that its parameter is the largest; they sum to 1. NULLs if a posterior does not '
  'exist. 22004 for a NULL among them, 54000 for more than 1000. '
  @one_parameter;
CREATE FUNCTION bayes_arms(models bayes_model[], level float8 DEFAULT 0.95)
  RETURNS TABLE (arm int, mean float8, sd float8, lower float8, upper float8, best float8,
    loss float8)
  AS 'MODULE_PATHNAME' @strict COST 100000 ROWS 10;
COMMENT IS 'Several models of one family and of independent rows, as the arms of a test, in their '
  'order: mean, standard deviation and interval of probability level of the parameter; best: the '
  'probability that it is the largest of all; loss: the expected loss of choosing this arm, '
  'E[largest - own], in the units of the parameter, right to about 1e-10 standard deviations. NULL '
  'where they do not exist; loss also for a mean of less than two degrees of freedom. 22023 unless '
  '0 < level < 1, 22004 for a NULL among the models, 54000 for more than 1000. '
  @one_parameter;
