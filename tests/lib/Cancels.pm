# Statements of every kind of fit, the tables that they read, and how they are cancelled; for the
# tests of what happens then.
package Cancels;
use strict;
use warnings;
use Time::HiRes qw(time sleep);

my $tables = <<'SQL';
CREATE TABLE rows AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.7) + j * (i % 7) FROM generate_series(1, 8) AS j) AS x
FROM generate_series(1, 60000) AS i;
CREATE TABLE wide AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.37) FROM generate_series(1, 300) AS j) AS x
FROM generate_series(1, 1000) AS i;
CREATE TABLE models AS SELECT gmm_fit(x, 8, '{"restarts": 1, "max_iter": 2, "tol": 1e6}') AS model
FROM rows WHERE id <= 5000;
CREATE TABLE cloud AS SELECT i AS id, ARRAY[sin(i * 1.1) * exp(cos(i)), cos(i * 1.3)] AS x,
  ARRAY[i % 2, i / 3 % 2, i / 7 % 2] AS bits, ARRAY[i % 11, i % 13 * (i % 2)] AS counts
FROM generate_series(1, 40000) AS i;
CREATE TABLE sequences AS SELECT id,
  ARRAY(SELECT sin(id * i * 0.7) + 3 * (id * i / 7 % 3) FROM generate_series(1, 100) AS i) AS x,
  ARRAY(SELECT chr(97 + (id * i / 5 % 3 * 2 + i * i % 3) % 6)
  FROM generate_series(1, 100) AS i) AS names FROM generate_series(1, 2000) AS id;
CREATE TABLE series AS SELECT array_agg(sin(i * 1.7) + 3 * (i / 50 % 3)) AS x,
  array_agg(ARRAY[sin(i * 1.7), cos(i * 0.3) + i / 70 % 3]) AS v
FROM generate_series(1, 500000) AS i;
CREATE TABLE chains AS SELECT hmm_fit(x, 3,
  '{"method": "em", "restarts": 1, "max_iter": 3, "tol": 1e6}') AS model,
  hmm_fit(x, 20, '{"method": "vi", "restarts": 1, "max_iter": 2, "tol": 1e6}') AS large
FROM sequences WHERE id <= 100;
CREATE TABLE processes AS SELECT dpmm_fit(x, '{"concentration": 20, "draws": 200}') AS model,
  dpmm_fit(x, '{"chains": 1, "draws": 20000}') AS long FROM cloud WHERE id <= 60;
CREATE TABLE options AS SELECT jsonb_set(model::jsonb, '{options}',
  (SELECT jsonb_object_agg('option ' || i, i) FROM generate_series(1, 300000) AS i))::bayes_model
  AS model FROM (SELECT gmm_fit(x, 2) AS model FROM cloud WHERE id <= 100) AS f;
CREATE TABLE documents AS SELECT id,
  ARRAY(SELECT 't' || (id * i * i + 7 * i) % 3001 FROM generate_series(1, 60) AS i) AS words
FROM generate_series(1, 20000) AS id;
CREATE TABLE topics AS SELECT lda_fit(words, 20, '{"restarts": 1, "max_iter": 2, "tol": 1e6}')
  AS model FROM documents WHERE id <= 1000;
CREATE TABLE volumes AS
SELECT jsonb_object_agg('t' || i, 1 + i % 3) AS words FROM generate_series(1, 60000) AS i;
CREATE TABLE shelves AS SELECT lda_fit(words, 50, '{"restarts": 1, "max_iter": 1, "tol": 1e6}')
  AS model FROM volumes;
CREATE TABLE cells AS SELECT (id::bigint * id * 7) % 30011 AS r, (id * 31 + id / 50) % 2003 AS c,
  id % 7 + 0.5 AS v FROM generate_series(1, 400000) AS id;
CREATE TABLE factors AS SELECT nmf_fit(r, c, v, 20, '{"max_iter": 1, "tol": 1e6}') AS model,
  (SELECT jsonb_object_agg(i, i % 3) FROM generate_series(0, 2002) AS i) AS wide,
  (SELECT jsonb_object_agg(i, i % 3) FROM generate_series(0, 30010) AS i) AS tall FROM cells;
CREATE TABLE ratings AS SELECT pmf_fit(r, c, v, 16, '{"draws": 8, "repeated": "last"}') AS model
FROM cells;
CREATE FUNCTION parabola(x float8[]) RETURNS float8 IMMUTABLE RETURN -(x[1] * x[1]);
CREATE FUNCTION endless_density(x float8[]) RETURNS float8 LANGUAGE plpgsql AS
  $$BEGIN LOOP NULL; END LOOP; END$$;
