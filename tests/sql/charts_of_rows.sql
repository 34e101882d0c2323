-- Pictures of what rows have in common: the similarity of rows, the topics of documents by time or
-- group, and residuals of the cells of a table; and what pictures of classifiers, topics and
-- factors owe to names, weights and distances.
SELECT plan(88);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE models (name text, model bayes_model);
INSERT INTO models SELECT 'gmm', gmm_fit(x, 2) FROM faithful;
INSERT INTO models SELECT 'gmm gibbs', gmm_fit(x, 2, '{"method": "gibbs", "draws": 40}')
  FROM faithful;
INSERT INTO models SELECT 'one', gmm_fit(x, 1) FROM faithful;
INSERT INTO models SELECT 'dpmm', dpmm_fit(velocity, '{"draws": 60}') FROM galaxies;
INSERT INTO models SELECT 'bmm', bmm_fit(r, 3)
  FROM (SELECT age, smoke = 1 AS smoker, race::text AS race FROM birthwt) AS r;
INSERT INTO models SELECT 'nb', nb_fit(species, x) FROM iris;
INSERT INTO models SELECT 'known', bayes_condition(model, '{5,NULL,NULL,NULL}'::float8[])
  FROM models WHERE name = 'nb';
INSERT INTO models SELECT 'hmm', hmm_fit(s, 2)
  FROM (SELECT array_agg(duration ORDER BY t) AS s FROM geyser) AS g;
INSERT INTO models SELECT 'nmf', nmf_fit(x, 3) FROM digits WHERE id <= 100;
INSERT INTO models SELECT 'pmf', pmf_fit(student, lecturer, rating, 2, '{"draws": 40}')
  FROM lectures WHERE student < 60;
CREATE TABLE documents AS SELECT id, words, date '2023-11-15' + id::int * 3 % 150 AS day,
    (ARRAY['north', 'south', 'east'])[1 + id % 3] AS place
  FROM (SELECT row_number() OVER (ORDER BY page) AS id, words FROM manual) AS m WHERE id <= 200;
