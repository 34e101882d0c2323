-- The columns of every function that returns rows: what the module writes is of the declared type.
-- Values are compared with the declaration when they are written, so every function is called, with
-- models that leave no column NULL.
SELECT plan(190);
SET client_min_messages = error;

CREATE TABLE models (family text, model bayes_model);
INSERT INTO models
  SELECT 'gmm', gmm_fit(x, 2) FROM faithful
  UNION ALL
  SELECT 'gmm', gmm_fit(x, 2, '{"prior": {"type": "independent"}}') FROM faithful
  UNION ALL
  SELECT 'bmm', bmm_fit(ARRAY[a - 1, b - 1], 2) FROM role_conflict
  UNION ALL
  SELECT 'bmm', bmm_fit(ARRAY[a, b], 2, '{"likelihood": "categorical"}') FROM role_conflict
  UNION ALL
  SELECT 'dpmm', dpmm_fit(x, '{"draws": 20, "chains": 2}') FROM galaxies;

-- Sequences of names, of numbers, of vectors and of records.
CREATE TABLE names AS SELECT ARRAY['a', 'b', 'b', 'a', 'c', 'a', 'b', 'c', 'c', 'a'] AS s;
CREATE TABLE numbers AS SELECT array_agg(velocity ORDER BY id) AS s FROM galaxies;
CREATE TABLE vectors AS SELECT array_agg(x ORDER BY id) AS s FROM faithful;
CREATE TYPE step AS (velocity float8, name text);
CREATE TABLE steps AS
  SELECT array_agg((velocity, names.s[1 + id % 10])::step ORDER BY id) AS s FROM galaxies, names;
INSERT INTO models
  SELECT 'hmm', hmm_fit(s, 2, '{"method": "vi"}') FROM names
  UNION ALL
  SELECT 'hmm', hmm_fit(s, 2, '{"method": "vi"}') FROM numbers
  UNION ALL
  SELECT 'hmm', hmm_fit(s, 2, '{"method": "vi"}') FROM vectors
  UNION ALL
  SELECT 'hmm', hmm_fit(s, 2, '{"method": "vi"}') FROM steps;

INSERT INTO models SELECT 'lda', lda_fit(s, 2) FROM names;
INSERT INTO models SELECT 'pmf', pmf_fit(a, b, count, 2, '{"draws": 20, "repeated": "last"}')
  FROM role_conflict;
INSERT INTO models SELECT 'linreg', linreg_fit(a, b) FROM role_conflict;
INSERT INTO models SELECT 'nmf', nmf_fit(a, b, count, 2) FROM role_conflict;
INSERT INTO models SELECT 'glm',
  glm_fit(a, ARRAY[b, c], jsonb_build_object('response', response)) FROM role_conflict,
  unnest('{negative_binomial,categorical}'::text[]) AS response GROUP BY response;
INSERT INTO models SELECT 'logreg', logreg_fit(a = 1, ARRAY[b, c]) FROM role_conflict;
INSERT INTO models SELECT 'probit', probit_fit(a = 1, ARRAY[b, c]) FROM role_conflict;

-- Proper priors, as the others have no evidence.
INSERT INTO models
  SELECT 'beta_bernoulli', beta_bernoulli_fit(id % 3 = 0) FROM faithful
  UNION ALL
  SELECT 'gamma_poisson', gamma_poisson_fit(id % 3) FROM faithful
  UNION ALL
  SELECT 'normal_inverse_gamma', normal_inverse_gamma_fit(velocity) FROM galaxies
  UNION ALL
  SELECT 'dirichlet_categorical', dirichlet_categorical_fit(species) FROM iris;

INSERT INTO models SELECT 'nb', nb_fit(species, r)
  FROM (SELECT species, r FROM iris, LATERAL (SELECT petal_width, left(species, 1) AS l) AS r) AS t;
INSERT INTO models SELECT 'bmm', bmm_fit(r, 2) FROM (SELECT species, x[1] AS width FROM iris) AS r;
INSERT INTO models SELECT 'dpmm', dpmm_fit(r, '{"draws": 20, "chains": 2}')
  FROM (SELECT species, x[1] AS width FROM iris) AS r;
INSERT INTO models SELECT 'gmm', gmm_fit(r, 2) FROM (SELECT x[1] AS width FROM iris) AS r;

CREATE TABLE calls (signature text PRIMARY KEY, query text);
-- Functions of a model alone.
INSERT INTO calls
  SELECT name || '(bayes_model)',
    format('SELECT r.* FROM models, %I(model) AS r %s', name, condition)
  FROM (VALUES ('bayes_info', ''), ('bayes_trace', ''), ('bayes_columns', ''),
    ('bayes_draws', 'WHERE family = ''dpmm''')) AS f(name, condition);