CREATE TABLE classifiers AS SELECT words, columns
FROM (SELECT nb_fit(i, words) AS words FROM volumes, generate_series(1, 40) AS i) AS w,
  (SELECT nb_fit(i, ARRAY(SELECT sin(i * j) FROM generate_series(1, 200) AS j)) AS columns
   FROM generate_series(1, 2000) AS i) AS c;
CREATE TABLE statistics AS SELECT linreg_stats(i, ARRAY(SELECT sin(i * j * 0.37)
  FROM generate_series(1, 1000) AS j)) AS sums FROM generate_series(1, 1200) AS i;
CREATE TABLE asked AS SELECT normals, mixed
FROM (SELECT gmm_fit(x[1:200], 2, '{"restarts": 1, "max_iter": 2, "tol": 1e6}') AS normals
   FROM wide) AS n,
  (SELECT bmm_fit(r, 3, '{"restarts": 1, "max_iter": 5}') AS mixed
   FROM wide, LATERAL (SELECT id % 2 = 0 AS a, id % 3 = 1 AS b, x[1] AS c, x[2] AS d) AS r) AS m;
CREATE TABLE texts AS SELECT model::text AS model FROM options;
ANALYZE;
SQL

# None of these ends by itself in a second.
our $endless = '"max_iter": 1000000, "tol": 0, "restarts": 1000';
my $sampling = '"draws": 100000000, "thin": 1000000';
our %kinds = (
    (map { ($_ => "SELECT gmm_fit(x, 8, '{\"method\": \"$_\", $endless}')
          FROM rows") } qw(em map vi kmeans)),
    svi => "SELECT gmm_fit(x, 8, '{\"method\": \"svi\", $endless}') FROM rows",
    'svi, large batches' => "SELECT gmm_fit(x, 8,
          '{\"method\": \"svi\", \"batch_size\": 1000000, $endless}') FROM rows",
    'vi, independent prior'
        => "SELECT gmm_fit(x, 8, '{\"prior\": {\"type\": \"independent\"}, $endless}') FROM rows",
    (map { ("em $_" => "SELECT gmm_fit(x, 8,
          '{\"method\": \"em\", \"covariance\": \"$_\", $endless}') FROM rows") }
        qw(diagonal spherical tied)),
    'wide rows' => "SELECT gmm_fit(x, 4, '{\"method\": \"em\", $endless}') FROM wide",
    'wide rows by vi' => "SELECT gmm_fit(x, 4, '{$endless}') FROM wide",
    'many components' => "SELECT gmm_fit(x, 2000, '{$endless}') FROM rows",
    'start from a model' => "SELECT gmm_fit(x, (SELECT model FROM models),
          '{\"max_iter\": 1000000, \"tol\": 0, \"method\": \"em\"}') FROM rows,
          generate_series(1, 3)",
    'update' => "SELECT gmm_update(x, (SELECT model FROM models),
          '{\"max_iter\": 1000000, \"tol\": 0}') FROM rows, generate_series(1, 3)",
    'window' => "SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}') OVER ()
          FROM rows) AS r",
    'relation' => "SELECT * FROM gmm_fit('SELECT x FROM rows', 8, '{$endless}')",
    'select' => "SELECT gmm_select(x, '{2,3,4,5,6,7,8}',
          '{\"covariance\": [\"full\", \"tied\"], $endless}') FROM rows",
    'select from a query'
        => "SELECT * FROM gmm_select('SELECT x FROM rows', '{2,3,4}', '{$endless}')",
    'reading rows' => "SELECT gmm_fit(ARRAY[i, sin(i)], 2) FROM generate_series(1, 100000000) AS i",
    'reading a query' => "SELECT *
          FROM gmm_fit('SELECT i, sin(i) FROM generate_series(1, 100000000) AS i', 2)",
    'reading a partition'
        => "SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}')
          OVER (PARTITION BY id % 2) FROM rows, generate_series(1, 20)) AS r",
    'many groups' => "SELECT id, gmm_fit(x, 1) FROM rows GROUP BY id",
    'spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'spilled rows of a query'
        => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT * FROM gmm_fit('SELECT x FROM rows', 8, '{$endless}')",
    'spilled rows of a partition'
        => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT count(gmm_cluster) FROM (SELECT gmm_cluster(x, 8, '{$endless}') OVER ()
          FROM rows) AS r",
    'two threads' => "SET LOCAL pg_bayes.threads = 2; SELECT gmm_fit(x, 8, '{$endless}') FROM rows",
    'two threads, spilled'
        => "SET LOCAL pg_bayes.threads = 2; SET LOCAL maintenance_work_mem = '1MB';
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'parallel plan' => "SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
          SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL max_parallel_workers_per_gather = 2;
          SELECT gmm_fit(x, 8, '{$endless}') FROM rows",
    'prediction' => "SELECT sum(gmm_predict(model, x)) FROM rows, models, generate_series(1, 1000)",
    'draws' => "SELECT count(*) FROM models, bayes_sample(model, 2000000000, 1)",
    'progress' => "SET LOCAL pg_bayes.progress = on;
          SELECT gmm_fit(x, 8, '{\"method\": \"em\", $endless}') FROM rows",
    'error means NULL' => "SELECT gmm_fit(x, 8, '{\"on_error\": \"null\", $endless}') FROM rows",
    'linreg statistics' => "SELECT linreg_stats(i, ARRAY[i, sin(i)])
          FROM generate_series(1, 100000000) AS i",
    'linreg of many terms' => "SELECT count(linreg_fit(sums)) FROM statistics,
          generate_series(1, 9)",
    'linreg gibbs' => "SELECT linreg_fit(id, x, '{\"method\": \"gibbs\", $sampling}') FROM wide",
    'linear response' => "SELECT hmm_fit(x, 20, '{\"linear_response\": true, \"restarts\": 1,
          \"max_iter\": 1, \"tol\": 1e6}') FROM sequences",
    (map { ("dpmm $_" => "SELECT dpmm_fit(x, '{\"method\": \"$_\", $sampling}')
          FROM rows") } qw(collapsed gibbs slice)),
    'dpmm vi' => "SELECT dpmm_fit(x, '{\"method\": \"vi\", $endless}') FROM rows",
    (map { ("dpmm $_, wide rows"
        => "SELECT dpmm_fit(x, '{\"method\": \"$_\", $sampling}')
          FROM wide") } qw(collapsed slice)),
    (map { ("dpmm $_, many clusters"
        => "SELECT dpmm_fit(x, '{\"method\": \"$_\", \"concentration\": 1000, $sampling}')
          FROM cloud") } qw(collapsed gibbs slice)),
    'dpmm of bits' => "SELECT dpmm_fit(bits, '{\"likelihood\": \"bernoulli\", $sampling}')
          FROM cloud",
    'dpmm of counts by gibbs'
        => "SELECT dpmm_fit(counts,
          '{\"likelihood\": \"poisson\", \"method\": \"gibbs\", $sampling}') FROM cloud",
    'dpmm of categories by slice'
        => "SELECT dpmm_fit(counts,
          '{\"likelihood\": \"categorical\", \"method\": \"slice\", $sampling}') FROM cloud",
    'dpmm estimate' => "SELECT dpmm_fit(x,
          '{\"method\": \"slice\", \"chains\": 8, \"draws\": 4, \"warmup\": 0,
          \"concentration\": 30}') FROM cloud",
    'dpmm estimate, binder'
        => "SELECT dpmm_fit(x,
          '{\"method\": \"slice\", \"chains\": 8, \"draws\": 4, \"warmup\": 0,
          \"concentration\": 30, \"estimate\": \"binder\"}') FROM cloud",
    'dpmm estimate, bipartition'
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 10, \"warmup\": 0, \"concentration\": 30,
          \"estimate\": \"bipartition\"}') FROM cloud WHERE id <= 1000",
    'dpmm similarity' => "SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM cloud LIMIT 5000',
          '{\"method\": \"slice\", \"chains\": 1, \"draws\": 20}')",
    'dpmm window' => "SELECT count(c)
          FROM (SELECT dpmm_cluster(x, '{\"method\": \"slice\", $sampling}') OVER () AS c
          FROM rows) AS r",
    'dpmm relation' => "SELECT * FROM dpmm_cluster('SELECT id, x FROM rows', '{$sampling}')",
    'dpmm, reading a query'
        => "SELECT * FROM dpmm_cluster(
          'SELECT i, i, sin(i) FROM generate_series(1, 100000000) AS i')",
    'dpmm, spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT dpmm_fit(x, '{\"method\": \"slice\", $sampling}') FROM rows",
    'dpmm, two threads' => "SET LOCAL pg_bayes.threads = 2;
          SELECT dpmm_fit(x, '{\"method\": \"slice\", $sampling}') FROM rows",
    'dpmm gibbs, wide rows' => "SELECT dpmm_fit(x, '{\"method\": \"gibbs\", $sampling}') FROM wide",
    'dpmm vi, wide rows' => "SELECT dpmm_fit(x, '{\"method\": \"vi\", $endless}') FROM wide",
    # Few rows, many draws: the search for the partition is what takes the time.
    (map { ("dpmm estimate of many draws, $_"
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 250, \"warmup\": 125, \"method\": \"slice\",
          \"concentration\": 30, \"estimate\": \"$_\"}') FROM cloud WHERE id <= 2500") }
        qw(vi binder)),
    'dpmm estimate of many draws, bipartition'
        => "SELECT dpmm_fit(x,
          '{\"chains\": 4, \"draws\": 250, \"warmup\": 125, \"method\": \"slice\",
          \"concentration\": 30, \"estimate\": \"bipartition\"}') FROM cloud WHERE id <= 900",
    (map { ("bmm $_" => "SELECT bmm_fit(bits, 3, '{\"method\": \"$_\", $endless}')
          FROM cloud") } qw(em vi svi mcem)),
    (map { ("bmm $_" => "SELECT bmm_fit(bits, 3, '{\"method\": \"$_\", $sampling}')
          FROM cloud") } qw(gibbs collapsed)),
    'bmm of categories' => "SELECT bmm_fit(counts, 20,
          '{\"likelihood\": \"categorical\", \"method\": \"em\", $endless}') FROM cloud",
    'bmm, spilled rows' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT bmm_fit(counts, 4,
          '{\"likelihood\": \"poisson\", \"method\": \"gibbs\", $sampling}') FROM cloud,
          generate_series(1, 3)",
    'bmm window' => "SELECT count(c)
          FROM (SELECT bmm_cluster(bits, 3, '{\"method\": \"collapsed\", $sampling}') OVER () AS c
          FROM cloud) AS r",
    (map { ("gmm $_" => "SELECT gmm_fit(x, 8, '{\"method\": \"$_\", $sampling}')
          FROM rows") } qw(gibbs collapsed)),
    'gmm mcem' => "SELECT gmm_fit(x, 8, '{\"method\": \"mcem\", $endless}') FROM rows",
    'gmm collapsed, wide rows'
        => "SELECT gmm_fit(x, 4, '{\"method\": \"collapsed\", $sampling}') FROM wide",
    (map { ("hmm $_" => "SELECT hmm_fit(x, 3, '{\"method\": \"$_\", $endless}')
          FROM sequences") } qw(em map vi svi)),
    'hmm gibbs' => "SELECT hmm_fit(x, 3, '{\"method\": \"gibbs\", $sampling}') FROM sequences",
    (map { ("hmm $_ of names"
        => "SELECT hmm_fit(names, 4, '{\"method\": \"$_\", $endless}')
          FROM sequences") } qw(em vi)),
    'hmm, many states' => "SELECT hmm_fit(names, 300, '{\"method\": \"em\", $endless}')
          FROM sequences",
    'hmm, one long sequence'
        => "SELECT hmm_fit(x, 3, '{\"method\": \"em\", $endless}') FROM series",
    'hmm, one long sequence by gibbs'
        => "SELECT hmm_fit(x, 3, '{\"method\": \"gibbs\", $sampling}') FROM series",
    'hmm, vectors, two threads'
        => "SET LOCAL pg_bayes.threads = 2; SELECT hmm_fit(v, 3, '{\"method\": \"em\", $endless}')
          FROM series",
    'nb, reading rows'
        => "SELECT nb_fit(i % 3, ARRAY[i, sin(i)]) FROM generate_series(1, 100000000) AS i",
    'nb, reading words' => "SELECT nb_fit(i % 40, words) FROM volumes,
          generate_series(1, 100000) AS i",
    'nb, merging' => "SELECT bayes_rollup(columns) FROM classifiers, generate_series(1, 10000)",
    'nb, merging words' => "SELECT bayes_rollup(words) FROM classifiers, generate_series(1, 10000)",
    'nb prediction of words' => "SELECT count(nb_predict(c.words, v.words))
          FROM classifiers AS c, volumes AS v, generate_series(1, 10000)",
    'nb features' => "SELECT count(*) FROM classifiers, nb_features(columns)",
    'hmm, left to right' => "SELECT hmm_fit(x, 5,
          '{\"method\": \"em\", \"topology\": \"left-to-right\", $endless}') FROM series",
    'hmm, spilled' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT hmm_fit(x, 3, '{\"method\": \"em\", $endless}') FROM sequences,
          generate_series(1, 3)",
    'hmm, reading sequences' => "SELECT hmm_fit(x, 2) FROM sequences, generate_series(1, 100000)",
    'hmm relation' => "SELECT * FROM hmm_decode('SELECT id, x FROM sequences', 3, '{$endless}')",
    'hmm relation, reading'
        => "SELECT * FROM hmm_decode(
          'SELECT i, ARRAY[i, sin(i)] FROM generate_series(1, 100000000) AS i', 2)",
    'hmm decode window' => "SELECT count(d) FROM (SELECT hmm_decode(large, x) OVER () AS d
          FROM chains, (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm probabilities window'
        => "SELECT count(p) FROM (SELECT hmm_probabilities(large, x) OVER () AS p FROM chains,
          (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm filter window' => "SELECT count(f) FROM (SELECT hmm_filter(large, x) OVER () AS f
          FROM chains, (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS s) AS r",
    'hmm surprise window' => "SELECT count(s) FROM (SELECT hmm_surprise(large, x) OVER () AS s
          FROM chains, (SELECT unnest(x) AS x FROM series, generate_series(1, 10)) AS r) AS q",
    'hmm decode' => "SELECT count(hmm_decode(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm probabilities' => "SELECT count(hmm_probabilities(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm filter' => "SELECT count(hmm_filter(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm log likelihood' => "SELECT count(hmm_log_likelihood(large, x)) FROM chains, series,
          generate_series(1, 100)",
    'hmm paths' => "SELECT count(*) FROM chains, sequences, hmm_paths(large, x, 1000)",
    'hmm paths, a long sequence'
        => "SELECT count(*) FROM chains, series, hmm_paths(model, x[1:50000], 300)",
    (map { ("lda $_" => "SELECT lda_fit(words, 20, '{\"method\": \"$_\", $endless}')
          FROM documents") } qw(vi svi em cvb0)),
    'lda, beside a start' => "SELECT lda_fit(words, (SELECT model FROM topics), '{$endless}')
          FROM documents",
    (map { ("lda $_" => "SELECT lda_fit(words, 20, '{\"method\": \"$_\", $sampling}')
          FROM documents") } qw(gibbs collapsed)),
    'lda, many topics' => "SELECT lda_fit(words, 500, '{$endless}') FROM documents",
    'lda, two threads' => "SET LOCAL pg_bayes.threads = 2;
          SELECT lda_fit(words, 20, '{$endless}') FROM documents",
    'lda, spilled' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT lda_fit(words, 20, '{\"method\": \"svi\", $endless}') FROM documents",
    'lda, reading documents' => "SELECT lda_fit(words, 2) FROM documents,
          generate_series(1, 100000)",
    'lda, reading documents to a file' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT lda_fit(words, 2) FROM documents, generate_series(1, 100000)",
    'lda, reading rows' => "SET LOCAL maintenance_work_mem = '1MB'; SELECT lda_fit(id, term, 1, 2)
          FROM documents, unnest(words) AS term, generate_series(1, 100000)",
    'lda, sorting rows' => "SELECT lda_fit(id, term, 1, 2)
          FROM (SELECT id, unnest(words) AS term FROM documents LIMIT 600000) AS r",
    'lda, many terms' => "SELECT lda_fit(ARRAY[i::text], 2)
          FROM generate_series(1, 100000000) AS i",
    'lda relation' => "SELECT * FROM lda_topics('SELECT id, words FROM documents', 20,
          '{$endless}')",
    'lda proportions' => "SELECT count(lda_proportions(model, words)) FROM topics, documents,
          generate_series(1, 100)",
    'lda perplexity' => "SELECT lda_perplexity(model, words, NULL) FROM topics, documents,
          generate_series(1, 5)",
    'lda perplexity, left to right' => "SELECT lda_perplexity(model, words,
          '{\"method\": \"left-to-right\", \"particles\": 1000}') FROM topics, documents",
    'lda select' => "SELECT * FROM lda_select('SELECT words FROM documents', '{5,20}',
          '{$endless}')",
    'lda coherence' => "SELECT count(*) FROM topics,
          lda_coherence('SELECT words FROM documents, generate_series(1, 20)', model)",
    'lda relevance' => "SELECT count(*) FROM topics, generate_series(1, 1000000),
          lda_relevance(model, 0.5)",
    (map { ("lda $_, a large document" => "SELECT lda_fit(words, 300,
          '{\"method\": \"$_\", $endless}') FROM volumes") } qw(vi svi em cvb0)),
    (map { ("lda $_, a large document" => "SELECT lda_fit(words, 300, '{\"method\": \"$_\",
          $sampling}') FROM volumes") } qw(gibbs collapsed)),
    'lda proportions of a large document' => "SELECT count(lda_proportions(model, words))
          FROM shelves, volumes, generate_series(1, 100)",
    'lda perplexity of a large document' => "SELECT lda_perplexity(model, words, NULL)
          FROM shelves, volumes, generate_series(1, 100)",
    'lda perplexity of a large document, left to right' => "SELECT lda_perplexity(model, words,
          '{\"method\": \"left-to-right\", \"particles\": 20}') FROM shelves, volumes",
    'lda coherence of a large document' => "SELECT count(*) FROM shelves,
          lda_coherence('SELECT words FROM volumes, generate_series(1, 1000)', model)",
    'lda similarity of large documents' => "SELECT count(lda_similarity(model, words, words))
          FROM shelves, volumes, generate_series(1, 100)",
    'lda typical documents, large ones' => "SELECT count(*) FROM shelves,
          lda_typical_documents('SELECT 1, words FROM volumes, generate_series(1, 100)', model)",
    'lda typical documents' => "SELECT count(*) FROM topics,
          lda_typical_documents('SELECT id, words FROM documents, generate_series(1, 5)', model)",
    (map { ("nmf $_" => "SELECT nmf_fit(r, c, v, 20, '{\"method\": \"$_\", $endless}')
          FROM cells") } qw(vi em squared)),
    'nmf, many factors' => "SELECT nmf_fit(r, c, v, 300, '{$endless}') FROM cells",
    'nmf, two threads' => "SET LOCAL pg_bayes.threads = 2;
          SELECT nmf_fit(r, c, v, 20, '{$endless}') FROM cells",
    'nmf, spilled' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT nmf_fit(r, c, v, 20, '{$endless}') FROM cells",
    (map { ("nmf, cells missing, $_" => "SELECT nmf_fit(r, c, v, 20, '{\"method\": \"$_\",
          \"absent\": \"missing\", $endless}') FROM cells") } qw(vi em)),
    'nmf, hierarchical' => "SELECT nmf_fit(r, c, v, 20, '{\"hierarchical\": true, $endless}')
          FROM cells",
    'nmf, reading cells' => "SELECT nmf_fit(r, c, v, 2) FROM cells, generate_series(1, 100000)",
    'nmf, reading cells to a file' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT nmf_fit(r, c, v, 2) FROM cells, generate_series(1, 100000)",
    'nmf, putting cells in order' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT nmf_fit(r, c, v, 2) FROM cells, generate_series(1, 10)",
    'nmf, one line' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT nmf_fit(1, c % 9, v, 2) FROM cells, generate_series(1, 5)",
    'nmf, many keys' => "SELECT nmf_fit('k' || i, 1, 1, 1) FROM generate_series(1, 9000000) AS i",
    'nmf, putting keys in order' => "SELECT nmf_fit('k' || i, 1, 1, 1)
          FROM (SELECT i FROM generate_series(1, 500000) AS i LIMIT 500000) AS k",
    'nmf, reading arrays' => "SELECT nmf_fit(ARRAY[i, 1], 2)
          FROM generate_series(1, 100000000) AS i",
    'nmf relation' => "SELECT * FROM nmf_factorize('SELECT r, c, v FROM cells', 20,
          '{$endless}')",
    'nmf select' => "SELECT * FROM nmf_select('SELECT r, c, v FROM cells', '{5,20}',
          '{$endless}')",
    'nmf factors' => "SELECT count(*) FROM factors, generate_series(1, 1000), nmf_factors(model)",
    'nmf prediction' => "SELECT sum(mean) FROM factors, generate_series(1, 1000), cells,
          nmf_predict(model, r, c)",
    'nmf transform' => "SELECT count(nmf_transform(model, wide)) FROM factors,
          generate_series(1, 100000)",
    'nmf transform of a column' => "SELECT count(nmf_transform(model, tall, 'column')) FROM factors,
          generate_series(1, 100000)",
    'nmf error' => 'SELECT count(*) FROM factors, generate_series(1, 100000) AS i,
          LATERAL nmf_error(CASE WHEN i > 0 THEN model END)',
    (map { ("nmf $_, random start" => "SELECT nmf_fit(r, c, v, 20, '{\"method\": \"$_\",
          \"init\": \"random\", $endless}') FROM cells") } qw(vi em squared)),
    'nmf, learned priors' => "SELECT nmf_fit(r, c, v, 20, '{\"prior\": {\"a\": \"learned\",
          \"b\": \"learned\", \"c\": \"learned\"}, $endless}') FROM cells",
    'nmf, hierarchical, cells missing' => "SELECT nmf_fit(r, c, v, 20, '{\"hierarchical\": true,
          \"absent\": \"missing\", $endless}') FROM cells",
    'pmf' => "SELECT pmf_fit(r, c, v, 16, '{\"repeated\": \"last\", $sampling}') FROM cells",
    'pmf, given variances' => "SELECT pmf_fit(r, c, v, 16, '{\"repeated\": \"last\", $sampling,
          \"means\": false, \"prior\": {\"c\": 1, \"noise_variance\": 1}}') FROM cells",
    'pmf, hierarchical' => "SELECT pmf_fit(r, c, v, 16, '{\"repeated\": \"last\", $sampling,
          \"prior\": {\"hierarchical\": true}}') FROM cells",
    'pmf, large rank' => "SELECT pmf_fit(r, c, v, 400, '{\"repeated\": \"last\", $sampling,
          \"prior\": {\"hierarchical\": true}}') FROM cells",
    'pmf, two threads' => "SET LOCAL pg_bayes.threads = 2;
          SELECT pmf_fit(r, c, v, 16, '{\"repeated\": \"last\", $sampling}') FROM cells",
    'pmf, spilled' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT pmf_fit(r, c, v, 16, '{\"repeated\": \"last\", $sampling}') FROM cells",
    'pmf, repeated ratings' => "SET LOCAL maintenance_work_mem = '1MB';
          SELECT pmf_fit(r, c, v, 2, '{\"repeated\": \"average\"}') FROM cells,
          generate_series(1, 10)",
    'pmf prediction' => "SELECT sum(mean) FROM ratings, generate_series(1, 1000), cells,
          pmf_predict(model, r, c)",
    'pmf recommendations' => "SELECT count(*) FROM ratings, cells,
          pmf_recommend(model, c, 1000000, true)",
    'pmf similarities' => "SELECT count(*) FROM ratings, cells,
          pmf_similar(model, r, 1000000, 'row')",
    'mh_sample' => "SELECT count(*) FROM mh_sample('parabola(float8[])', '{0}',
          '{\"draws\": 100000000, \"thin\": 1000}')",
    'mh_sample of an endless density'
        => "SELECT count(*) FROM mh_sample('endless_density(float8[])', '{0}')",
    'draws' => "SELECT count(*) FROM generate_series(1, 1000) AS i,
          student_draws(1000000, 3, 0, 1, i)",
    'labels' => "SELECT dirichlet_categorical_fit(id * i) FROM rows, generate_series(1, 1000) AS i",
    'comparisons of posteriors' => "SELECT sum(bayes_greater(a, a)) FROM (SELECT
          beta_bernoulli_fit(i % 2 = 0, '{\"prior\": {\"a\": 1e11, \"b\": 1e11}}') AS a
          FROM generate_series(1, 9) AS i) AS f, generate_series(1, 10000)",
    'glm statistics' => "SELECT count(*) FROM (SELECT glm_fit(id % 5, x,
          '{\"response\": \"negative_binomial\"}') AS m FROM rows WHERE id <= 500) AS f,
          glm_fit_statistics('SELECT id % 5, x FROM rows, generate_series(1, 10)', m)",
    'logreg statistics' => "SET LOCAL work_mem = '64kB'; SELECT count(*)
          FROM (SELECT logreg_fit(id % 3 = 0, x) AS m FROM rows WHERE id <= 500) AS f,
          glm_fit_statistics('SELECT id % 3 = 0, x FROM rows, generate_series(1, 10)', m,
            draws => 0)",
    'logreg, many terms' => "SELECT logreg_fit(i % 3 = 0, ARRAY(SELECT sin(i * j) FROM
          generate_series(1, 600) AS j), '{\"max_iter\": 1000000, \"tol\": 0}')
          FROM generate_series(1, 3000) AS i, generate_series(1, 10)",
    'probit by em' => "SELECT probit_fit(id % 9 = 0, x, '{\"method\": \"em\",
          \"max_iter\": 1000000, \"tol\": 0}') FROM cloud, generate_series(1, 100)",
    'probit by gibbs' => "SELECT probit_fit(id % 9 = 0, x, '{\"method\": \"gibbs\",
          $sampling}') FROM cloud",
    'reading a model from text' => "SELECT count(model::bayes_model) FROM texts,
          generate_series(1, 1000)",
    'reading a model from jsonb' => "SELECT count(model::jsonb::bayes_model) FROM texts,
          generate_series(1, 1000)",
    'writing a model as text' => "SELECT sum(length(model::text)) FROM options,
          generate_series(1, 1000)",
    'writing a model as bytes' => "SELECT sum(length(_bayes_model_send(model))) FROM options,
          generate_series(1, 1000)",
    'information about a model' => "SELECT count(i.options) FROM options, generate_series(1, 1000),
          bayes_info(model) AS i",
    'mutual information' => "SELECT count(*) FROM asked, bayes_mutual_information(normals)",
    'mutual information, many draws' => "SELECT count(*) FROM asked,
          bayes_mutual_information(mixed, '{\"draws\": 5000000}')",
    'mutual information of labels and numbers' => "SELECT count(*) FROM asked,
          generate_series(1, 100000) AS i,
          LATERAL bayes_mutual_information(CASE WHEN i > 0 THEN mixed END, '{\"draws\": 2}')",
    'anomaly' => "SELECT sum(bayes_anomaly(normals, r)) FROM asked, generate_series(1, 100000) AS i,
          LATERAL (SELECT array_agg(CASE WHEN i * j % 7 > 0 THEN j END) AS r
          FROM generate_series(1, 200) AS j) AS s",
    'anomaly of several models' => "SELECT sum(bayes_anomaly(ARRAY[normals, normals], r))
          FROM asked, generate_series(1, 100000) AS i,
          LATERAL (SELECT array_agg(CASE WHEN i * j % 7 > 0 THEN j END) AS r
          FROM generate_series(1, 200) AS j) AS s",
    'probability' => "SELECT sum(bayes_probability(normals, low, array_fill(i, '{200}')))
          FROM asked, generate_series(1, 100000) AS i, array_fill(-9, '{200}') AS low",
    'imputed draws' => "SELECT count(*) FROM asked,
          bayes_impute(normals, array_fill(NULL::float8, '{200}'), 100000000, 1)",
    'hmm sample' => "SELECT count(*) FROM chains, hmm_sample(model, 100000000, 1)",
    'dpmm prediction' => "SELECT sum(dpmm_predict(model, x)) FROM cloud, processes,
          generate_series(1, 1000)",
    'draws of a process' => "SELECT count(*) FROM processes, generate_series(1, 1000) AS g,
          LATERAL (SELECT * FROM bayes_draws(long) OFFSET 0 * g) AS d",
);
# What comes after the sampling of these begins about so many seconds after the statement.
our %later = ('dpmm estimate' => 1, 'dpmm estimate, binder' => 1, 'dpmm similarity' => 0.1,
    'lda, sorting rows' => 0.5, 'nmf, putting cells in order' => 1.2, 'nmf, one line' => 0.5,
    'nmf, putting keys in order' => 0.15,
    map({ ("dpmm estimate of many draws, $_->[0]" => $_->[1]) } ['vi', 1.8], ['binder', 1.8],
    ['bipartition', 1]));

# Makes the functions and the tables, or those that are named, in the server's database.
sub make_tables {
    my ($server, @names) = @_;
    my @wanted = $tables =~ /^(CREATE (?:TABLE|FUNCTION) .*?;)\n/msg;
    @wanted = grep { my $made = $_; grep { $made =~ /^CREATE (?:TABLE $_ |FUNCTION)/ } @names }
        @wanted if @names;
    $server->query(join "\n", @wanted, 'ANALYZE;');
}

# A session where one process with one thread does all the work, unless a statement says otherwise.
sub session {
    my ($server) = @_;
    my $session = $server->session;
    $session->run('SET max_parallel_workers_per_gather = 0; SET pg_bayes.threads = 1');
    $session->{watch} = $server->session;
    return $session;
}

# One cancel of a kind, or of another statement: (SQLSTATE, seconds from the signal to the error in
# the client's hands).
sub once {
    my ($session, $name, $delay, $timeout) = @_;
    my $begin = 'BEGIN;' . ($timeout ? ' SET LOCAL statement_timeout = ' . int(1000 * $delay + 1)
        . ';' : '');
    $session->run($begin);
    my ($setting, $statement) = ($kinds{$name} // $name) =~ /^((?:SET[^;]*;\s*)*)(.*)$/s;
    if ($setting && $session->run($setting) =~ /^ERROR:  57014:/m) {  # the timeout was shorter
        $session->run('ROLLBACK');
        return ('57014', 0);
    }
    my $start = time;
    $session->send($statement);
    my $signalled = $start + int(1000 * $delay + 1) / 1000;
    unless ($timeout) {
        sleep($delay);
        # A backend that waits for its next statement ignores the signal, and a loaded machine takes
        # its time to hand the statement over.
        my $begun = "SELECT query !~ '^(BEGIN|SET)' FROM pg_stat_activity WHERE pid = "
            . $session->pid;
        sleep(0.01) until $session->{watch}->run($begun) eq 't';
        $signalled = time;
        kill 'INT', $session->pid;    # as pg_cancel_backend does
    }
    my $said = $session->wait(60);
    my $seconds = time - $signalled;
    # A short timeout may end this, too.
    1 while $session->run('ROLLBACK') =~ /^ERROR:  57014:/m;
    my ($state) = $said =~ /^ERROR:  (\w{5}):/m;
    return ($state // "none: $said", $seconds);
}

1;
