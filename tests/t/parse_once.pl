# A model is parsed once for a query, not once for every row, wherever it comes from and however it
# is stored; and where it changes from row to row, every row gets its own. The module says at DEBUG1
# when it parses.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$session->run(<<'SQL');
CREATE TABLE models (name text PRIMARY KEY, model bayes_model);
INSERT INTO models SELECT 'a', gmm_fit(x, 2, '{"method": "em", "restarts": 2}') FROM faithful;
INSERT INTO models SELECT 'b', gmm_fit(x, 3, '{"restarts": 2}') FROM faithful;
CREATE TABLE plain (LIKE models); ALTER TABLE plain ALTER model SET STORAGE plain;
CREATE TABLE compressed (LIKE models); ALTER TABLE compressed ALTER model SET STORAGE main;
CREATE TABLE outside (LIKE models); ALTER TABLE outside ALTER model SET STORAGE external;
ALTER TABLE outside SET (toast_tuple_target = 128);
CREATE TABLE both_ways (LIKE models); ALTER TABLE both_ways SET (toast_tuple_target = 128);
-- Traces of many restarts make a model long, and compressible.
CREATE TEMP TABLE long (LIKE models); ALTER TABLE long ALTER model SET STORAGE external;
INSERT INTO long SELECT 'a' AS name,
  gmm_fit(x, 2, '{"method": "em", "restarts": 100, "tol": 1e-12}') AS model FROM faithful
UNION ALL SELECT 'b', gmm_fit(x, 3, '{"restarts": 100, "max_iter": 20, "tol": 10}') FROM faithful;
INSERT INTO plain SELECT * FROM models;
INSERT INTO compressed SELECT * FROM long;
INSERT INTO outside SELECT * FROM long;
INSERT INTO both_ways SELECT * FROM long;
CREATE TABLE versions AS SELECT n,
  gmm_fit(x, 2, jsonb_build_object('method', 'em', 'seed', n, 'max_iter', 1, 'tol', 100)) AS model
FROM faithful, generate_series(1, 40) AS n GROUP BY n;
CREATE FUNCTION label(m bayes_model,
  x float8[]) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN gmm_predict(m, x); END $$;
SET max_parallel_workers_per_gather = 0;
SQL