INSERT INTO calls
  SELECT format('%s(bayes_model)', proname),
    format('SELECT r.* FROM models, %s(model) AS r WHERE family = %L', oid::regproc, family)
  FROM pg_proc, (SELECT DISTINCT family FROM models) AS f
  WHERE proretset AND pronargs - pronargdefaults = 1 AND proargtypes[0] = 'bayes_model'::regtype
    AND starts_with(proname, family || '_');
INSERT INTO calls
  SELECT format('bayes_%s of %s', name, family),
    format('SELECT r.* FROM models, bayes_%s AS r WHERE family = %L', call, family)
  FROM (VALUES ('interval', 'interval(model, 0.5)'), ('difference', 'difference(model, model)'))
      AS f(name, call),
    unnest('{beta_bernoulli,gamma_poisson,normal_inverse_gamma}'::text[]) AS family;
INSERT INTO calls
  SELECT format('bayes_parameters of %s', family),
    format('SELECT r.* FROM models, bayes_parameters(model, 0.5) AS r WHERE family = %L', family)
  FROM unnest('{gmm,bmm,dpmm,hmm,beta_bernoulli,gamma_poisson,normal_inverse_gamma,'
    'dirichlet_categorical}'::text[]) AS family;
INSERT INTO calls
  SELECT oid::regprocedure::text, format('SELECT * FROM %s(%s)', oid::regproc,
    CASE proname WHEN 'dirichlet_draws' THEN '2, ''{1,2}'', 1'
      WHEN 'categorical_draws' THEN '2, ''{1,2}'', 1'
      WHEN 'multivariate_normal_draws' THEN '2, ''{1,2}'', ''{{1,0},{0,1}}'', 1'
      WHEN 'wishart_draws' THEN '2, 3, ''{{1,0},{0,1}}'', 1'
      WHEN 'binomial_draws' THEN '2, 5, 0.5, 1' WHEN 'uniform_draws' THEN '2, 1, 3, 1'
      ELSE concat_ws(', ', '2', CASE WHEN proname = 'student_draws' THEN 5 END,
        CASE WHEN proname <> 'poisson_draws' THEN 1 END, 2, 1) END)
  FROM pg_proc WHERE proname ~ '_draws$' AND proname <> 'bayes_draws';
INSERT INTO calls
  SELECT format('%s(bayes_query) from a model', relation),
    format('SELECT r.* FROM (SELECT %1$s_model(%2$L, %3$s) AS m) AS f, '
      '%4$s(%2$L, start => m) AS r', family, query, argument, relation)
  FROM (VALUES ('gmm', 'SELECT x FROM faithful', '2'),
      ('bmm', 'SELECT a - 1 FROM role_conflict', '1'),
      ('dpmm', 'SELECT velocity FROM galaxies', '''{"method": "vi"}'''),
      ('hmm', 'SELECT 1, s FROM steps', '2'), ('lda', 'SELECT s FROM names', '2'),
      ('nmf', 'SELECT 1, 2, 3', '1'),
      ('pmf', 'SELECT a, b, max(count) FROM role_conflict GROUP BY a, b', '2'))
      AS f(family, query, argument), LATERAL (SELECT CASE family WHEN 'lda' THEN 'lda_topics'
        WHEN 'nmf' THEN 'nmf_factorize' ELSE family || '_fit' END AS relation) AS r;
CREATE FUNCTION parabola(x float8[]) RETURNS float8 IMMUTABLE RETURN -x[1] * x[1];
INSERT INTO calls VALUES
  ('mh_sample(regprocedure,double precision[])',
   'SELECT * FROM mh_sample(''parabola(float8[])'', ''{0}'')'),
  ('mh_sample(regprocedure,double precision[],jsonb)',
   'SELECT * FROM mh_sample(''parabola(float8[])'', ''{0}'', ''{"draws": 20}'')');
INSERT INTO calls VALUES
  ('bayes_draws(bayes_model,integer)',
   'SELECT r.* FROM models, bayes_draws(model, 2) AS r WHERE family = ''dpmm'''),
  ('bayes_draws(bayes_model,integer,bigint)',
   'SELECT r.* FROM models, bayes_draws(model, 2, 3) AS r WHERE family = ''dpmm''');
INSERT INTO calls
  SELECT format('bayes_coefficients of %s', family),
    format('SELECT r.* FROM models, bayes_coefficients(model, 0.5) AS r WHERE family = %L', family)
  FROM unnest('{linreg,glm,logreg,probit}'::text[]) AS family;