INSERT INTO models SELECT 'lda', lda_fit(words, 4, '{"min_documents": 5}') FROM documents;
INSERT INTO models SELECT 'many', lda_fit(words, 50, '{"max_iter": 3}') FROM documents;
CREATE FUNCTION of(text) RETURNS bayes_model RETURN (SELECT model FROM models WHERE name = $1);
-- What an error says, and how to do better.
CREATE FUNCTION complaint(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  detail text;
  hint text;
BEGIN
  EXECUTE sql;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', message, detail, hint);
END $$;

-- ---- similarity ----

CREATE VIEW eruptions AS SELECT row_number() OVER (ORDER BY id)::text AS number, x FROM faithful;
CREATE TABLE alike AS SELECT * FROM bayes_chart_data('SELECT x FROM faithful ORDER BY id',
    of('gmm'), 'similarity')
  WITH ORDINALITY AS c(panel, title, mark, series, path, x, x_label, y, y_label, lower, upper,
    value, x_time, n);
SELECT never($$SELECT x_label, y_label, NOT near(value, CASE WHEN x_label = y_label THEN 1
    ELSE (SELECT sum(u * v) FROM unnest(bayes_probabilities(of('gmm'), a.x),
      bayes_probabilities(of('gmm'), b.x)) AS p(u, v)) END) AS wrong
  FROM alike JOIN eruptions AS a ON a.number = x_label JOIN eruptions AS b
    ON b.number = y_label$$, 'similarity is the probability of one component for both');
SELECT results_eq($$SELECT count(*), count(DISTINCT x_label), count(DISTINCT y_label),
    bool_and(mark = 'cell') FROM alike$$, $$VALUES (3600::bigint, 60::bigint, 60::bigint, true)$$,
  'of sixty rows of the query');
SELECT is(count(*) FILTER (WHERE label <> before), 1::bigint, 'the rows of a component are a block')
FROM (SELECT label, lag(label) OVER (ORDER BY n) AS before FROM (
  SELECT n, gmm_predict(of('gmm'), e.x) AS label FROM alike JOIN eruptions AS e
    ON e.number = x_label WHERE y_label = (SELECT y_label FROM alike WHERE n = 1)) AS l) AS b;
SELECT cmp_ok((SELECT gmm_predict(of('gmm'), x) FROM eruptions WHERE number =
    (SELECT x_label FROM alike WHERE n = 1)), '=', 1, 'of which the largest comes first');
SELECT results_eq($$SELECT x_label FROM alike WHERE y_label = (SELECT y_label FROM alike
    WHERE n = 1) ORDER BY n$$, $$SELECT y_label FROM alike WHERE x_label = (SELECT x_label
    FROM alike WHERE n = 1) ORDER BY n$$, 'both axes have the same order');
SELECT never($$SELECT x_label, y_label, NOT near(value, CASE WHEN x_label = y_label THEN 1
    ELSE bayes_similarity(of('gmm gibbs'), a.x, b.x) END) AS wrong
  FROM bayes_chart_data('SELECT x FROM faithful ORDER BY id', of('gmm gibbs'), 'similarity',
      '{"rows": 12, "seed": 3}') AS c
    JOIN eruptions AS a ON a.number = c.x_label JOIN eruptions AS b ON b.number = c.y_label$$,
  'after a sampler that of bayes_similarity, over draws');
SELECT never($$SELECT x_label, y_label, NOT near(value, CASE WHEN x_label = y_label THEN 1
    ELSE bayes_similarity(of('dpmm'), a.velocity, b.velocity) END) AS wrong
  FROM bayes_chart_data('SELECT velocity FROM galaxies ORDER BY id', of('dpmm'), 'similarity',
      '{"rows": 20}') AS c
    JOIN (SELECT row_number() OVER (ORDER BY id)::text AS number, velocity FROM galaxies) AS a
      ON a.number = c.x_label
    JOIN (SELECT row_number() OVER (ORDER BY id)::text AS number, velocity FROM galaxies) AS b
      ON b.number = c.y_label$$, 'of a process mixture too');
CREATE TABLE people AS SELECT row_number() OVER ()::text AS number, age,
    CASE WHEN id % 3 > 0 THEN smoke = 1 END AS smoker,
    CASE WHEN id % 2 = 0 THEN race::text END AS race
  FROM birthwt LIMIT 20;
CREATE FUNCTION likeness(a people, b people) RETURNS float8 RETURN (SELECT bayes_similarity(
    of('bmm'), r, s) FROM (SELECT a.age, a.smoker, a.race) AS r, (SELECT b.age, b.smoker, b.race)
  AS s);
SELECT never($$SELECT x_label, y_label, NOT near(value, CASE WHEN x_label = y_label THEN 1
    ELSE likeness(a, b) END) AS wrong
  FROM bayes_chart_data('SELECT age, smoker, race FROM people ORDER BY number::int', of('bmm'),
      'similarity') AS c
    JOIN people AS a ON a.number = c.x_label JOIN people AS b ON b.number = c.y_label$$,
  'and of rows that miss something');
-- Of enough rows it matters little whether two of them are counted again.
SELECT cmp_ok(avg(abs(value - probability)), '<', 0.03::float8,
  'for rows of the fit near to their labels in the draws')
FROM bayes_chart_data('SELECT velocity FROM galaxies ORDER BY id', of('dpmm'), 'similarity') AS c
  JOIN dpmm_similarity('SELECT row_number() OVER (ORDER BY id), velocity FROM galaxies',
    '{"draws": 60}') AS s ON id1 = x_label AND id2 = y_label;
SELECT is(bayes_chart('SELECT x FROM faithful', of('gmm'), 'similarity') #>> '{title,subtitle}',
  'probability that two rows are in one component; like rows are neighbours; 60 of 272 rows',
  'and says so');
SELECT is(bayes_chart('SELECT x FROM faithful LIMIT 4', of('gmm'), 'similarity')
  #> '{layer,0,encoding,color,scale,domain}', '[0, 1]', 'shades mean the same in all charts');
SELECT matches(bayes_plot('SELECT x FROM faithful WHERE waiting > 85', of('gmm'), 'similarity',
    width => 40),
  'probability: 0 to 1\n', 'and in all plots');
CREATE VIEW narrow AS SELECT width, line, row_number() OVER (PARTITION BY width ORDER BY n) AS row,
    count(*) OVER (PARTITION BY width) AS rows
  FROM unnest('{30,40,72}'::int[]) AS width, string_to_table(bayes_plot(
    'SELECT x FROM faithful', of('gmm'), 'similarity', width => width), E'\n')
    WITH ORDINALITY AS l(line, n)
  WHERE line ~ '^ *\d+  [█▓▒░ ]*$';
SELECT never($$SELECT width, line, length(line) > width OR substr(line, 5 + row::int, 1)
    IS DISTINCT FROM '█' OR rows <> least(60, width - 5) AS wrong FROM narrow$$,
  'a narrow plot has fewer rows, and all of their columns');
SELECT matches(replace(bayes_plot('SELECT x FROM faithful', of('gmm'), 'similarity', width => 40),
  E'\n', ' '), 'neighbours; 35 of 272 rows', 'which its subtitle says');
SELECT cmp_ok(max(length(v->>'v')), '<=', 6, 'a shade has four digits, so that all rows have room')
FROM jsonb_path_query(bayes_chart('SELECT velocity FROM galaxies', of('dpmm'), 'similarity',
  '{"rows": 64}'), '$.layer[0].data.values[*]') AS v;
SELECT is(complaint(format($$SELECT bayes_chart(%L, of('gmm'), 'similarity')$$,
    'SELECT ' || columns || ' FROM faithful')), 'query returns an array and another column | '
  || 'The array is the whole row; rows of a chart have no weights. | SELECT x FROM t, or SELECT a,'
  || ' b FROM t: the columns of rows.', 'rows have no weights: ' || columns)
FROM (VALUES ('x, id'), ('x, ''a''::text')) AS v(columns);
SELECT is(complaint($$SELECT bayes_chart('SELECT ''{a}''::text[]', of('gmm'))$$),
  'column "text" of the query is of type text[] | The elements of the array must be numbers. | '
  || 'SELECT x FROM t, or SELECT a, b FROM t: the columns of rows.', 'nor are they texts');
SELECT is(complaint($$SELECT bayes_chart('SELECT NULL::float8[] FROM faithful', of('gmm'),
  'similarity')$$), 'chart "similarity" of this model has nothing to show | All of 272 rows are'
  || ' left out: they are NULL, or have a NULL as label, response, key or number. | Rows without a'
  || ' NULL can be shown.', 'rows that are all NULL are none');
SELECT is(bayes_chart('SELECT velocity FROM galaxies LIMIT 5', of('dpmm'), 'similarity')
  #>> '{title,subtitle}', 'probability that two rows are in one cluster; like rows are neighbours',
  'in its words');
SELECT ok(bayes_plot('SELECT velocity FROM galaxies ORDER BY velocity LIMIT 3', of('dpmm'),
    'similarity', width => 40) ~ E'\n1  [█▓▒░ ]+\n(.*\n)* *probability: .* to 1',
  'in psql too');
SELECT is(count(*), 1::bigint, 'one row is similar to itself')
FROM bayes_chart_data('SELECT x FROM faithful LIMIT 1', of('gmm'), 'similarity');
SELECT throws_ok($$SELECT bayes_chart('SELECT x FROM faithful WHERE false', of('gmm'),
  'similarity')$$, '22023', 'chart "similarity" of this model has nothing to show', 'none are not');
SELECT throws_ok($$SELECT bayes_chart('SELECT x FROM faithful', of('gmm'), 'similarity',
  '{"rows": 71}')$$, '22023', 'option "rows" is 71, but must be a whole number from 1 to 64',
  'a square of rows has its size');
SELECT throws_ok(format($$SELECT bayes_chart(%L, of(%L), 'similarity')$$, query, name), '42804',
  format('a model of %s has no chart "similarity" of rows', family), 'no similarity: ' || name)
FROM (VALUES ('one', 'gmm', 'SELECT x FROM faithful'), ('nb', 'nb', 'SELECT species, x FROM iris'),
  ('hmm', 'hmm', 'SELECT duration FROM geyser'),
  ('pmf', 'pmf', 'SELECT student, lecturer, rating FROM lectures')) AS v(name, family, query);
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), 'similarity')$$, '22023',
  'chart "similarity" is of rows, which a query must select', 'without rows there is none');
