-- Hidden Markov models

DEFINE @hmm_sequences =
  'sequence: an array, one-dimensional with one observation per element (numbers; booleans as 1 '
  'and 0; any other type as names, by their text), or two-dimensional, time first, with vectors of '
  '1 to 1600 numbers, or of records, whose columns are numbers, booleans and labels and keep their '
  'names; NULL elements are missing. A NULL or empty sequence is skipped; if there is no other '
  'sequence the result is NULL. Errors: 22023 invalid option, argument or element (also NaN and '
  'infinity); 2202E sequences of different shape; 22004 missing element with option missing = '
  'error; 54000 more than 10000 distinct symbols, a symbol longer than 10000 bytes, or more '
  'parameters than memory allows; 22003 no fit exists.';
DEFINE @hmm_partition =
  'The partition is one sequence in the order of the window, regardless of the frame. observation: '
  'a number, a boolean or a name, as in the fit of the model; a record, whose columns are matched '
  'with those of the model by name; for a model without column names a vector is ROW(a, b), or '
  'ROW(x) with an array x of numbers. A NULL observation is missing, but its row has a result; a '
  'name or label unknown to the model counts as missing. NULL for a NULL model. 22023 if the model '
  'differs between the rows of a partition, or for an invalid element; 2202E for an observation of '
  'another shape; 42804 for a model of another family.';
DEFINE @hmm_options = ' options: see docs/hmm.md; NULL means none.';
DEFINE @hmm_query =
  'query: one SELECT of a name for the sequence (any type) and the sequence, an array; or of the '
  'name and the columns of a step, with a row for each step and the rows of each name contiguous '
  'and in the order of time. It is run as the caller, read-only. 22023 for any other query.';
DEFINE @hmm_given =
  'sequence: of the kind that the model was fitted to, with columns of records matched by name; '
  'NULL elements and unknown names and labels are missing. 2202E for a sequence of another shape, '
  '22023 for an invalid element, 42804 for a model of another family.';

CREATE TYPE hmm_selection AS (
  k int, method text, objective float8, log_likelihood float8, parameters float8, bic float8,
  elbo float8, converged boolean, degenerate boolean, model bayes_model,
  best boolean, reason text
);
COMMENT ON TYPE hmm_selection IS
  'One of the fits of a selection. bic: -2 log_likelihood + parameters ln(steps observed), smaller '
  'is better, NULL if the method samples; elbo: larger is better, NULL unless the method is '
  'variational; parameters: the number of free parameters; degenerate: states are at a bound '
  'beyond which the likelihood would rise, so bic cannot be compared; model: NULL unless option '
  'models is true. best: the row to choose, with the criterion in reason: the best elbo after vi '
  'and svi, the best bic after em, map and mcem, or the smallest k within 1 nat (of bic 2) of it; '
  'NULL where no fit can be compared.';

-- ---- aggregates: sequences in, a model out ----

