-- The interface of hidden Markov models, pinned as that of the others is in api.sql.
SELECT plan(1);
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface WHERE proname LIKE 'hmm%' AND proname !~ '_(parameters|profile)$'
    AND signature !~ '_fit\((double precision,double precision,integer\)|anynonarray|.*smallint)'
    AND (arguments !~ '^query' OR proname !~ '_(fit|model)$')
    AND arguments !~ '^x (record|double precision|boolean)(,|$)'
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('hmm_decode(bayes_model,anyarray)', 'function', 'model bayes_model, sequence anyarray',
    'integer[]', 'stable', true, 'safe'),
  ('hmm_decode(bayes_model,anynonarray)', 'window', 'model bayes_model, observation anynonarray',
    'integer', 'stable', false, 'safe'),
  ('hmm_decode(bayes_query,integer)', 'function', 'query bayes_query, k integer',
    'TABLE(sequence text, t bigint, state integer, probability double precision)', 'volatile',
    false, 'unsafe'),
  ('hmm_decode(bayes_query,integer,jsonb)', 'function',
    'query bayes_query, k integer, options jsonb',
    'TABLE(sequence text, t bigint, state integer, probability double precision)', 'volatile',
    false, 'unsafe'),
  ('hmm_emissions(bayes_model)', 'function', 'model bayes_model',
    'TABLE(state integer, symbol text, probability double precision, sd double precision, element '
    'integer, column_name text, mean double precision[], covariance double precision[])',
    'immutable', true, 'safe'),
  ('hmm_filter(bayes_model,anyarray)', 'function', 'model bayes_model, sequence anyarray',
    'double precision[]', 'stable', true, 'safe'),
  ('hmm_filter(bayes_model,anynonarray)', 'window', 'model bayes_model, observation anynonarray',
    'double precision[]', 'stable', false, 'safe'),
  ('hmm_fit(anyarray,bayes_model)', 'aggregate', 'sequence anyarray, start bayes_model',
    'bayes_model', 'immutable', false, 'safe'),
  ('hmm_fit(anyarray,bayes_model,jsonb)', 'aggregate',
    'sequence anyarray, start bayes_model, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('hmm_fit(anyarray,bayes_model,jsonb,double precision)', 'aggregate',
    'sequence anyarray, start bayes_model, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('hmm_fit(anyarray,integer)', 'aggregate', 'sequence anyarray, k integer', 'bayes_model',
    'immutable', false, 'safe'),
  ('hmm_fit(anyarray,integer,jsonb)', 'aggregate', 'sequence anyarray, k integer, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('hmm_fit(anyarray,integer,jsonb,double precision)', 'aggregate',
    'sequence anyarray, k integer, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('hmm_fit(anyarray,integer[],integer)', 'aggregate',
    'sequence anyarray, states integer[], k integer', 'bayes_model', 'immutable', false, 'safe'),
  ('hmm_fit(anyarray,integer[],integer,jsonb)', 'aggregate',
    'sequence anyarray, states integer[], k integer, options jsonb', 'bayes_model', 'immutable',
    false, 'safe'),
  ('hmm_log_likelihood(bayes_model,anyarray)', 'function', 'model bayes_model, sequence anyarray',
    'double precision', 'stable', true, 'safe'),
  ('hmm_paths(bayes_model,anyarray,integer)', 'function',
    'model bayes_model, sequence anyarray, n integer',
    'TABLE(rank integer, log_probability double precision, states integer[])', 'stable', true,
    'safe'),
  ('hmm_posterior(bayes_model)', 'function', 'model bayes_model',
    'TABLE(state integer, element integer, column_name text, symbol text, parameter text, value '
    'double precision[])', 'immutable', true, 'safe'),
  ('hmm_predict(bayes_model,anyarray)', 'function', 'model bayes_model, sequence anyarray',
    'TABLE(element integer, column_name text, symbol text, probability double precision, mean '
    'double precision, variance double precision, lower double precision, upper double '
    'precision)', 'stable', true, 'safe'),
  ('hmm_predict(bayes_model,anyarray,integer)', 'function',
    'model bayes_model, sequence anyarray, horizon integer',
    'TABLE(step integer, element integer, column_name text, symbol text, probability double '
    'precision, mean double precision, variance double precision, lower double precision, upper '
    'double precision)', 'stable', true, 'safe'),
  ('hmm_predict(bayes_model,anyarray,integer,double precision)', 'function',
    'model bayes_model, sequence anyarray, horizon integer, level double precision',
    'TABLE(step integer, element integer, column_name text, symbol text, probability double '
    'precision, mean double precision, variance double precision, lower double precision, upper '
    'double precision)', 'stable', true, 'safe'),
  ('hmm_probabilities(bayes_model,anyarray)', 'function', 'model bayes_model, sequence anyarray',
    'double precision[]', 'stable', true, 'safe'),
  ('hmm_probabilities(bayes_model,anynonarray)', 'window',
    'model bayes_model, observation anynonarray', 'double precision[]', 'stable', false, 'safe'),
  ('hmm_sample(bayes_model,anyarray,integer,integer,bigint)', 'function',
    'model bayes_model, sequence anyarray, horizon integer, draws integer, seed bigint',
    'TABLE(draw integer, step integer, state integer, symbol text, x double precision[])',
    'stable', true, 'safe'),
  ('hmm_sample(bayes_model,integer,bigint)', 'function',
    'model bayes_model, n integer, seed bigint',
    'TABLE(t integer, state integer, symbol text, x double precision[])', 'immutable', true,
    'safe'),
  ('hmm_select(anyarray,integer[])', 'aggregate', 'sequence anyarray, ks integer[]',
    'hmm_selection[]', 'immutable', false, 'safe'),
  ('hmm_select(anyarray,integer[],jsonb)', 'aggregate',
    'sequence anyarray, ks integer[], options jsonb', 'hmm_selection[]', 'immutable', false,
    'safe'),
  ('hmm_select(bayes_query,integer[])', 'function', 'query bayes_query, ks integer[]',
    'SETOF hmm_selection', 'volatile', false, 'unsafe'),
  ('hmm_select(bayes_query,integer[],jsonb)', 'function',
    'query bayes_query, ks integer[], options jsonb', 'SETOF hmm_selection', 'volatile', false,
    'unsafe'),
  ('hmm_states(bayes_model)', 'function', 'model bayes_model',
    'TABLE(state integer, initial double precision, initial_sd double precision, initial_alpha '
    'double precision, stationary double precision, visits double precision, dwell double '
    'precision)', 'immutable', true, 'safe'),
  ('hmm_transitions(bayes_model)', 'function', 'model bayes_model',
    'TABLE(from_state integer, to_state integer, probability double precision, sd double '
    'precision, alpha double precision, count double precision)', 'immutable', true, 'safe'),
  ('hmm_update(anyarray,bayes_model)', 'aggregate', 'sequence anyarray, prior bayes_model',
    'bayes_model', 'immutable', false, 'safe'),
  ('hmm_update(anyarray,bayes_model,jsonb)', 'aggregate',
    'sequence anyarray, prior bayes_model, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('hmm_update(anyarray,bayes_model,jsonb,double precision)', 'aggregate',
    'sequence anyarray, prior bayes_model, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe')$$, 'the functions that users call');

SELECT * FROM finish();
