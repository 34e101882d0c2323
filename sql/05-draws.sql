-- Posterior draws, and convergence diagnostics of MCMC chains

DEFINE @draws_errors =
  'Errors: 22004 NULL value or chain; 22023 chains of different length; 54000 more than 10 '
  'million draws or 10000 chains.';

CREATE FUNCTION bayes_draws(model bayes_model)
  RETURNS TABLE (chain int, draw int, quantity text, value float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10000;
COMMENT IS 'The posterior draws of a model fitted by sampling, chains and draws counted from 1, '
  'without warmup: quantities that do not depend on the numbering of components, of regressions '
  'the coefficients under the names of their terms. A value that is undefined for a draw is NaN. '
  'Draws of the parameters of components: bayes_draws(model, draws). 22023 for a model without '
  'draws.';

CREATE FUNCTION bayes_draws(model bayes_model, draws int, seed bigint DEFAULT 1)
  RETURNS TABLE (chain int, draw int, quantity text, value float8, parameter text, component int,
    column_name text, label text)
  AS 'MODULE_PATHNAME', 'bayes_draws_on_request' @strict COST 10000 ROWS 10000;
COMMENT IS 'Draws of the parameters that bayes_parameters(model) lists, of all families but pmf. '
  'Of a model fitted by sampling, draws of each chain, evenly spaced among those that it stores '
  '(see stored_draws of bayes_info), with components numbered alike in all; of a conjugate model, '
  'and of a regression by exact, laplace or vi, independent draws, of chain 1. chain, draw: from '
  '1, draws being those of this result; parameter: its name; component: from 1; column_name: the '
  'column, or the number of the element; label: the term, category, state or key. quantity: a '
  'name that no other parameter has: the term of a coefficient, the label of a category, else '
  'parameter[component,column,label]. Parameters of one draw belong together: they are drawn from '
  'their joint posterior (given the labels of the draw, where the model stores these). seed: the '
  'same one gives the same draws. value is NULL for a coefficient that the fit left out, and for '
  'weights whose prior is not one number. 22023 for a point estimate, for a posterior that is '
  'not drawn from, for draws < 0, above 1,000,000 or more than are stored.';

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