INSERT INTO calls
  SELECT format('bayes_contrast%s of %s', level, family),
    format('SELECT r.* FROM (SELECT * FROM models WHERE family = %L) AS models,
      LATERAL (SELECT jsonb_build_object(term, 1) AS weights FROM bayes_coefficients(model) LIMIT 1)
        AS w, bayes_contrast(model, weights%s) AS r', family, level)
  FROM unnest('{linreg,glm,logreg,probit}'::text[]) AS family,
    unnest('{"",", 0.5"}'::text[]) AS level;
INSERT INTO calls
  SELECT format('lda_top_topics(bayes_model,%s%s)', type, more),
    format('SELECT r.* FROM models, lda_top_topics(model, %L::%s%s) AS r WHERE family = ''lda''',
      document, type, number)
  FROM (VALUES ('tsvector', 'a:1 b:2'), ('text[]', '{a,b}'), ('jsonb', '{"a": 1}'))
      AS d(type, document),
    (VALUES ('', ''), (',integer', ', 2')) AS n(more, number);
INSERT INTO calls VALUES
  ('bayes_match(bayes_model,bayes_model)',
   'SELECT r.* FROM models, bayes_match(model, model) AS r WHERE family IN (''gmm'', ''hmm'')'),
  ('bayes_compare(bayes_model,bayes_model)',
   'SELECT r.* FROM models, bayes_compare(model, model) AS r
    WHERE family = ''bmm'' AND model::jsonb ? ''row_columns'' '),
  ('bayes_parameters(bayes_model,double precision)',
   'SELECT r.* FROM models, bayes_parameters(model) AS r WHERE family <> ''pmf'''),
  ('bayes_sample(bayes_model,integer,bigint)',
   'SELECT r.* FROM models, bayes_sample(model, 2, 1) AS r WHERE family = ''gmm'''),
  ('bayes_sample(bayes_model,integer,bigint,"any")',
   'SELECT r.* FROM models, bayes_sample(model, 2, 1, ''{1,NULL}''::int[]) AS r
    WHERE family = ''gmm'' AND NOT model::jsonb ? ''row_columns'' '),
  ('bayes_arms(bayes_model[],double precision)',
   'SELECT r.* FROM models, bayes_arms(ARRAY[model, model]) AS r
    WHERE family = ''beta_bernoulli'''),
  ('bayes_sample_rows(bayes_model,integer,bigint)',
   'SELECT r.* FROM models, bayes_sample_rows(model, 2, 1) AS r
    WHERE family = ''gmm'' AND model::jsonb ? ''row_columns'' '),
  ('bayes_sample_rows(bayes_model,integer,bigint,anyelement)',
   'SELECT r AS drawn FROM models, bayes_sample_rows(model, 2, 1, ''{1,NULL}''::int[]) AS r
    WHERE family = ''gmm'' AND NOT model::jsonb ? ''row_columns'' '),
  ('bayes_conditional(bayes_model,"any",double precision)',
   'SELECT r.* FROM models, (SELECT ''setosa''::text AS species, NULL::float8 AS width UNION ALL
      SELECT NULL, 1) AS t, bayes_conditional(model, t) AS r
    WHERE family = ''bmm'' AND model::jsonb ? ''row_columns'' '),
  ('bayes_chart_data(bayes_model,text,jsonb)',
   'SELECT r.panel, r.title, r.mark, r.series, r.path, r.x, r.x_label, r.y, r.y_label, r.lower,
      r.upper, r.value FROM models, bayes_chart_data(model) AS r'),
  ('bayes_chart_data(bayes_model[],text,jsonb)',
   'SELECT r.series, r.path, r.x, r.y, r.panel, r.mark
    FROM models, bayes_chart_data(ARRAY[model, model]) AS r WHERE family = ''gmm'''),
  ('bayes_chart_data(bayes_query,bayes_model,text,jsonb)',
   'SELECT r.* FROM (SELECT nb_fit(species, x) AS n FROM iris) AS m,
      unnest(ARRAY[''columns'', ''confusion'']) AS kind,
      bayes_chart_data(''SELECT species, x FROM iris'', n, kind) AS r
    UNION ALL
    SELECT r.* FROM models, bayes_chart_data(
      ''SELECT date ''''2024-01-01'''' + g, s FROM names, generate_series(0, 1) AS g'', model) AS r
    WHERE family = ''lda'' '),
  ('bayes_mutual_information(bayes_model,jsonb)',
   'SELECT r.* FROM models, bayes_mutual_information(model, ''{"draws": 9}'') AS r
    WHERE family = ''bmm'' '),
  ('bayes_surprise(bayes_model,"any")',
   'SELECT r.* FROM models, (SELECT ''setosa''::text AS species, 3.5 AS width) AS t,
      bayes_surprise(model, t) AS r WHERE family = ''bmm'' AND model::jsonb ? ''row_columns'' '),
  ('bayes_impute(bayes_model,anyelement,integer,bigint)',
   'SELECT r AS filled FROM models, bayes_impute(model, ''{1,NULL}''::int[], 2, 1) AS r
    WHERE family = ''gmm'' AND NOT model::jsonb ? ''row_columns'' '),
  ('hmm_current(hmm_state)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM names) AS f,
      hmm_current(hmm_advance(m, NULL, ''a''::text)) AS r'),
  ('hmm_sample(bayes_model,integer,bigint)',
   'SELECT r.* FROM models, hmm_sample(model, 2, 1) AS r WHERE family = ''hmm'''),
  ('hmm_paths(bayes_model,anyarray,integer)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM names) AS f, names, hmm_paths(m, s, 2) AS r'),
  ('hmm_predict(bayes_model,anyarray)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM steps) AS f, steps, hmm_predict(m, s) AS r'),
  ('hmm_sample(bayes_model,anyarray,integer,integer,bigint)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM names) f, names, hmm_sample(m, s, 2, 1, 1) r
    UNION ALL
    SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM steps) f, steps, hmm_sample(m, s, 2, 1, 1) r'),
  ('hmm_predict(bayes_model,anyarray,integer,double precision)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM steps) f, steps, hmm_predict(m, s, 2, .9) r'),
  ('hmm_predict(bayes_model,anyarray,integer)',
   'SELECT r.* FROM (SELECT hmm_fit(s, 2) AS m FROM steps) f, steps, hmm_predict(m, s, 2) AS r'),
  ('lda_topics(bayes_model,integer)',
   'SELECT r.* FROM models, lda_topics(model, 2) AS r WHERE family = ''lda'''),
  ('lda_relevance(bayes_model,double precision)',
   'SELECT r.* FROM models, lda_relevance(model, 0.5) AS r WHERE family = ''lda'''),
  ('lda_relevance(bayes_model,double precision,integer)',
   'SELECT r.* FROM models, lda_relevance(model, 0.5, 2) AS r WHERE family = ''lda'''),
  ('dpmm_fit(bayes_query)', 'SELECT * FROM dpmm_fit(''SELECT velocity FROM galaxies'')'),
  ('dpmm_fit(bayes_query,jsonb)',
   'SELECT * FROM dpmm_fit(''SELECT velocity FROM galaxies'', ''{"draws": 30}'')'),
  ('hmm_fit(bayes_query,integer)', 'SELECT * FROM hmm_fit(''SELECT 1, s FROM steps'', 2)'),
  ('hmm_fit(bayes_query,integer,jsonb)',
   'SELECT * FROM hmm_fit(''SELECT 1, s FROM steps'', 2, NULL)'),
  ('pmf_fit(bayes_query,integer)',
   'SELECT * FROM pmf_fit(''SELECT i % 7, i % 5, sin(i) FROM generate_series(1, 35) AS i'', 2)'),
  ('pmf_fit(bayes_query,integer,jsonb)',
   'SELECT * FROM pmf_fit(''SELECT i % 7, i % 5, i FROM generate_series(1, 35) AS i'', 2, NULL)'),
  ('linreg_fit(bayes_query,jsonb)',
   'SELECT * FROM linreg_fit(''SELECT a, b FROM role_conflict'', ''{}''::jsonb)'),
  ('linreg_fit(bayes_query,text)',
   'SELECT * FROM linreg_fit(''SELECT a, b FROM role_conflict'', ''{}'')'),
  ('glm_fit(bayes_query,jsonb)',
   'SELECT * FROM glm_fit(''SELECT a, b FROM role_conflict'',
    ''{"response": "categorical"}''::jsonb)'),
  ('glm_fit(bayes_query,text)',
   'SELECT * FROM glm_fit(''SELECT a, b FROM role_conflict'', ''{"response": "categorical"}'')'),
  ('glm_fit_statistics(bayes_query,bayes_model,double precision,integer)',
   'SELECT r.* FROM models, glm_fit_statistics(''SELECT a, ARRAY[b, c] FROM role_conflict'', model)
    AS r WHERE family = ''glm'''),
  ('glm_probabilities(bayes_model,"any",double precision)',
   'SELECT r.* FROM (SELECT glm_fit(a, b, ''{"response": "categorical"}'') AS model
    FROM role_conflict) AS f, glm_probabilities(model, ARRAY[1]) AS r'),
  ('logreg_fit(bayes_query)', 'SELECT * FROM logreg_fit(''SELECT a > 2, b FROM role_conflict'')'),
  ('logreg_fit(bayes_query,jsonb)',
   'SELECT * FROM logreg_fit(''SELECT a > 2, b FROM role_conflict'', ''{}''::jsonb)'),
  ('logreg_fit(bayes_query,text)',
   'SELECT * FROM logreg_fit(''SELECT a > 2, b FROM role_conflict'', ''{}'')'),
  ('probit_fit(bayes_query)', 'SELECT * FROM probit_fit(''SELECT a > 2, b FROM role_conflict'')'),
  ('probit_fit(bayes_query,jsonb)',
   'SELECT * FROM probit_fit(''SELECT a > 2, b FROM role_conflict'', ''{}''::jsonb)'),
  ('probit_fit(bayes_query,text)',
   'SELECT * FROM probit_fit(''SELECT a > 2, b FROM role_conflict'', ''{}'')'),
  ('nb_fit(bayes_query,jsonb)',
   'SELECT * FROM nb_fit(''SELECT a > 2, b FROM role_conflict'', ''{}''::jsonb)'),
  ('nb_fit(bayes_query,text)',
   'SELECT * FROM nb_fit(''SELECT a > 2, b FROM role_conflict'', ''{}'')'),
  ('lda_topics(bayes_query,integer)', 'SELECT * FROM lda_topics(''SELECT s FROM names'', 2)'),
  ('lda_topics(bayes_query,integer,jsonb)',
   'SELECT * FROM lda_topics(''SELECT s FROM names'', 2, NULL)'),
  ('lda_select(bayes_query,integer[])',
   'SELECT * FROM lda_select(''SELECT ARRAY[species, species] FROM iris'', ''{2}'')'),
  ('lda_select(bayes_query,integer[],jsonb)',
   'SELECT * FROM lda_select(''SELECT ARRAY[species, species] FROM iris'', ''{2}'', '
   '''{"models": true}'')'),
  ('lda_coherence(bayes_query,bayes_model)',
   'SELECT r.* FROM models, lda_coherence(''SELECT s FROM names'', model) AS r
    WHERE family = ''lda'''),
  ('lda_coherence(bayes_query,bayes_model,integer)',
   'SELECT r.* FROM models, lda_coherence(''SELECT s FROM names'', model, 2) AS r
    WHERE family = ''lda'''),
  ('bayes_score(bayes_query,bayes_model)',
   'SELECT r.* FROM (SELECT nb_fit(species, x) FROM iris) AS n(nb),
      (SELECT lda_fit(ARRAY[species, species], 2) FROM iris) AS l(lda), LATERAL
      (SELECT * FROM bayes_score(''SELECT species, x FROM iris'', nb) UNION ALL
       SELECT * FROM bayes_score(''SELECT ARRAY[species, species] FROM iris'',
         lda)) AS r'),
  ('bayes_score_difference(bayes_query,bayes_model,bayes_model)',
   'SELECT r.* FROM (SELECT nb_fit(species, x) FROM iris) AS n(nb),
      (SELECT lda_fit(ARRAY[species, species], 2) FROM iris) AS l(lda), LATERAL
      (SELECT * FROM bayes_score_difference(''SELECT species, x FROM iris'', nb, nb) UNION ALL
       SELECT * FROM bayes_score_difference(''SELECT ARRAY[species, species] FROM iris'',
         lda, lda)) AS r'),
  ('bayes_profile(bayes_query,bayes_model)',
   'SELECT r.* FROM (SELECT bmm_fit(i, 2) FROM (SELECT species, x[1] AS width FROM iris) AS i)
      AS m(m), bayes_profile(''SELECT species, x[1] AS width FROM iris'', m) AS r'),
  ('bayes_drift(bayes_query,bayes_model)',
   'SELECT r.* FROM (SELECT bmm_fit(i, 2) FROM (SELECT species, x[1] AS width FROM iris) AS i)
      AS m(m), bayes_drift(''SELECT species, x[1] AS width FROM iris'', m) AS r'),
  ('lda_typical_documents(bayes_query,bayes_model)',
   'SELECT r.* FROM models, lda_typical_documents(''SELECT 1, s FROM names'', model) AS r
    WHERE family = ''lda'''),
  ('lda_typical_documents(bayes_query,bayes_model,integer)',
   'SELECT r.* FROM models, lda_typical_documents(''SELECT 1, s FROM names'', model, 2) AS r
    WHERE family = ''lda'''),
  ('gmm_fit(bayes_query,integer)', 'SELECT * FROM gmm_fit(''SELECT x FROM faithful'', 2)'),
  ('gmm_fit(bayes_query,integer,jsonb)',
   'SELECT * FROM gmm_fit(''SELECT x FROM faithful'', 2, NULL)'),
  ('gmm_select(bayes_query,integer[])',
   'SELECT * FROM gmm_select(''SELECT x FROM faithful'', ''{1}'')'),
  ('gmm_select(bayes_query,integer[],jsonb)',
   'SELECT * FROM gmm_select(''SELECT x FROM faithful'', ''{1}'', ''{"models": true}'')'),
  ('hmm_select(bayes_query,integer[])',
   'SELECT * FROM hmm_select(''SELECT 1, s FROM names'', ''{1}'')'),
  ('hmm_select(bayes_query,integer[],jsonb)',
   'SELECT * FROM hmm_select(''SELECT 1, s FROM names'', ''{1}'', ''{"models": true}'')'),
  ('bmm_fit(bayes_query,integer)', 'SELECT * FROM bmm_fit(''SELECT a - 1 FROM role_conflict'', 1)'),
  ('bmm_fit(bayes_query,integer,jsonb)',
   'SELECT * FROM bmm_fit(''SELECT a - 1 FROM role_conflict'', 1, NULL)'),
  ('bmm_select(bayes_query,integer[])',
   'SELECT * FROM bmm_select(''SELECT a - 1 FROM role_conflict'', ''{1}'')'),
  ('bmm_select(bayes_query,integer[],jsonb)',
   'SELECT * FROM bmm_select(''SELECT a - 1 FROM role_conflict'', ''{1}'', '
   '''{"models": true}'')'),
  ('dpmm_cluster(bayes_query)',
   'SELECT * FROM dpmm_cluster(''SELECT id, x FROM galaxies LIMIT 20'')'),
  ('dpmm_cluster(bayes_query,jsonb)',
   'SELECT * FROM dpmm_cluster(''SELECT id, x FROM galaxies'', ''{"draws": 40}'')'),
  ('dpmm_credible_bounds(bayes_query)',
   'SELECT * FROM dpmm_credible_bounds(''SELECT id, x FROM galaxies LIMIT 20'')'),
  ('dpmm_credible_bounds(bayes_query,jsonb)',
   'SELECT * FROM dpmm_credible_bounds(''SELECT id, x FROM galaxies'', ''{"draws": 4}'')'),
  ('dpmm_similarity(bayes_query)',
   'SELECT * FROM dpmm_similarity(''SELECT id, x FROM galaxies LIMIT 20'')'),
  ('dpmm_similarity(bayes_query,jsonb)',
   'SELECT * FROM dpmm_similarity(''SELECT id, x FROM galaxies'', ''{"draws": 40}'')'),
  ('nb_features(bayes_model,double precision)',
   'SELECT r.* FROM models, nb_features(model, 0.5) AS r WHERE family = ''nb'''),
  ('nb_probabilities(bayes_model,"any")',
   'SELECT r.* FROM models, (SELECT 1 AS petal_width, ''v'' AS l) AS x, '
   'nb_probabilities(model, x) AS r WHERE family = ''nb'''),
  ('nmf_predict(bayes_model,"any","any")',
   'SELECT r.* FROM models, nmf_predict(model, 1, 2) AS r WHERE family = ''nmf'''),
  ('nmf_select(bayes_query,integer[])',
   'SELECT * FROM nmf_select(''SELECT id, x FROM faithful'', ''{2}'')'),
  ('nmf_select(bayes_query,integer[],jsonb)',
   'SELECT * FROM nmf_select(''SELECT id, x FROM faithful'', ''{2}'', ''{"models": true}'')'),
  ('pmf_predict(bayes_model,"any","any")',
   'SELECT r.* FROM models, pmf_predict(model, 1, 2) AS r WHERE family = ''pmf'''),
  ('pmf_predict_new(bayes_model,jsonb,"any")',
   'SELECT r.* FROM models, pmf_predict_new(model, ''{"2": 1}'', 3) AS r WHERE family = ''pmf'''),
  ('pmf_predict_new(bayes_model,jsonb,"any",text)',
   'SELECT r.* FROM models, pmf_predict_new(model, ''{"1": 1}'', 2, ''column'') AS r
    WHERE family = ''pmf'''),
  ('pmf_recommend_new(bayes_model,jsonb,integer)',
   'SELECT r.* FROM models, pmf_recommend_new(model, ''{"2": 1}'', 3) AS r WHERE family = ''pmf'''),
  ('pmf_recommend_new(bayes_model,jsonb,integer,text)',
   'SELECT r.* FROM models, pmf_recommend_new(model, ''{"1": 1}'', 2, ''column'') AS r
    WHERE family = ''pmf'''),
  ('pmf_recommend(bayes_model,"any",integer)',
   'SELECT r.* FROM models, pmf_recommend(model, 9, 2) AS r WHERE family = ''pmf'''),
  ('pmf_recommend(bayes_model,"any",integer,boolean)',
   'SELECT r.* FROM models, pmf_recommend(model, 1, 2, true) AS r WHERE family = ''pmf'''),
  ('pmf_similar(bayes_model,"any",integer)',
   'SELECT r.* FROM models, pmf_similar(model, 2, 2) AS r WHERE family = ''pmf'''),
  ('pmf_similar(bayes_model,"any",integer,text)',
   'SELECT r.* FROM models, pmf_similar(model, 2, 2, ''row'') AS r WHERE family = ''pmf'''),
  ('linreg_stats_info(linreg_stats)',
   'SELECT r.* FROM (SELECT linreg_stats(a, b) AS s FROM role_conflict) AS f, '
   'linreg_stats_info(s) AS r'),
  ('nmf_factorize(bayes_query,integer)', 'SELECT * FROM nmf_factorize(''SELECT 1, 2, 3'', 1)'),
  ('nmf_factorize(bayes_query,integer,jsonb)',
   'SELECT * FROM nmf_factorize(''SELECT 1, 2, 3'', 1, NULL)'),
  ('hmm_decode(bayes_query,integer)', 'SELECT * FROM hmm_decode(''SELECT 1, s FROM names'', 2)'),
  ('hmm_decode(bayes_query,integer,jsonb)',
   'SELECT * FROM hmm_decode(''SELECT 1, s FROM names'', 2, NULL)'),
  -- No row here: tests/t/progress.pl calls it while others fit.
  ('_bayes_progress()', 'SELECT * FROM _bayes_progress() WHERE pid = pg_backend_pid()');

SELECT set_eq($$SELECT p.proname::text
  FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'pg_bayes'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND p.proretset$$,
  $$SELECT substring(signature, '^\w+') FROM calls$$,
  'every function that returns rows is called here');

-- The columns of a query that are NULL in all rows.
CREATE FUNCTION empty_columns(query text, OUT names text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT string_agg(field, '', '' ORDER BY field)
    FROM (SELECT c.field FROM (%s) AS r, jsonb_each(to_jsonb(r)) AS c(field, content)
    GROUP BY c.field HAVING bool_and(content = ''null'')) AS k', query) INTO names;
END $$;
SELECT is(empty_columns(query), CASE WHEN signature = 'bayes_parameters of gmm'
    THEN 'category, label'
  WHEN signature = 'bayes_parameters of dirichlet_categorical'
    THEN 'category, column_name, element, likelihood'
  WHEN signature ~ '^bayes_parameters of (beta|gamma|normal)_'
    THEN 'category, column_name, element, label, likelihood'
  WHEN signature ~ '_select' AND signature !~ 'jsonb' THEN 'model' END,
  signature || ' fills every column')
FROM calls ORDER BY signature;

-- Aggregates that return a row or an array of rows.
SELECT is(empty_columns($$SELECT s.* FROM
  unnest((SELECT gmm_select(x, '{1}', '{"models": true}') FROM faithful)) AS s$$), NULL,
  'so does gmm_select');
SELECT is(empty_columns($$SELECT s.* FROM
  unnest((SELECT bmm_select(ARRAY[a - 1], '{1}', '{"models": true}') FROM role_conflict)) AS s$$),
  NULL,
  'and bmm_select');
SELECT is(empty_columns($$SELECT (s).* FROM (SELECT bmm_fit_statistics(m, x, count) AS s
  FROM (SELECT ARRAY[a - 1, b - 1, c - 1, d - 1] AS x, count FROM role_conflict) AS r,
    (SELECT bmm_fit(ARRAY[a - 1, b - 1, c - 1, d - 1], 2, '{"method": "em"}') AS m
     FROM role_conflict) AS f) AS t$$), NULL, 'and bmm_fit_statistics');
SELECT is(empty_columns($$SELECT s.* FROM
  unnest((SELECT hmm_select(s, '{1}', '{"models": true}') FROM names)) AS s$$), NULL,
  'and hmm_select');

-- A declaration that does not fit is noticed, whatever the type, before a value is read as another.
-- The second argument is level, where the function has one.
CREATE FUNCTION declared(name text, columns text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE FUNCTION wrong_%s(bayes_model, float8) RETURNS TABLE (%s)
    AS ''$libdir/pg_bayes'', %L LANGUAGE C IMMUTABLE STRICT', name, columns, name);
  RETURN format('SELECT * FROM models, wrong_%s(model, 0.5) WHERE models.family = %L', name,
    CASE name WHEN 'bayes_info' THEN 'gmm' WHEN 'bayes_parameters' THEN 'bmm'
      ELSE split_part(name, '_', 1) END);
END $$;
SELECT throws_ok(declared(name, columns), 'XX000',
  format('pg_bayes: column "%s" of the result is declared as %s, but the value is not', bad,
    type), name)
FROM (VALUES
  ('gmm_components', 'c bigint, w float8, m float8[], v float8[], n float8', 'c', 'bigint'),
  ('bmm_components', 'c int, w float4, m float8[], n float8', 'w', 'real'),
  ('gmm_posterior', 'i int, a float8, m float8, c float8, s float8[], u float8, b float8[]', 'm',
   'double precision'),
  ('bmm_moments', 'mean float8[], covariance float4[]', 'covariance', 'real[]'),
  ('dpmm_clusters', 'c int, w float8, m float8[], v float8[], n int', 'n', 'integer'),
  ('dpmm_estimate', 'e varchar, c int, l float8, o boolean, v float8, r float8, f int, m int,
   d int, s float8', 'e', 'character varying'),
  ('bayes_info', 'family text, method text, rows bigint, skipped bigint, dimension int,
   components int, iterations int, converged int, degenerate int[], objective float8,
   log_likelihood float8, seed bigint, seconds float8, version text, options jsonb, draws bigint,
   stored_draws bigint, parameters float8, bic float8, observations float8, incomplete bigint,
   entropy float8, stopped text',
    'converged', 'integer'),
  ('bayes_parameters', 'c int, e int, n text, l text, p text, k int, b text, v float8, sd float8,
   f float8, t float8, m text', 'k', 'integer'))
  AS wrong(name, columns, bad, type);
CREATE FUNCTION wrong_info(bayes_model) RETURNS TABLE (family text, method text, rows bigint,
  skipped bigint, dimension int, components int, iterations int, converged boolean,
  degenerate int[], objective float8, log_likelihood float8, seed bigint, seconds float8,
  version text, options json, draws bigint, stored_draws bigint, parameters float8, bic float8,
  observations float8, incomplete bigint, entropy float8,
  stopped text)
  AS '$libdir/pg_bayes', 'bayes_info' LANGUAGE C IMMUTABLE STRICT;
SELECT throws_ok('SELECT * FROM models, wrong_info(model)', 'XX000',
  'pg_bayes: column "options" of the result is declared as json, but the value is not',
  'json is not jsonb');
CREATE FUNCTION wrong_sample(bayes_model, int, bigint, "any")
  RETURNS TABLE (component int, x int[]) AS '$libdir/pg_bayes', 'bayes_sample' LANGUAGE C IMMUTABLE;
SELECT throws_ok($$SELECT * FROM models, wrong_sample(model, 1, 1, NULL) WHERE family = 'gmm'$$,
  'XX000',
  'pg_bayes: column "x" of the result is declared as integer[], but the value is not',
  'a row alone');
CREATE FUNCTION wrong_select(bayes_query, int[], jsonb) RETURNS TABLE (k int, covariance text,
  method text, objective float8, log_likelihood float8, parameters float8, bic float8, icl float8,
  elbo float8, converged boolean, degenerate boolean, model bytea,
  best boolean, reason text)
  AS '$libdir/pg_bayes', 'gmm_select_query' LANGUAGE C;
SELECT throws_ok($$SELECT * FROM wrong_select('SELECT x FROM faithful', '{1}',
  '{"models": true}')$$, 'XX000',
  'pg_bayes: column "model" of the result is declared as bytea, but the value is not', 'a model');
CREATE FUNCTION wrong_number(bayes_model) RETURNS TABLE (mean float8[])
  AS '$libdir/pg_bayes', 'bmm_moments' LANGUAGE C IMMUTABLE STRICT;
SELECT throws_ok($$SELECT * FROM models, wrong_number(model) WHERE family = 'bmm'$$, 'XX000', NULL,
  'another number of columns');

SELECT * FROM finish();
