-- The interface of non-negative factorizations, pinned as that of the others is in api.sql.
SELECT plan(2);
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface WHERE proname LIKE 'nmf%'
    AND (arguments !~ '^query' OR proname !~ '_(fit|model)$')
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('nmf_error(bayes_model)', 'function', 'model bayes_model',
    'TABLE(squared double precision, divergence double precision, explained double precision)',
    'immutable', true, 'safe'),
  ('nmf_factorize(bayes_query,integer)', 'function', 'query bayes_query, k integer',
    'TABLE(side text, key text, factor integer, value double precision, shape double precision, '
    'rate double precision)', 'volatile', false, 'unsafe'),
  ('nmf_factorize(bayes_query,integer,jsonb)', 'function',
    'query bayes_query, k integer, options jsonb',
    'TABLE(side text, key text, factor integer, value double precision, shape double precision, '
    'rate double precision)', 'volatile', false, 'unsafe'),
  ('nmf_factors(bayes_model)', 'function', 'model bayes_model',
    'TABLE(side text, key text, factor integer, value double precision, shape double precision, '
    'rate double precision)', 'immutable', true, 'safe'),
  ('nmf_fit("any","any",double precision,bayes_model)', 'aggregate',
    'row_key "any", column_key "any", value double precision, start bayes_model', 'bayes_model',
    'immutable', false, 'safe'),
  ('nmf_fit("any","any",double precision,bayes_model,jsonb)', 'aggregate',
    'row_key "any", column_key "any", value double precision, start bayes_model, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('nmf_fit("any","any",double precision,integer)', 'aggregate',
    'row_key "any", column_key "any", value double precision, k integer', 'bayes_model',
    'immutable', false, 'safe'),
  ('nmf_fit("any","any",double precision,integer,jsonb)', 'aggregate',
    'row_key "any", column_key "any", value double precision, k integer, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('nmf_fit(double precision[],bayes_model)', 'aggregate',
    'x double precision[], start bayes_model', 'bayes_model', 'immutable', false, 'safe'),
  ('nmf_fit(double precision[],bayes_model,jsonb)', 'aggregate',
    'x double precision[], start bayes_model, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('nmf_fit(double precision[],integer)', 'aggregate', 'x double precision[], k integer',
    'bayes_model', 'immutable', false, 'safe'),
  ('nmf_fit(double precision[],integer,jsonb)', 'aggregate',
    'x double precision[], k integer, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('nmf_predict(bayes_model,"any","any")', 'function',
    'model bayes_model, row_key "any", column_key "any"',
    'TABLE(mean double precision, variance double precision)', 'stable', true, 'safe'),
  ('nmf_select(bayes_query,integer[])', 'function', 'query bayes_query, ks integer[]',
    'TABLE(k integer, log_likelihood double precision, cells double precision, objective double '
    'precision, iterations integer, converged boolean, model bayes_model, standard_error double '
    'precision, best boolean, reason text)', 'volatile', false, 'unsafe'),
  ('nmf_select(bayes_query,integer[],jsonb)', 'function',
    'query bayes_query, ks integer[], options jsonb',
    'TABLE(k integer, log_likelihood double precision, cells double precision, objective double '
    'precision, iterations integer, converged boolean, model bayes_model, standard_error double '
    'precision, best boolean, reason text)', 'volatile', false, 'unsafe'),
  ('nmf_shares(bayes_model)', 'function', 'model bayes_model',
    'TABLE(factor integer, share double precision)', 'immutable', true, 'safe'),
  ('nmf_transform(bayes_model,double precision[])', 'function',
    'model bayes_model, cells double precision[]', 'double precision[]', 'immutable', true,
    'safe'),
  ('nmf_transform(bayes_model,double precision[],text)', 'function',
    'model bayes_model, cells double precision[], side text', 'double precision[]', 'immutable',
    true, 'safe'),
  ('nmf_transform(bayes_model,jsonb)', 'function', 'model bayes_model, cells jsonb',
    'double precision[]', 'immutable', true, 'safe'),
  ('nmf_transform(bayes_model,jsonb,text)', 'function', 'model bayes_model, cells jsonb, side text',
    'double precision[]', 'immutable', true, 'safe'),
  ('nmf_transform_sd(bayes_model,double precision[])', 'function',
    'model bayes_model, cells double precision[]', 'double precision[]', 'immutable', true,
    'safe'),
  ('nmf_transform_sd(bayes_model,double precision[],text)', 'function',
    'model bayes_model, cells double precision[], side text', 'double precision[]', 'immutable',
    true, 'safe'),
  ('nmf_transform_sd(bayes_model,jsonb)', 'function', 'model bayes_model, cells jsonb',
    'double precision[]', 'immutable', true, 'safe'),
  ('nmf_transform_sd(bayes_model,jsonb,text)', 'function',
    'model bayes_model, cells jsonb, side text', 'double precision[]', 'immutable', true, 'safe')$$,
  'functions and aggregates');

SELECT lives_ok($$SELECT q.key, p.mean, nmf_transform(cells => '{"2": 1}'::jsonb, model => m),
  nmf_transform(cells => '{1,1}'::float8[], model => m),
  nmf_transform_sd(model => m, cells => '{}'::jsonb),
  nmf_transform(side => 'column', cells => '{"2": 1}'::jsonb, model => m),
  nmf_transform_sd(side => 'row', cells => '{1,1}'::float8[], model => m)
  FROM (SELECT nmf_fit(ARRAY[i, 2.5], 1) AS m FROM generate_series(1, 3) AS i) AS f,
  nmf_factors(model => m), nmf_shares(model => m), nmf_error(model => m),
  nmf_predict(column_key => '2', row_key => 3,
  model => m) AS p, nmf_select(ks => '{1}', query => 'SELECT i, 1, i FROM generate_series(1, 20)
  AS i'), nmf_factorize(k => 1, query => 'SELECT 1, 2, 3', options => '{}') AS q$$,
  'arguments have names, which can be used');

SELECT * FROM finish();
