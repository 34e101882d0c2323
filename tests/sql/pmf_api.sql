-- The interface of probabilistic matrix factorizations, pinned as that of the others is in api.sql.
SELECT plan(2);
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface WHERE proname LIKE 'pmf%'
    AND (arguments !~ '^query' OR proname !~ '_(fit|model)$')
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('pmf_fit("any","any",double precision,integer)', 'aggregate',
    'row_key "any", column_key "any", value double precision, rank integer', 'bayes_model',
    'immutable', false, 'safe'),
  ('pmf_fit("any","any",double precision,integer,jsonb)', 'aggregate',
    'row_key "any", column_key "any", value double precision, rank integer, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('pmf_keys(bayes_model)', 'function', 'model bayes_model',
    'TABLE(side text, key text, mean double precision, sd double precision)', 'immutable', true,
    'safe'),
  ('pmf_predict(bayes_model,"any","any")', 'function',
    'model bayes_model, row_key "any", column_key "any"',
    'TABLE(mean double precision, sd double precision, mcse double precision)', 'stable', true,
    'safe'),
  ('pmf_predict_new(bayes_model,jsonb,"any")', 'function',
    'model bayes_model, cells jsonb, key "any"',
    'TABLE(mean double precision, sd double precision, mcse double precision)', 'stable', true,
    'safe'),
  ('pmf_predict_new(bayes_model,jsonb,"any",text)', 'function',
    'model bayes_model, cells jsonb, key "any", side text',
    'TABLE(mean double precision, sd double precision, mcse double precision)', 'stable', true,
    'safe'),
  ('pmf_recommend(bayes_model,"any",integer)', 'function',
    'model bayes_model, row_key "any", n integer',
    'TABLE(key text, mean double precision, sd double precision)', 'stable', true, 'safe'),
  ('pmf_recommend(bayes_model,"any",integer,boolean)', 'function',
    'model bayes_model, row_key "any", n integer, rated boolean',
    'TABLE(key text, mean double precision, sd double precision)', 'stable', true, 'safe'),
  ('pmf_recommend_new(bayes_model,jsonb,integer)', 'function',
    'model bayes_model, cells jsonb, n integer',
    'TABLE(key text, mean double precision, sd double precision)', 'stable', true, 'safe'),
  ('pmf_recommend_new(bayes_model,jsonb,integer,text)', 'function',
    'model bayes_model, cells jsonb, n integer, side text',
    'TABLE(key text, mean double precision, sd double precision)', 'stable', true, 'safe'),
  ('pmf_similar(bayes_model,"any",integer)', 'function',
    'model bayes_model, key "any", n integer',
    'TABLE(key text, similarity double precision, sd double precision)', 'stable', true,
    'safe'),
  ('pmf_similar(bayes_model,"any",integer,text)', 'function',
    'model bayes_model, key "any", n integer, side text',
    'TABLE(key text, similarity double precision, sd double precision)', 'stable', true,
    'safe')$$,
  'functions and aggregates');

SELECT lives_ok($$SELECT p.mean, p.sd, r.key, s.similarity
  FROM (SELECT pmf_fit(i, i % 3, i, 1, '{"draws": 4}') AS m FROM generate_series(1, 9) AS i) AS f,
  pmf_predict(column_key => '2', row_key => 3, model => m) AS p,
  pmf_recommend(rated => true, n => 1, row_key => 3, model => m) AS r,
  pmf_similar(side => 'row', n => 1, key => 3, model => m) AS s$$,
  'arguments have names, which can be used');

SELECT * FROM finish();