-- For the forms of hmm_fit that take k, a start model, or known states.
CREATE FUNCTION _hmm_fit_transition(
  state internal, sequence "any", k "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'hmm_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one sequence.';

CREATE FUNCTION _hmm_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'hmm_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits a hidden Markov model to the collected sequences.';

-- No combine function: symbols are numbered, and sequences stored, in order of arrival, which
-- parallel workers would change.
CREATE AGGREGATE hmm_fit(sequence "any", k int [, options jsonb [, weight float8]]) (
  SFUNC = _hmm_fit_transition, @state, FINALFUNC = _hmm_fit_final
);
COMMENT IS 'Fits a hidden Markov model of k states (1 to 1000) to sequences, one per row: '
  'hmm_fit(array, k), where array_agg(x ORDER BY t) can make the array. '
  @hmm_sequences;
COMMENT IS 'The same with options.'
  @hmm_options;
COMMENT IS 'The same with a weight for each sequence: how many times it counts. A sequence of '
  'weight 0 or NULL is left out; 22023 if negative, not finite, or all zero.'
  @hmm_options;

CREATE AGGREGATE hmm_fit(sequence "any", start bayes_model [, options jsonb [, weight float8]]) (
  SFUNC = _hmm_fit_transition, @state, FINALFUNC = _hmm_fit_final
);
COMMENT IS 'Fits a hidden Markov model, starting from the parameters of a fitted one (for instance '
  'yesterday''s): states keep their numbers, option missing and the given prior are kept unless '
  'options say otherwise, and symbols and labels that the model does not know are added. 42804 for '
  'a model of another family, 2202E for sequences of another shape than the model''s. '
  @hmm_sequences;
COMMENT IS 'The same with options.'
  @hmm_options;
COMMENT IS 'The same with options and weights. A sequence of weight 0 or NULL is left out; 22023 '
  'if negative, not finite, or all zero.'
  @hmm_options;

CREATE AGGREGATE hmm_fit(sequence "any", states int[], k int [, options jsonb]) (
  SFUNC = _hmm_fit_transition, @state, FINALFUNC = _hmm_fit_final
);
COMMENT IS 'Fits a hidden Markov model of k states some of which are known: states, from 1 to k, '
  'has the length of the sequence, with NULL or 0 for an unknown state; it is NULL if no state is '
  'known. 2202E for another length, 22023 for an invalid state. '
  @hmm_sequences;
COMMENT IS 'The same with options.'
  @hmm_options;

CREATE FUNCTION _hmm_update_transition(
  state internal, sequence "any", prior "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'hmm_update_transition' @immutable;
COMMENT IS 'Internal. Adds one sequence.';

CREATE AGGREGATE hmm_update(
  sequence "any", prior bayes_model [, options jsonb [, weight float8]]
) (
  SFUNC = _hmm_update_transition, @state, FINALFUNC = _hmm_fit_final
);
COMMENT IS 'Learns from more sequences: the posterior of the given model is the prior of the new '
  'one. 42804 for a model of another family, 22023 for one without a posterior. '
  @hmm_sequences;
COMMENT IS 'The same with options.'
  @hmm_options;
COMMENT IS 'The same with options and weights. A sequence of weight 0 or NULL is left out; 22023 '
  'if negative, not finite, or all zero.'
  @hmm_options;

CREATE FUNCTION _hmm_select_transition(
  state internal, sequence "any", ks "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'hmm_select_transition' @immutable;
COMMENT IS 'Internal. Adds one sequence.';

CREATE FUNCTION _hmm_select_final(state internal) RETURNS hmm_selection[]
  AS 'MODULE_PATHNAME', 'hmm_select_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits all models of a selection.';

CREATE AGGREGATE hmm_select(sequence "any", ks int[] [, options jsonb]) (
  SFUNC = _hmm_select_transition, @state, FINALFUNC = _hmm_select_final
);
COMMENT IS 'Fits a hidden Markov model for every k in ks: SELECT * FROM unnest((SELECT '
  'hmm_select(s, ''{1,2,3}'') FROM t)). '
  @hmm_sequences;
COMMENT IS 'The same with options.'
  @hmm_options;

-- ---- windows: a partition is a sequence, one result for each row ----

CREATE FUNCTION hmm_decode(model bayes_model, observation anynonarray) RETURNS int
  AS 'MODULE_PATHNAME', 'hmm_decode_window' @window_of_labels COST 100;
COMMENT IS 'The state of every row on the most probable path through the partition (Viterbi), '
  'from 1; after gibbs on the path with the largest average of log p(path, observations) over the '
  'stored draws of the parameters. '
  @hmm_partition;
CREATE FUNCTION hmm_probabilities(model bayes_model, observation anynonarray) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'hmm_probabilities_window' @window_of_labels COST 100;
COMMENT IS 'The probabilities of the K states at every row, given all observations of the '
  'partition (smoothing); they sum to 1; after gibbs their averages over the stored draws of the '
  'parameters. '
  @hmm_partition;
CREATE FUNCTION hmm_filter(model bayes_model, observation anynonarray) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'hmm_filter_window' @window_of_labels COST 100;
COMMENT IS 'The probabilities of the K states at every row, given the observations up to it '
  '(filtering); they sum to 1; after gibbs their averages over the stored draws of the '
  'parameters. Reads row by row in constant memory. 22003 for an observation that '
  'is impossible after those before. '
  @hmm_partition;

CREATE FUNCTION hmm_surprise(model bayes_model, observation anynonarray) RETURNS float8
  AS 'MODULE_PATHNAME', 'hmm_surprise_window' @window_of_labels COST 100;
COMMENT IS 'How surprising every row is after those before it: -log p(observation | observations '
  'before) in nats, of measurements that of a density; after gibbs over the stored draws of the '
  'parameters, weighted by their probabilities of the observations before. Over a partition it '
  'sums to -hmm_log_likelihood. NULL for an observation that is NULL in all elements; of others '
  'the elements that are not NULL count. Infinity for an observation that is impossible after '
  'those before, which then counts as missing for those after it. Reads row by row in constant '
  'memory. '
  @hmm_partition
  ' Here a name or label unknown to the model has the probability that it has in '
  'hmm_log_likelihood.';

-- ---- one observation at a time ----

CREATE TYPE hmm_state AS (
  steps bigint, log_likelihood float8, surprise float8, probabilities float8[], next float8[],
  model uuid, recursion float8[], counting float8[]
);
COMMENT ON TYPE hmm_state IS
  'A sequence up to now, from which hmm_advance goes on. steps: the number of observations; '
  'log_likelihood: theirs, as of hmm_log_likelihood; surprise: -log p(last observation | those '
  'before) in nats, as of hmm_surprise; probabilities: of the K states at the last step, given the '
  'observations so far, as of hmm_filter; next: those of the states of the next step (hmm_current '
  'gives both as rows); model: the fingerprint of the model; recursion, counting: what the '
  'computation goes on from.';

DEFINE @hmm_advanced =
  'state: one that hmm_advance has returned under the same model; NULL begins a sequence. The '
  'result equals, to the last bit, hmm_filter and hmm_surprise over the whole sequence; but an '
  'observation that is impossible after those before has the surprise Infinity and counts as '
  'missing. observation: a number, a boolean or a name, as in the fit of the model, or a record, '
  'as of the window functions; a NULL is missing. NULL for a NULL model. 22023 for a state of '
  'another model, one that no sequence has, or an invalid element; 2202E for an observation of '
  'another shape; 42804 for a model of another family.';

CREATE FUNCTION hmm_advance(model bayes_model, state hmm_state, observation anynonarray)
  RETURNS hmm_state
  AS 'MODULE_PATHNAME' @of_labels_given COST 100;
COMMENT IS 'A sequence taken on by one observation, in some microseconds: its state after it. '
  @hmm_advanced;

CREATE FUNCTION _hmm_advance_transition(
  state internal, model bayes_model, start hmm_state, observation anynonarray
) RETURNS internal
  AS 'MODULE_PATHNAME', 'hmm_advance_transition' @immutable COST 100;
COMMENT IS 'Internal. Takes a sequence on by one observation.';
CREATE FUNCTION _hmm_advance_final(state internal) RETURNS hmm_state
  AS 'MODULE_PATHNAME', 'hmm_advance_final' @immutable COST 100;
COMMENT IS 'Internal. The state of a sequence after its last observation.';
CREATE AGGREGATE hmm_advance_all(model bayes_model, state hmm_state, observation anynonarray) (
  SFUNC = _hmm_advance_transition, STYPE = internal, SSPACE = 32768, PARALLEL = SAFE,
  FINALFUNC = _hmm_advance_final
);
COMMENT IS 'A sequence taken on by many observations: hmm_advance_all(model, state, x ORDER BY t) '
  'is the state after all of them, NULL without rows. Rows with a NULL model are skipped. '
  @hmm_advanced;

CREATE FUNCTION hmm_current(state hmm_state)
  RETURNS TABLE (state int, probability float8, next float8)
  AS 'MODULE_PATHNAME' @strict COST 10 ROWS 10;
COMMENT IS 'The states at the last step of a sequence, numbered from 1: the probability of each '
  'given the observations so far, and that it is the state of the next step. 22023 for a state '
  'that no sequence has.';

-- ---- relations: a query in, a relation out ----

CREATE FUNCTION hmm_fit(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (state int, initial float8, initial_sd float8, initial_alpha float8,
    stationary float8, visits float8, dwell float8)
  AS 'MODULE_PATHNAME', 'hmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a hidden Markov model of k states to the sequences of a query and returns the '
  'states, as hmm_states does. Other errors: as the aggregate hmm_fit. '
  @hmm_query
  @from_start
  @hmm_options;

CREATE FUNCTION hmm_model(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'hmm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a hidden Markov model of k states to the sequences of a query and returns the '
  'model.'
  ' Query, options and errors are those of hmm_fit(query, ...); NULL if there are no rows.'
  @hmm_options;

CREATE FUNCTION hmm_decode(query bayes_query, k int, options jsonb DEFAULT NULL)
  RETURNS TABLE (sequence text, t bigint, state int, probability float8)
  AS 'MODULE_PATHNAME', 'hmm_decode_query' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'Fits a hidden Markov model of k states to the sequences of a query and decodes them: '
  'for every step t (from 1) of every sequence the state on the most probable path, from 1, and '
  'its probability given the whole sequence. state is NULL if the fit failed under option on_error '
  '= null. Other errors: as hmm_fit. '
  @hmm_query
  @hmm_options;

CREATE FUNCTION hmm_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS SETOF hmm_selection
  AS 'MODULE_PATHNAME', 'hmm_select_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a hidden Markov model for every k in ks to the sequences of a query. '
  @hmm_query
  @hmm_options;

-- ---- a model and a sequence ----

CREATE FUNCTION hmm_decode(model bayes_model, sequence anyarray) RETURNS int[]
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The most probable path through a sequence (Viterbi), after gibbs the one with the '
  'largest average of log p(path, observations) over the stored draws of the parameters: its '
  'states, from 1, one per step; an empty sequence gives {}. 22003 if no path is possible. '
  @hmm_given;

CREATE FUNCTION hmm_probabilities(model bayes_model, sequence anyarray) RETURNS float8[]
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The probabilities of the states at every step, given the whole sequence (smoothing): '
  'steps x K, every row sums to 1; after gibbs their averages over the stored draws of the '
  'parameters; an empty sequence gives {}. 22003 if the sequence is impossible, 54000 if the '
  'result does not fit into an array. '
  @hmm_given;

CREATE FUNCTION hmm_filter(model bayes_model, sequence anyarray) RETURNS float8[]
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The probabilities of the states at every step, given the observations up to it '
  '(filtering): steps x K, every row sums to 1; after gibbs their averages over the stored draws '
  'of the parameters; an empty sequence gives {}. 22003 for an observation that is impossible '
  'after those before; 54000 if the result does not fit into an array. '
  @hmm_given;

CREATE FUNCTION hmm_log_likelihood(model bayes_model, sequence anyarray) RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The natural logarithm of the probability (density, for measurements) of the sequence, '
  'summed over all paths, after gibbs averaged over the stored draws of the parameters; -Infinity '
  'if it is impossible, 0 for an empty one. A symbol or label that occurred in no sequence of the '
  'fit has in each state the probability of one additional category, a / (a + sum of the Dirichlet '
  'parameters), where a is the parameter of the prior; a NULL is integrated out. '
  @hmm_given;

CREATE FUNCTION hmm_paths(model bayes_model, sequence anyarray, n int)
  RETURNS TABLE (rank int, log_probability float8, states int[])
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 10;
COMMENT IS 'The n most probable paths through a sequence (1 to 1000, fewer if there are fewer), by '
  'decreasing probability: the natural logarithm of the joint probability of path and observations '
  '(after gibbs the average of that logarithm over the stored draws of the parameters), and the '
  'states, from 1; an empty sequence gives one path of no states. 22023 for n below 1 or above '
  '1000. '
  @hmm_given;

CREATE FUNCTION hmm_predict(
  model bayes_model, sequence anyarray, horizon int DEFAULT 1, level float8 DEFAULT 0.95
) RETURNS TABLE (step int, element int, column_name text, symbol text, probability float8,
    mean float8, variance float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 100;
COMMENT IS 'The predictive distributions of the next observations, 1 to horizon (at most 100000) '
  'steps ahead, each marginally: for every step and element, from 1, its mean, its variance and '
  'the quantiles that bound an interval, those of the mixture over the states, which is not normal '
  'and may have several peaks; for an element of names, labels or categories a row for each of '
  'them, with its probability. column_name: of the element, NULL if the model was fitted to '
  'arrays. All paths are summed; after gibbs the distributions are averages of those under the '
  'stored draws of the parameters, whose spread is part of variance and interval. An empty '
  'sequence gives the distributions of the first observations. Intervals contain an observation '
  'with probability level and are equal-tailed; 22023 unless 0 < level < 1, and for another '
  'horizon. '
  @hmm_given;

CREATE FUNCTION hmm_sample(model bayes_model, sequence anyarray, horizon int, draws int,
  seed bigint)
  RETURNS TABLE (draw int, step int, state int, symbol text, x float8[])
  AS 'MODULE_PATHNAME', 'hmm_sample_after' @of_labels COST 1000 ROWS 1000;
COMMENT IS 'Draws of the continuation of a sequence, each of the next 1 to horizon (at most '
  '100000) steps: the state, from 1, and the observation, symbol for a model of names, else x. Use '
  'hmm_predict for the distribution of a single step, and draws for quantities that depend on '
  'several steps, such as a sum or a maximum. After gibbs each draw uses one of the stored draws '
  'of the parameters, after vi and svi its emissions are drawn from the posterior. The same seed '
  'gives the same draws. 22023 for another horizon or draws < 0, 54000 for more than 100000000 '
  'steps in all. '
  @hmm_given;

-- ---- a model as relations ----

CREATE FUNCTION hmm_states(model bayes_model)
  RETURNS TABLE (state int, initial float8, initial_sd float8, initial_alpha float8,
    stationary float8, visits float8, dwell float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The states, numbered from 1: initial, the probability that a sequence begins in the '
  'state; initial_sd, its posterior standard deviation (after vi corrected by linear response '
  'where that costs less than the fit, else that of the mean-field approximation, which is too '
  'small, since it treats paths and parameters as independent, and NULL where states overlap too '
  'much for the steps: sd_method of bayes_parameters says which; after gibbs that of the posterior '
  'draws), and initial_alpha, its parameter in the posterior Dirichlet distribution, NULL without '
  'a posterior; stationary, its probability under the stationary distribution, NULL if that is '
  'not unique; visits, the expected occupancy: number of steps in it, in the sequences of the '
  'fit; dwell, the expected sojourn time in steps, Infinity for an absorbing state. 42804 for a '
  'model of another family.';

CREATE FUNCTION hmm_transitions(model bayes_model)
  RETURNS TABLE (from_state int, to_state int, probability float8, sd float8, alpha float8,
    count float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 100;
COMMENT IS 'All K x K transitions, states numbered from 1: the probability of going from one to '
  'the other in one step, its posterior standard deviation (as in hmm_states) and its parameter in '
  'the posterior Dirichlet distribution (NULL without a posterior), and the expected number of '
  'such steps in the sequences of the fit. 42804 for a model of another family.';

CREATE FUNCTION hmm_emissions(model bayes_model)
  RETURNS TABLE (state int, symbol text, probability float8, sd float8, element int,
    column_name text, mean float8[], covariance float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The emission distribution of every state. For names one row per symbol, with its '
  'probability and its posterior standard deviation (NULL without a posterior; as in hmm_states). '
  'For numbers the mean and the covariance matrix: one row per element, from 1, or, if elements '
  'are correlated, one row for all, with element NULL. column_name: the name of the element, if '
  'the model was fitted to records; symbol: also a label of it. 42804 for a model of another '
  'family.';

CREATE FUNCTION hmm_posterior(model bayes_model)
  RETURNS TABLE (state int, element int, column_name text, symbol text, parameter text,
    value float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 100;
COMMENT IS 'The parameters of the conjugate posterior of the emissions, of a model fitted by vi or '
  'svi, named as in option prior: for every state, element (NULL: all elements together) and '
  'symbol (NULL: no symbol) a number, a vector, or (B of a multivariate normal) a matrix. 22023 '
  'for a model without a posterior, 42804 for a model of another family.';

CREATE FUNCTION hmm_sample(model bayes_model, n int, seed bigint)
  RETURNS TABLE (t int, state int, symbol text, x float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'A sequence of n steps drawn from the model, after gibbs from one of its stored draws '
  'of the parameters, else from the point estimate: the state, from 1, and the observation, symbol '
  'for a model of names, else x. The same seed gives the same sequence. 22023 for n < 0, 54000 for '
  'n above 100000000, 42804 for a model of another family.';