# (number of models parsed, result).
sub parsed {
    my ($sql, $before) = @_;
    $session->run($before) if $before;
    my $said = $session->run("SET client_min_messages = debug1; $sql;
          SET client_min_messages = notice", 60);
    my $count = () = $said =~ /pg_bayes: model parsed/g;
    # PostgreSQL shows where in the text it was when it said something else.
    $said =~ s/^LINE \d+: .*\n *\^\n?//mg;
    $said =~ s/^(?:DEBUG|LOCATION|QUERY|CONTEXT|PL\/pgSQL|SQL).*\n?//mg;
    chomp $said;
    return ($count, $said);
}
sub parses {
    my ($want, $sql, $what) = @_;
    my ($count, $said) = parsed($sql);
    unlike($said, qr/ERROR/, "$what: runs");
    is($count, $want, "$what: parsed $want times");
    return $said;
}

# ---- one model, 272 rows ----

my $counts = 'SELECT count(*)';
my $text = $session->run("SELECT replace(model::text, '''', '''''') FROM models WHERE name = 'a'");
for my $score ('gmm_predict', 'bayes_log_density', 'bayes_probabilities') {
    my $sum = sub { "SELECT count($score($_[0], x)) FROM faithful$_[1]" };
    is(parses(1, $sum->('model', ", models WHERE name = 'a'"), "$score, a column in a join"), '272',
        'for every row');
    parses(1, $sum->("(SELECT model FROM models WHERE name = 'a')", ''), "$score, a subquery");
    parses(1, $sum->("'$text'::bayes_model", ''), "$score, a constant");
    parses(1, $sum->('model', ', (SELECT gmm_fit(x, 2) AS model FROM faithful) AS f'),
        "$score, a model just fitted");
}
my %stored = (plain => 'plain', compressed => 'compressed inline', outside => 'out of line',
    both_ways => 'compressed out of line');
for my $table (sort keys %stored) {
    my $model = "(SELECT model FROM $table WHERE name = 'a')";
    my $right = $session->run("SELECT sum(gmm_predict('$text'::bayes_model, x)) FROM faithful");
    is(parses(1, "SELECT sum(gmm_predict(model, x)) FROM faithful, $table WHERE name = 'a'",
        "$stored{$table}, from a join"), $right, 'rightly');
    is(parses(1, "SELECT sum(gmm_predict($model, x)) FROM faithful",
        "$stored{$table}, from a subquery"), $right, 'rightly');
}
is($session->run('SELECT bool_and(pg_column_compression(model) IS NOT NULL) FROM compressed'),
    't', 'the compressed ones are compressed');
is($session->run("SELECT pg_column_compression(model) IS NULL AND pg_column_size(model) > 2000
      FROM outside LIMIT 1"), 't', 'those out of line are not');
is($session->run("SELECT bool_and(pg_relation_size(reltoastrelid) > 0) FROM pg_class
      WHERE relname IN ('outside', 'both_ways')"), 't', 'out of line they are');

for my $table (sort keys %stored) {
    is(parses(1, "SELECT (bayes_score(model, x)).rows FROM faithful, $table WHERE name = 'a'",
        "bayes_score, $stored{$table}"), '272', 'for every row');
    is(parses(2, "SELECT (bayes_score_difference(a.model, b.model, x)).rows
          FROM faithful, $table AS a, $table AS b WHERE a.name = 'a' AND b.name = 'b'",
        "bayes_score_difference, $stored{$table}"), '272', 'of two models');
}

# ---- parameters ----

$session->run('PREPARE score(bayes_model) AS SELECT sum(gmm_predict($1, x)) FROM faithful');
for my $plan ('force_custom_plan', 'force_generic_plan') {
    $session->run("SET plan_cache_mode = $plan");
    parses(1, "EXECUTE score('$text')", "a parameter, $plan") for 1 .. 2;
    $session->run('RESET plan_cache_mode');
}
$session->run('DEALLOCATE score');

# ---- several models in turn ----

my $a = $session->run("SELECT sum(gmm_predict(model, x)) FROM faithful, models WHERE name = 'a'");
my $b = $session->run("SELECT sum(gmm_predict(model, x)) FROM faithful, models WHERE name = 'b'");
is(parses(2, 'SELECT name, sum(p) FROM (SELECT name, gmm_predict(model, x) AS p FROM faithful,
      models ORDER BY id, name OFFSET 0) AS s GROUP BY name ORDER BY name', 'two models, sorted'),
    "a|$a\nb|$b", 'each with its rows');
is(parses(2, 'SELECT sum(gmm_predict(model, x)) FROM faithful
      CROSS JOIN LATERAL (SELECT * FROM models WHERE id >= 0) AS m',
    'two models that alternate row by row'), $a + $b, 'rightly');
for my $table (sort keys %stored) {
    is(parses(2, "SELECT sum(gmm_predict(model, x)) FROM faithful
          CROSS JOIN LATERAL (SELECT * FROM $table WHERE id >= 0) AS m",
        "two models that alternate, $stored{$table}"),
        $session->run("SELECT sum(p)
              FROM (SELECT sum(gmm_predict((SELECT model FROM $table WHERE name = n), x)) AS p
              FROM faithful, unnest('{a,b}'::text[]) AS n) AS s"), 'rightly');
}
# More models in turn than are kept when memory is short: parsed more often, but right.
my $right = $session->run(
    'SELECT sum((SELECT sum(gmm_predict(v.model, x)) FROM faithful)) FROM versions AS v');
$session->run("SET work_mem = '64kB'");
my ($count, $said) = parsed(
    'SELECT sum(gmm_predict(model, x)) FROM faithful
      CROSS JOIN LATERAL (SELECT * FROM versions WHERE id >= 0) AS v');
is($said, $right, 'forty models that alternate in little memory: right');
diag("$count parses for 40 models x 272 rows with work_mem = 64kB");
$session->run('RESET work_mem');
is(parses(40, 'SELECT sum(gmm_predict(model, x)) FROM faithful
      CROSS JOIN LATERAL (SELECT * FROM versions WHERE id >= 0) AS v',
    'forty models that alternate in enough memory'), $right, 'rightly');

# ---- PL/pgSQL: a call site outlives its variables, and memory is used again ----

is(parses(1, "SELECT sum(label(model, x)) FROM faithful, models WHERE name = 'a'",
    'a PL/pgSQL argument'), $a, 'rightly');
my ($changing) = $session->run(q{
    CREATE FUNCTION changing() RETURNS text LANGUAGE plpgsql AS $$
    DECLARE m bayes_model; r record; wrong int := 0; tried int := 0;
    BEGIN
      -- The same expression over models that take each other's place in memory,
      -- while fits and texts come between.
      FOR i IN 1 .. 5 LOOP
        FOR r IN SELECT n, model, (SELECT array_agg(bayes_log_density(model, x) ORDER BY id)
          FROM faithful WHERE id <= 5) AS want FROM versions ORDER BY n * (1 - 2 * (i % 2)) LOOP
          m := r.model::text::bayes_model;
          FOR j IN 1 .. 5 LOOP
            tried := tried + 1;
            IF bayes_log_density(m, (SELECT x FROM faithful WHERE id = j))
              <> r.want[j] THEN wrong := wrong + 1; END IF;
          END LOOP;
          m := NULL;
        END LOOP;
      END LOOP;
      RETURN tried || ' tried, ' || wrong || ' wrong';
    END $$;
    SELECT changing()});
is($changing, '1000 tried, 0 wrong', 'a variable that changes always gives its own answers');
is($session->run(q{
    DO $$
    DECLARE m bayes_model; before bayes_model; label int;
    BEGIN
      FOR i IN 1 .. 200 LOOP
        SELECT model INTO m FROM models WHERE name = CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END;
        label := array_length(bayes_probabilities(m, '{3, 60}'), 1);
        IF label <> (CASE WHEN i % 3 = 0 THEN 2
          ELSE 3 END) THEN RAISE EXCEPTION 'wrong model in round %', i; END IF;
      END LOOP;
    END $$}), '', 'nor do two that alternate in one variable mix');

# ---- many models in one place: as many are cached as fit into 32 MB or work_mem ----

$session->run(q{SET work_mem = '4MB'; CREATE TABLE large AS SELECT id,
      jsonb_set(model::jsonb, '{options}', (SELECT jsonb_object_agg('option ' || i, id)
        FROM generate_series(1, 20000) AS i))::bayes_model AS model
      FROM models, generate_series(1, 40) AS id WHERE name = 'a'});
my $size = $session->run('SELECT max(length(_bayes_model_send(model))) FROM large');
cmp_ok(40 * 4 * $size, '>', 64e6, '40 large models are more than is cached');
sub twice {
    my ($models) = @_;
    return "DO \$\$ DECLARE r record; label int; BEGIN FOR pass IN 1 .. 2 LOOP
          FOR r IN SELECT model FROM large WHERE id <= $models ORDER BY id LOOP
            label := gmm_predict(r.model, '{3, 60}'); END LOOP; END LOOP; END \$\$";
}
parses(5, twice(5), 'five of them');
parses(80, twice(40), '40 of them, one after another');
parses(40, "SET work_mem = '1GB'; " . twice(40), 'with more work_mem');
$session->run('RESET work_mem');

# PL/pgSQL keeps arrays in a form of its own while it changes them.
is($session->run(q{
    DO $$
    DECLARE m bayes_model; v float8[] := '{0, 0}'; r record; wrong int := 0;
    BEGIN
      SELECT model INTO m FROM models WHERE name = 'b';
      FOR r IN SELECT x, gmm_predict(model, x) AS label FROM faithful, models WHERE name = 'b' LOOP
        v[1] := r.x[1];
        v[2] := r.x[2];
        IF gmm_predict(m, v) <> r.label THEN wrong := wrong + 1; END IF;
      END LOOP;
      IF wrong > 0 THEN RAISE EXCEPTION '% wrong labels', wrong; END IF;
      IF (SELECT c.mean FROM (SELECT gmm_fit(v, 1) AS f FROM generate_series(1, 5)) AS s,
        gmm_components(f) AS c) <> v THEN RAISE EXCEPTION 'a wrong mean'; END IF;
    END $$}), '', 'an expanded array is a row like any other');
# A table whose models are replaced between calls of one prepared statement.
$session->run("CREATE TABLE latest AS SELECT model FROM models WHERE name = 'a';
      PREPARE again AS SELECT sum(gmm_predict(model, x)) FROM faithful, latest");
is($session->run('EXECUTE again'), $a, 'a prepared statement');
$session->run("UPDATE latest SET model = (SELECT model FROM models WHERE name = 'b')");
is($session->run('EXECUTE again'), $b, 'sees that the stored model was replaced');
# The toast pointer's value id could come back after VACUUM and a new insertion: contents must
# decide.
$session->run('TRUNCATE outside; INSERT INTO outside SELECT * FROM long');
is($session->run("SELECT sum(gmm_predict(model, x)) FROM faithful, outside WHERE name = 'b'"),
    $session->run("SELECT sum(gmm_predict(model, x)) FROM faithful,
      (SELECT model::text::bayes_model FROM outside WHERE name = 'b') AS o"),
    'as does one after TRUNCATE');

# ---- sequences: arrays, and windows over many partitions ----

$session->run("CREATE TABLE chains AS SELECT n AS name,
      hmm_fit(x, 2, jsonb_build_object('method', 'em', 'seed', n)) AS model
      FROM (SELECT array_agg(waiting ORDER BY id) AS x FROM faithful) AS f,
      generate_series(1, 2) AS n GROUP BY n");
is(parses(1, "SELECT count(hmm_advance(model, NULL, waiting)) FROM faithful, chains
      WHERE name = 1", 'hmm_advance'), '272', 'for every row');
is(parses(1, "SELECT (hmm_advance_all(model, NULL, waiting ORDER BY id)).steps FROM faithful, chains
      WHERE name = 1", 'hmm_advance_all'), '272', 'for every step');
for my $score ('hmm_decode', 'hmm_probabilities', 'hmm_filter', 'hmm_log_likelihood',
    'hmm_surprise') {
    is(parses(1, "SELECT count($score(model, ARRAY[waiting])) FROM faithful, chains WHERE name = 1",
        "$score of arrays"), '272', 'for every row') if $score ne 'hmm_surprise';
    next if $score eq 'hmm_log_likelihood';
    is(parses(1, "SELECT count(r) FROM (SELECT $score(model, waiting)
          OVER (PARTITION BY eruptions ORDER BY id) AS r
          FROM faithful, chains WHERE name = 1) AS s",
        "$score over partitions"), '272', 'for every row');
    is(parses(2, "SELECT count(r) FROM (SELECT $score(model, waiting)
          OVER (PARTITION BY id, name) AS r FROM faithful, chains) AS s",
        "$score, two models that alternate"), '544', 'for every row');
}

# ---- documents ----

$session->run("CREATE TABLE topics AS SELECT n AS name, lda_fit(words, 2,
      jsonb_build_object('max_iter', 3, 'max_terms', 100, 'seed', n)) AS model
      FROM manual, generate_series(1, 2) AS n WHERE page LIKE 's%' GROUP BY n");
for my $score ('lda_predict(model, %s)', 'lda_proportions(model, %s)',
    'lda_similarity(model, %1$s, %1$s)') {
    for my $document ('words', 'tsvector_to_array(words)',
        "jsonb_build_object('allow', length(page))") {
        my $call = sprintf $score, $document;
        is(parses(1, "SELECT count($call) FROM manual, topics WHERE page LIKE 'p%' AND name = 1",
            $call), $session->run("SELECT count(*) FROM manual WHERE page LIKE 'p%'"),
            'for every row');
    }
    my $call = sprintf $score, 'words';
    parses(2, "SELECT count($call) FROM manual CROSS JOIN LATERAL (SELECT * FROM topics
          WHERE page <> '') AS t WHERE page LIKE 'p%'", "$call, two models that alternate");
}

# ---- tables ----

$session->run("CREATE TABLE factors AS SELECT n AS name, nmf_fit(left(page, 2), lexeme, 1, 2,
      jsonb_build_object('max_iter', 3, 'seed', n)) AS model
      FROM manual, unnest(words), generate_series(1, 2) AS n WHERE page LIKE 's%' GROUP BY n");
for my $call ("nmf_transform(model, jsonb_build_object('allow', length(page)))",
    "nmf_transform_sd(model, jsonb_build_object('allow', length(page)))",
    "(SELECT mean FROM nmf_predict(model, left(page, 2), 'allow'))") {
    is(parses(1, "SELECT count($call) FROM manual, factors WHERE page LIKE 'p%' AND name = 1",
        $call), $session->run("SELECT count(*) FROM manual WHERE page LIKE 'p%'"),
        'for every row');
    parses(2, "SELECT count($call) FROM manual CROSS JOIN LATERAL (SELECT * FROM factors
          WHERE page <> '') AS t WHERE page LIKE 'p%'", "$call, two models that alternate");
}

$session->run("CREATE TABLE ratings AS SELECT n AS name, pmf_fit(left(page, 2), lexeme, 1, 2,
      jsonb_build_object('draws', 4, 'seed', n, 'repeated', 'last')) AS model
      FROM manual, unnest(words), generate_series(1, 2) AS n WHERE page LIKE 's%' GROUP BY n");
for my $call ("(SELECT mean FROM pmf_predict(model, left(page, 2), 'allow'))",
    "(SELECT max(mean) FROM pmf_recommend(model, left(page, 2), 3))",
    "(SELECT max(sd) FROM pmf_similar(model, 'allow', length(left(page, 2))))") {
    is(parses(1, "SELECT count($call) FROM manual, ratings WHERE page LIKE 'p%' AND name = 1",
        $call), $session->run("SELECT count(*) FROM manual WHERE page LIKE 'p%'"),
        'for every row');
    parses(2, "SELECT count($call) FROM manual CROSS JOIN LATERAL (SELECT * FROM ratings
          WHERE page <> '') AS t WHERE page LIKE 'p%'", "$call, two models that alternate");
}

# ---- other functions with models ----

is(parses(0, "SELECT count(*) FROM models, gmm_components(model)",
    'functions of a model alone do not use the cache'), '5', 'five components');
# An index on an expression, a generated column, a check: places where an expression lives long.
is($session->run(q{
    CREATE TABLE watched (m bayes_model, x float8[],
      label int GENERATED ALWAYS AS (gmm_predict(m, x)) STORED,
      CHECK (bayes_log_density(m, x) > -1e9));
    INSERT INTO watched SELECT model, x FROM faithful, models;
    CREATE INDEX ON watched (gmm_predict(m, x));
    SELECT sum(label) FROM watched}), $a + $b, 'generated columns, checks and indexes');

done_testing;
