-- Posterior draws, and convergence diagnostics of MCMC chains

DEFINE @draws_errors =
  'Errors: 22004 NULL value or chain; 22023 chains of different length; 54000 more than 10 '
  'million draws or 10000 chains.';

CREATE FUNCTION bayes_draws(model bayes_model)
  RETURNS TABLE (chain int, draw int, quantity text, value float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10000;
COMMENT IS 'The posterior draws of a model fitted by sampling, chains and draws counted from 1, '
  'without warmup: quantities that do not depend on the numbering of components. A value that is '
  'undefined for a draw is NaN. 22023 for a model without draws.';

CREATE FUNCTION bayes_draws(model bayes_model, draws int, seed bigint DEFAULT 1)
  RETURNS TABLE (chain int, draw int, quantity text, value float8)
  AS 'MODULE_PATHNAME', 'bayes_draws_on_request' @strict COST 10000 ROWS 10000;
COMMENT IS 'Independent draws of the parameters of a regression (linreg, glm, logreg, probit) '
  'whose posterior is known as a distribution, by methods exact, laplace and vi, in the form of '
  'bayes_draws(model): chain is 1; quantity is the label or the name of a parameter as '
  'bayes_parameters(model) has it, coefficients under the names of their terms. The same seed '
  'gives the same draws. A coefficient that the fit left out is NULL. 22023 for a model with draws '
  'of its own, a point estimate or another family, and for draws < 0.';

-- ---- aggregates: draws in, one number out ----

CREATE FUNCTION _bayes_draws_transition(state internal, value float8, chain int)
  RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_draws_transition' @immutable;
COMMENT IS 'Internal. Adds one draw of a chain.';

CREATE FUNCTION _bayes_rhat_final(state internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'rhat_final' @immutable COST 10000;
COMMENT IS 'Internal. Computes R-hat of the collected draws.';
CREATE AGGREGATE bayes_rhat(value float8, chain int) (
  SFUNC = _bayes_draws_transition, @draws_state, FINALFUNC = _bayes_rhat_final
);
COMMENT IS 'Rank-normalised split R-hat of the draws of one quantity: below 1.01 when chains have '
  'converged (Vehtari and others 2021). Order matters: bayes_rhat(value, chain ORDER BY chain, '
  'draw). NULL for no rows, equal draws, a draw that is not finite, fewer than 4 draws in a '
  'chain. '
  @draws_errors;

CREATE FUNCTION _bayes_ess_bulk_final(state internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'ess_bulk_final' @immutable COST 10000;
COMMENT IS 'Internal. Computes the bulk effective sample size of the collected draws.';
CREATE AGGREGATE bayes_ess_bulk(value float8, chain int) (
  SFUNC = _bayes_draws_transition, @draws_state, FINALFUNC = _bayes_ess_bulk_final
);
COMMENT IS 'Bulk effective sample size: the number of independent draws that would give the same '
  'precision in the middle of the distribution (Vehtari and others 2021). Order matters: '
  'bayes_ess_bulk(value, chain ORDER BY chain, draw). NULL for no rows, equal draws, a draw that '
  'is not finite, fewer than 6 draws in a chain. '
  @draws_errors;

CREATE FUNCTION _bayes_ess_tail_final(state internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'ess_tail_final' @immutable COST 10000;
COMMENT IS 'Internal. Computes the tail effective sample size of the collected draws.';
CREATE AGGREGATE bayes_ess_tail(value float8, chain int) (
  SFUNC = _bayes_draws_transition, @draws_state, FINALFUNC = _bayes_ess_tail_final
);
COMMENT IS 'Tail effective sample size: the smaller of those of the 5 % and 95 % quantiles '
  '(Vehtari and others 2021). NULL also if no draw lies beyond one of these quantiles. Order '
  'matters: bayes_ess_tail(value, chain ORDER BY chain, draw). NULL for no rows, equal draws, a '
  'draw that is not finite, fewer than 6 draws in a chain. '
  @draws_errors;

CREATE FUNCTION _bayes_mcse_final(state internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'mcse_final' @immutable COST 10000;
COMMENT IS 'Internal. Computes the Monte Carlo standard error of the collected draws.';
CREATE AGGREGATE bayes_mcse(value float8, chain int) (
  SFUNC = _bayes_draws_transition, @draws_state, FINALFUNC = _bayes_mcse_final
);
COMMENT IS 'Monte Carlo standard error of the mean of the draws. Order matters: bayes_mcse(value, '
  'chain ORDER BY chain, draw). NULL for no rows, equal draws, a draw that is not finite, fewer '
  'than 6 draws in a chain. '
  @draws_errors;