SELECT throws_ok($$SELECT bayes_chart('SELECT ARRAY[1, 2, 3]', of('gmm'), 'similarity')$$, '2202E',
  NULL, 'rows have the columns of the model');

-- ---- topics by time ----

SELECT set_eq($$SELECT x_label, series::int, round(y::numeric, 10) FROM bayes_chart_data(
    'SELECT date_trunc(''month'', day), words FROM documents', of('lda'))$$,
  $$SELECT to_char(day, 'YYYY-MM-01'), k::int, round(avg(p)::numeric, 10) FROM documents,
    unnest(lda_proportions(of('lda'), words)) WITH ORDINALITY AS t(p, k) GROUP BY 1, 2$$,
  'shares are the means of the proportions of a month');
CREATE TABLE shares AS SELECT * FROM bayes_chart_data('SELECT day - extract(day FROM day)::int + 1,
    words FROM documents ORDER BY random()', of('lda'), 'shares')
  WITH ORDINALITY AS c(panel, title, mark, series, path, x, x_label, y, y_label, lower, upper,
    value, x_time, n);
SELECT never($$SELECT x_label, NOT (count(*) = 4 AND near(min(lower), 0) AND near(max(upper), 1)
    AND near(sum(y), 1) AND bool_and(near(upper - lower, y)) AND bool_and(mark = 'area')) AS wrong
  FROM shares GROUP BY x_label$$, 'areas that lie on each other');
SELECT results_eq($$SELECT x_label FROM shares WHERE series = '1' ORDER BY n$$,
  $$SELECT DISTINCT to_char(day, 'YYYY-MM-01') FROM documents ORDER BY 1$$, 'in the order of time');
SELECT results_eq($$SELECT x_label FROM bayes_chart_data('SELECT timestamp ''2024-01-01'' + id % 3 *
    interval ''0.5 s'', words FROM documents', of('lda')) WHERE series = '1'$$,
  $$VALUES ('2024-01-01 00:00:00'), ('2024-01-01 00:00:00.5'), ('2024-01-01 00:00:01')$$,
  'to the second, if need be');
SELECT set_eq($$SELECT x_label, series::int, round(y::numeric, 10) FROM bayes_chart_data(
    'SELECT place, words FROM documents', of('lda'), 'shares') WHERE mark = 'bar'$$,
  $$SELECT place, k::int, round(avg(p)::numeric, 10) FROM documents,
    unnest(lda_proportions(of('lda'), words)) WITH ORDINALITY AS t(p, k) GROUP BY 1, 2$$,
  'or of any other group, as bars');
SELECT results_eq($$SELECT x_label FROM bayes_chart_data('SELECT id % 11, words FROM documents
    ORDER BY id DESC', of('lda')) WHERE series = '2'$$,
  $$SELECT i::text FROM generate_series(0, 10) AS i$$, 'numbers in their order');
SELECT results_eq($$SELECT count(*), count(DISTINCT series), count(*) FILTER (WHERE series =
      'other'), round(sum(y)::numeric, 8) FROM bayes_chart_data('SELECT 1, words FROM documents',
      of('many'))$$, $$VALUES (9::bigint, 9::bigint, 1::bigint, 1::numeric)$$,
  'of many topics the smallest are one');
SELECT set_eq($$SELECT series FROM bayes_chart_data('SELECT place, words FROM documents
    WHERE id = 7', of('many')) WHERE series <> 'other'$$,
  $$SELECT k::text FROM documents, unnest(lda_proportions(of('many'), words)) WITH ORDINALITY
    AS t(p, k) WHERE id = 7 ORDER BY p DESC, k LIMIT 8$$, 'in the groups, not in the fit');
SELECT results_eq($$SELECT chart #>> '{title,subtitle}', jsonb_array_length(range),
    (SELECT count(DISTINCT colour) FROM jsonb_array_elements(range) AS colour), range->>-1,
    chart #>> '{layer,0,mark,stroke}'
    FROM (SELECT bayes_chart('SELECT place, words FROM documents', of('many')) AS chart) AS c,
      LATERAL (SELECT chart #> '{layer,0,encoding,color,scale,range}' AS range) AS r$$,
  $$VALUES ('mean proportions of 200 documents; the 8 largest of 50 topics', 9, 9::bigint,
    '#bbbbbb', 'white')$$, 'topics of one bar differ, the others are grey');
SELECT is(bayes_chart(of('many'), 'weights') #>> '{title,subtitle}',
  'the 48 largest of 50 topics', 'weights say what they leave out');

-- Groups are what the type calls equal.
SELECT results_eq(format($$SELECT x_label, round(y::numeric, 10) FROM bayes_chart_data(%L,
    of('lda')) WHERE series = '1'$$, 'SELECT ' || value || ', words FROM documents
    ORDER BY random()'),
  format($$SELECT %L, round(avg((lda_proportions(of('lda'), words))[1])::numeric, 10)
    FROM documents$$, label), 'one group: ' || label)
FROM (VALUES ('CASE id % 3 WHEN 0 THEN 1.00 WHEN 1 THEN 1.0 ELSE 1.000 END', '1.0'),
  ('CASE id % 2 WHEN 0 THEN ''30 days''::interval ELSE ''1 mon'' END', '1 mon'),
  ('row(CASE id % 2 WHEN 0 THEN 2.50 ELSE 2.5 END)', '(2.5)')) AS v(value, label);
SELECT results_eq($$SELECT x_label FROM bayes_chart_data(
    'SELECT json_build_array(id % 3), words FROM documents ORDER BY id DESC', of('lda'))
    WHERE series = '1'$$, $$VALUES ('[0]'), ('[1]'), ('[2]')$$,
  'types without an order go by their texts');

-- Times have distances.
CREATE VIEW over_time AS SELECT bayes_chart('SELECT CASE WHEN id % 2 = 0 THEN date ''2024-01-01''
      WHEN id % 3 = 0 THEN ''2024-01-11'' ELSE ''2024-02-20'' END AS day, words FROM documents',
    of('lda')) AS chart;
SELECT results_eq($$SELECT DISTINCT v->>'t', (v->>'x')::bigint FROM over_time, jsonb_path_query(
    chart, '$.layer[*].data.values[*]') AS v ORDER BY 2$$,
  $$SELECT d::text, extract(epoch FROM d)::bigint * 1000 FROM unnest(
    '{2024-01-01,2024-01-11,2024-02-20}'::date[]) AS d$$, 'dates are where they are');
SELECT is(chart #>> '{layer,0,encoding,x,type}', 'temporal', 'on an axis of time')
FROM over_time;
SELECT results_eq($$SELECT chart #>> '{layer,1,mark,type}', chart #>> '{layer,1,mark,opacity}',
    jsonb_array_length(chart #> '{layer,1,data,values}'), chart #> '{layer,0,encoding,tooltip}',
    (SELECT string_agg(t->>'field', ',') FROM jsonb_array_elements(
      chart #> '{layer,1,encoding,tooltip}') AS t) FROM over_time$$,
  $$VALUES ('rule', '0', 12, NULL::jsonb, 's,t,y,v')$$, 'each share of each group tells itself');
SELECT results_eq(format($$SELECT DISTINCT mark, left(x_label, 10)
    FROM bayes_chart_data(%L, of('lda')) ORDER BY 2$$, 'SELECT CASE id % 2 WHEN 0 THEN '
      || day || ' ELSE ''infinity'' END, words FROM documents'),
  $$VALUES ('bar', '2024-01-01'), ('bar', 'infinity')$$, 'but infinity has none: ' || day)
FROM (VALUES ('date ''2024-01-01'''), ('timestamp ''2024-01-01''')) AS v(day);
SET timezone = 'America/New_York';
SELECT results_eq($$SELECT DISTINCT v->>'t', (v->>'x')::bigint - 1704067200000 AS x
    FROM jsonb_path_query(bayes_chart('SELECT timestamptz ''2024-01-01'' + id % 3 * interval
      ''1 h'', words FROM documents', of('lda')), '$.layer[0].data.values[*]') AS v ORDER BY x$$,
  $$VALUES ('2024-01-01 00:00:00-05', 0::bigint), ('2024-01-01 01:00:00-05', 3600000),
    ('2024-01-01 02:00:00-05', 7200000)$$, 'times are shown as in the zone of the session');
RESET timezone;
SELECT set_eq($$SELECT x_label, series::int, round(y::numeric, 10) FROM bayes_chart_data(
    'SELECT 1, ''{index,scan}''::text[] UNION ALL SELECT 1, ''{qqq}'' UNION ALL
     SELECT NULL, ''{table}'' UNION ALL SELECT 2, NULL', of('lda'))$$,
  $$SELECT '1', k::int, round(p::numeric, 10) FROM unnest(lda_proportions(of('lda'),
    '{index,scan}'::text[])) WITH ORDINALITY AS t(p, k)$$,
  'documents that are NULL, of no group or without a known term are left out');
SELECT results_eq($$SELECT chart #>> '{title,text}', chart #>> '{title,subtitle}',
    chart #>> '{layer,0,encoding,x,title}', chart #>> '{layer,0,encoding,y,title}'
    FROM (SELECT bayes_chart('SELECT ''a'' AS part, ''{index}''::text[] UNION ALL SELECT ''b'',
      ''{qqq}''', of('lda')) AS chart) AS c$$,
  $$VALUES ('4 topics by part',
    'mean proportions of 1 document; left out: 1 without a known term (all of 1 group)', 'part',
    'mean proportion')$$, 'which the chart says');
SELECT is(bayes_chart('SELECT CASE WHEN id % 4 > 0 THEN place END, CASE WHEN id % 5 > 0 THEN words
      END FROM documents', of('lda')) #>> '{title,subtitle}',
  'mean proportions of 120 documents; left out: 50 of no group, 30 NULL', 'of NULLs too');
SELECT is(complaint($$SELECT bayes_chart('SELECT NULL::int, words FROM documents UNION ALL
    SELECT 1, ''{qqq}''', of('lda'))$$), 'chart "shares" of this model has nothing to show | Of 201'
  || ' documents all are left out: 1 without a known term (all of 1 group), 200 of no group. | A'
  || ' document needs a group, and a term that the model knows.', 'or why there is nothing');
SELECT is(count(DISTINCT x_label), 48::bigint, 'groups without a known document do not count')
FROM bayes_chart_data('SELECT id % 60, CASE WHEN id % 60 < 48 THEN words ELSE ''{qqq}'' END
  FROM documents', of('lda'));
SELECT is(chart #>> '{layer,0,encoding,x,title}', 'group', 'an expression has no name')
FROM (SELECT bayes_chart('SELECT 1, words FROM documents', of('lda')) AS chart) AS c;
SELECT ok(bayes_plot('SELECT jsonb_build_object(''index'', 3)->''index'', ''{"index": 3}''::jsonb',
    of('lda'), width => 40) LIKE E'4 topics by group\n%topic 1\n%3  %', 'counts, in psql');
SELECT throws_ok($$SELECT bayes_chart('SELECT id % 49, words FROM documents', of('lda'))$$, '54000',
  'there are more than 48 groups', 'too many groups');
SELECT matches(complaint(format($$SELECT bayes_chart('SELECT %s, words FROM documents',
    of('lda'))$$, value)), hint, 'with a HINT for ' || hint)
FROM (VALUES ('id', 'ranges of the number'), ('day + id::int', 'longer times'),
  ('id::text', 'fewer values')) AS v(value, hint);
SELECT throws_ok($$SELECT bayes_chart('SELECT words FROM documents', of('lda'))$$, '22023',
  'query returns 1 column, but must return 2', 'no group');
SELECT throws_ok($$SELECT bayes_chart('SELECT words, id FROM documents', of('lda'))$$, '22023',
  'column "id" of the query is of type bigint', 'no document');
SELECT throws_ok($$SELECT bayes_chart('SELECT 1, words FROM documents WHERE false', of('lda'))$$,
  '22023', 'chart "shares" of this model has nothing to show', 'no rows');
SELECT throws_ok($$SELECT bayes_chart('SELECT 1, words FROM documents', of('lda'), 'shares',
  '{"rows": 5}')$$, '22023', 'option "rows" does not apply to chart "shares" of rows',
  'all documents are shown');
SELECT throws_ok($$SELECT bayes_chart(of('lda'), 'shares')$$, '22023',
  'chart "shares" is of rows, which a query must select', 'a chart of rows');

-- ---- cells of a table ----

SELECT set_eq($$SELECT round(x::numeric, 10) AS x, round(y::numeric, 10) AS y FROM bayes_chart_data(
    'SELECT student, lecturer, rating FROM lectures WHERE student < 60', of('pmf'), NULL,
    '{"rows": 5000}')$$,
  $$SELECT round(mean::numeric, 10), round(((rating - mean) / sd)::numeric, 10) AS y
    FROM lectures, pmf_predict(of('pmf'), student, lecturer) WHERE student < 60$$,
  'residuals of cells, in standard deviations of their prediction');
SELECT is(count(*), 50::bigint, 'of a sample')
FROM bayes_chart_data('SELECT student, lecturer, rating FROM lectures WHERE student < 60',
  of('pmf'), 'residuals', '{"rows": 50}');
SELECT results_eq($$SELECT x, y FROM bayes_chart_data('VALUES (''new'', (SELECT lecturer FROM
    lectures LIMIT 1), 3), (NULL, 1, 3), (''new'', NULL, 3), (''new'', 1, NULL)', of('pmf'))$$,
  $$SELECT mean, (3 - mean) / sd FROM pmf_predict(of('pmf'), 'new',
    (SELECT lecturer FROM lectures LIMIT 1))$$, 'a key may be new; cells with a NULL are none');
-- Cells of which the model knows nothing are counted over all rows, whatever the sample is.
SELECT is(subtitle, 'observed less predicted, in standard deviations of the prediction; 20 cells of'
  || ' a new key; 20 cells of two new keys left out' || sampled, 'new keys are counted: ' || rows)
FROM (VALUES (5000, ''), (1, '; 1 of 40 rows')) AS v(rows, sampled), LATERAL (
  SELECT bayes_chart('(SELECT student::text, lecturer::text, rating FROM lectures
      WHERE student < 60 LIMIT 20) UNION ALL (SELECT ''u'' || student, lecturer::text, rating
      FROM lectures WHERE student < 60 LIMIT 20) UNION ALL (SELECT ''u'' || student, ''v'', rating
      FROM lectures WHERE student < 60 LIMIT 20)', of('pmf'), NULL,
    jsonb_build_object('rows', rows)) #>> '{title,subtitle}' AS subtitle) AS c;
SELECT is(bayes_chart('SELECT student, lecturer, rating FROM lectures', of('pmf'))
  #>> '{layer,0,encoding,y,title}', 'residual (standard deviations)', 'its axis');
SELECT throws_ok($$SELECT bayes_chart('VALUES (''new'', ''none'', 3)', of('pmf'))$$, '22023',
  'the model knows none of the keys of the cells', 'cells of another table');
SELECT throws_ok($$SELECT bayes_chart('SELECT student, lecturer FROM lectures', of('pmf'))$$,
  '22023', 'query returns 2 columns, but must return 3', 'a cell has a number');
SELECT throws_ok($$SELECT bayes_chart('SELECT student, lecturer, ''x''::text FROM lectures',
  of('pmf'))$$, '22023', 'column "text" of the query is of type text', 'that is a number');
SELECT throws_ok($$SELECT bayes_chart('VALUES (1, 1, ''NaN''::float8)', of('pmf'))$$, '22023',
  'the number in a cell is NaN', 'and finite');

-- ---- names, weights, distances, widths ----

SELECT set_eq($$SELECT series FROM bayes_chart_data(of('known'), 'columns')
  UNION ALL SELECT y_label FROM bayes_chart_data(of('known'), 'weights')$$,
  $$SELECT DISTINCT species FROM iris$$, 'a conditioned classifier has its classes');
SELECT set_eq($$SELECT DISTINCT title FROM bayes_chart_data(of('known'), 'columns')$$,
  $$VALUES ('x[1]'), ('x[2]'), ('x[3]')$$, 'which are no column');
SELECT set_eq($$SELECT name, x, y_label::int FROM models, bayes_chart_data(model, 'weights')
    WHERE name IN ('lda', 'nmf')$$, $$SELECT name, value, component FROM models,
    bayes_parameters(model) WHERE name IN ('lda', 'nmf') AND parameter = 'weight'$$,
  'weights of topics and factors are the parameters');
SELECT throws_ok(format($$SELECT bayes_chart(of(%L), 'weights', '{"level": 0.9}')$$, name), '22023',
  'option "level" does not apply to chart "weights"', 'which have no interval: ' || name)
FROM (VALUES ('lda'), ('nmf')) AS v(name);
SELECT results_eq($$SELECT DISTINCT y_label FROM bayes_chart_data(bayes_condition(of('nb'),
    '{5,3,1,1}'::float8[])) ORDER BY 1$$, $$SELECT DISTINCT species FROM iris ORDER BY 1$$,
  'a classifier of which all columns are known has its classes left');
-- The second axis is less than the first, but there.
SELECT never($$SELECT a.series, b.series, NOT near((a.x - b.x)^2 + (a.y - b.y)^2,
    (SELECT sum((sqrt(p.value) - sqrt(q.value))^2) FROM bayes_chart_data(of('nmf'), 'parts') AS p
      JOIN bayes_chart_data(of('nmf'), 'parts') AS q USING (y_label)
      WHERE p.x_label = a.series AND q.x_label = b.series)) OR abs(a.y) < 1e-3 AS wrong
  FROM bayes_chart_data(of('nmf'), 'map') AS a, bayes_chart_data(of('nmf'), 'map') AS b
  WHERE a.series < b.series$$, 'a map of different factors has their Hellinger distances');
SELECT never($$SELECT width, name, line, line ~ '[█─●]\.\.\.$' AS wrong
  FROM unnest('{30,72}'::int[]) AS width, (VALUES ('lda', 'terms'), ('lda', 'weights'),
      ('bmm', 'weights'), ('nmf', 'terms')) AS k(name, kind),
    string_to_table(bayes_plot(of(name), kind, width => width), E'\n') AS line$$,
  'bars of plots end at the margin');

SELECT matches(bayes_plot(of('many'), 'parts', width => 30), E'\nthe first \\d+ of 24 columns\n',
  'cells for which there is no room are counted');

SELECT never($$SELECT p.x, p.y, NOT (p.x BETWEEN c.x0 AND c.x1 AND p.y BETWEEN c.y0 AND c.y1)
    AS wrong
  FROM bayes_chart_data('SELECT x FROM faithful', of('gmm'), 'density') AS p, (SELECT
      min(x) - 0.1 AS x0, max(x) + 0.1 AS x1, min(y) - 1 AS y0, max(y) + 1 AS y1
    FROM bayes_chart_data('SELECT x FROM faithful', of('gmm'), 'density')
    WHERE mark = 'cell') AS c WHERE p.mark = 'point'$$, 'a density is shown wherever rows are');
SELECT set_eq($$SELECT DISTINCT round(x::numeric, 2) - floor(round(x::numeric, 2))
  FROM bayes_chart_data('SELECT ARRAY[age, lwt] FROM birthwt', (SELECT gmm_fit(ARRAY[age, lwt], 2)
    FROM birthwt), 'columns') WHERE mark = 'area'$$, '{0.50}'::numeric[],
  'bars of whole numbers have as many of them as others');
SELECT cmp_ok(max(x) - min(x), '<', 13::float8, 'rows far away leave the others their cells')
FROM bayes_chart_data('SELECT x FROM faithful UNION ALL SELECT ''{1e6,1e6}''', of('gmm'), 'density')
WHERE mark = 'cell';
SELECT * FROM finish();
