# Tables with little memory: those that lie in a file give the same model to the last bit, with any
# number of threads; files leave nothing behind, memory is bounded, and limits are told in time.
#
# How long, for the runner:
# seconds: 60
use strict;
use warnings;
use Effort;
use Memory;
use Server;
use Spill;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE cells AS SELECT id, (id::bigint * id * 7 + id / 3) % 3001 AS r, 'i' || (id * 31 + id
  / 50) % 1009 AS c, (id % 7 + 0.25)::float8 AS v FROM generate_series(1, 90000) AS id;
CREATE TABLE arrays AS SELECT id, ARRAY(SELECT (id * i * i + 7 * i) % 5 FROM
  generate_series(1, 200) AS i)::float8[] AS x FROM generate_series(1, 500) AS id;
-- One row that alone does not fit into memory, most of whose cells are repeated.
CREATE TABLE repeated AS SELECT id, id % 2 AS r, (id * 7 % 11) AS c, 1 / (1.5 + id % 13) AS v
FROM generate_series(1, 90000) AS id;
-- Lines without a cell (row 1 has a column, but no number) before, between and behind lines that do
-- not fit into memory; and lines of which each is longer than all before it together.
CREATE TABLE gaps AS
SELECT '0' AS r, '1' AS c, NULL::float8 AS v
UNION ALL SELECT '1', g::text, 1 + g % 3 FROM generate_series(1, 30000) AS g
UNION ALL SELECT g::text, '1', 1 FROM generate_series(2, 30002) AS g;
CREATE TABLE deserts AS
SELECT lpad(g::text, 6, '0') AS r, 0 AS c, NULL::float8 AS v FROM generate_series(1, 60000) AS g
UNION ALL SELECT lpad((29000 + g % 2 * 1999)::text, 6, '0'), g / 2, 1 + g % 4
FROM generate_series(1, 55000) AS g;
CREATE TABLE skewed AS SELECT lpad((floor(ln(g) / ln(2)) * 3)::text, 3, '0') AS r, g % 4000 AS c,
  1 + g % 5 AS v FROM generate_series(1, 100000) AS g
UNION ALL SELECT lpad(g::text, 3, '0'), 0, NULL FROM generate_series(0, 60) AS g;
CREATE TABLE models AS SELECT nmf_fit(r, c, v, 3, '{"max_iter": 2, "tol": 1e6}') AS model FROM cells
WHERE id <= 3000;
CREATE TABLE ratings AS SELECT pmf_fit(r, c, v, 3, '{"draws": 4, "repeated": "last"}') AS model
FROM cells WHERE id <= 3000;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql RETURN (model::jsonb
  - 'seconds')::text;
VACUUM ANALYZE;
SQL
my $session = $server->session;

# ---- the same model wherever the cells lie ----

my $quick = '"max_iter": 4, "tol": 0, "restarts": 1';
my $steps = '"max_iter": 12, "tol": 0, "batch_size": 400';
my $few = '"draws": 4, "chains": 2, "stored_draws": 2';
my %statements = (
    (map { ($_ => "SELECT timeless(nmf_fit(r, c, v, 5, '{\"method\": \"$_\", $quick}'))
          FROM cells") } qw(vi em squared)),
    svi => "SELECT timeless(nmf_fit(r, c, v, 5, '{\"method\": \"svi\", $steps}')) FROM cells",
    'svi transposed' => "SELECT timeless(nmf_fit(c, r, v, 5, '{\"method\": \"svi\", $steps}'))
          FROM cells",
    'svi select' => "SELECT md5(string_agg((k, log_likelihood, cells, objective)::text, ' '))
          FROM nmf_select('SELECT r, c, v FROM cells', '{2,5}',
          '{\"method\": \"svi\", $steps}') AS t",
    transposed => "SELECT timeless(nmf_fit(c, r, v, 5, '{$quick}')) FROM cells",
    arrays => "SELECT timeless(nmf_fit(x, 5, '{$quick}' ORDER BY id)) FROM arrays",
    'one line' => "SELECT timeless(nmf_fit(1, c, v, 2, '{$quick}')) FROM repeated",
    'few lines' => "SELECT timeless(nmf_fit(r, c, v, 2, '{$quick}')) FROM repeated",
    (map { ("lines: $_" => "SELECT timeless(nmf_fit(r, c, v, 2, '{\"max_iter\": 2, \"tol\": 0,
          \"restarts\": 1}'))
          FROM $_") } qw(gaps deserts skewed)),
    'ratings: deserts' => "SELECT timeless(pmf_fit(r, c, v, 1, '{\"draws\": 2, \"chains\": 1,
          \"repeated\": \"average\"}')) FROM deserts",
    (map { ("few lines, $_" => "SELECT timeless(pmf_fit(r, c, v, 2, '{$few,
          \"repeated\": \"$_\"}' ORDER BY id)) FROM repeated") } qw(average last)),
    select => "SELECT md5(string_agg((k, log_likelihood, cells, objective)::text, ' '))
          FROM nmf_select('SELECT r, c, v FROM cells', '{2,5}', '{$quick}') AS t",
    relation => "SELECT md5(string_agg(t::text, ' '))
          FROM nmf_factorize('SELECT r, c, v FROM cells', 5, '{$quick}') AS t",
    ratings => "SELECT timeless(pmf_fit(r, c, v, 5, '{$few, \"repeated\": \"average\"}'))
          FROM cells",
    hierarchical => "SELECT timeless(pmf_fit(c, r, v, 9, '{$few, \"repeated\": \"last\",
          \"prior\": {\"hierarchical\": true}}' ORDER BY id)) FROM cells",
    start => "SELECT timeless(nmf_fit(r, c, v, model, '{$quick}')) FROM cells, models",
);
$session->run(settings(1, '256MB'));
my %want = results_of($session, %statements);
for my $order ('id DESC', 'md5(id::text)') {
    for my $method (qw(vi svi)) {
        is($session->run($statements{$method} =~ s/FROM cells/FROM (SELECT * FROM cells ORDER BY
              $order) AS o/r, 120), $want{$method},
            "$method: the order of cells does not matter: $order");
    }
}
unlike(files_of($session, $statements{vi}), qr/temporary file/,
    'cells that fit into memory need no file');
my @names = sort keys %statements;
for my $case ([2, '1MB'], [2, '3MB']) {
    $session->run(settings(@$case));
    my @different = grep { $session->run($statements{$_}, 120) ne $want{$_} } @names;
    is_deeply(\@different, [],
        "maintenance_work_mem = $case->[1], threads: $case->[0]: the same to the last bit");
}
$session->run(settings(1, '1MB'));
for my $name ('vi', 'svi', 'ratings', 'relation', 'one line') {
    like(files_of($session, $statements{$name}), qr/temporary file: path/,
        "$name: what does not fit lies in a file");
}
no_file_is_left($server, 'no temporary files are left');

# ---- errors, limits and cancels ----

my %failing = (
    'the last cell' => 'SELECT nmf_fit(r, c, CASE WHEN id < 90000 THEN v ELSE -1 END, 3 ORDER BY
          id) FROM cells',
    'the last array' => 'SELECT nmf_fit(x || CASE WHEN id = 500 THEN -1 ELSE 1 END, 3 ORDER BY id)
          FROM arrays',
    'a sum' => "SELECT nmf_fit(r, c, 1e305, 3) FROM repeated",
    'a query' => "SELECT nmf_factorize('SELECT id, r, 1 / (90000 - id) FROM cells', 3)",
    'after the fit' => "SELECT 1 / (length(nmf_fit(r, c, v, 1, '{$quick}')::text) * 0) FROM cells",
);
$session->run('SET client_min_messages = warning');
for my $what (sort keys %failing) {
    my $said = $session->run($failing{$what}, 120);
    like($said, qr/^ERROR:  22/m, "error in $what");
    is_deeply([grep { !/did not converge/ } $said =~ /^(WARNING:.*)/mg], [], 'and nothing else');
    no_file_is_left($server);
    $said = $session->run("DO \$do\$ BEGIN PERFORM r FROM ($failing{$what}) AS s(r);
          EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught %', SQLSTATE; END \$do\$;", 120);
    is_deeply([grep { !/did not converge/ } $said =~ /^(WARNING:.*)/mg], [],
        'within a transaction that goes on neither');
    no_file_is_left($server, 'and then too the file is gone');
}
$session->run("BEGIN; DECLARE c CURSOR FOR SELECT id % 5, nmf_fit(r, c, v, 2, '{$quick}') FROM
      cells GROUP BY 1; FETCH 1 FROM c; CLOSE c; COMMIT", 120);
no_file_is_left($server, 'nor does a cursor leave one');
$session->run('SET client_min_messages = error');
limit_of_files_is_kept($server, $session, \%statements, 'vi', 'one line', 'relation');
my $endless = '"max_iter": 1000000, "tol": 0';
cancels_leave_nothing($server, $session, [0.02, 0.1, 0.3, 0.8],
    "SELECT nmf_fit(r, c, v, 3, '{$endless}') FROM cells",
    "SELECT nmf_fit(r, c, v, 3, '{\"method\": \"em\", $endless}') FROM cells",
    "SELECT nmf_fit(r, c, v, 3, '{\"method\": \"svi\", $endless}') FROM cells",
    q{SELECT pmf_fit(r, c, v, 30, '{"draws": 1000000, "repeated": "last"}') FROM cells},
    q{SELECT pmf_fit(r, c, v, 600, '{"draws": 10, "repeated": "last",
      "prior": {"hierarchical": true}}') FROM cells},
    "SELECT nmf_fit(1, c, v, 3) FROM repeated, generate_series(1, 50)",
    "SELECT nmf_factorize('SELECT r, c, v FROM cells', 3, '{$endless}')");
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'nor any memory context of ours');
is($session->run($statements{'few lines'}, 120), $want{'few lines'}, 'and the session goes on');

# ---- keys beyond the limits ----

my $said = $session->run('SELECT nmf_fit(i, i, 1, 2) FROM generate_series(1, 20000000) AS i', 120);
like($said, qr/^ERROR:  54000: .*(?:more than \d+ rows and columns together)/m,
    'millions of keys are refused before all are read');
$said = $session->run("SELECT nmf_fit(1, repeat('k', 9990) || i, 1, 2)
      FROM generate_series(1, 30000) AS i", 120);
like($said, qr/^ERROR:  54000: distinct column keys take more than 256 MB$/m, 'long ones too');

# ---- models that are large as text, as which they are dumped ----

my $one = q{'{"method": "em", "max_iter": 1}'};
$session->run("CREATE TABLE large AS SELECT nmf_fit(i, i % 9, 1, 1, $one) AS model
      FROM generate_series(1, 1200000) AS i; CREATE TABLE copy AS SELECT * FROM large LIMIT 0;
      INSERT INTO copy SELECT model::text::bayes_model FROM large", 120);
is($session->run('SELECT count(*), sum((_bayes_model_send(c.model)
      = _bayes_model_send(l.model))::int)
      FROM copy AS c, large AS l'), '1|1',
    'a model of more than a million keys comes back from text');
$session->run('DROP TABLE large, copy');
# 170 MB of keys, of which every byte takes seven in a file of COPY.
$said = $session->run("SELECT nmf_fit(repeat(E'\\x01', 9990) || i, 1, 1, 1, $one)
      FROM generate_series(1, 17000) AS i", 120);
like($said, qr/^ERROR:  54000: model takes 11\d\d MB as text, but the limit is 1000 MB$/m,
    'a model that could not be dumped is refused');

# ---- memory ----

memory_stays_near($server, "SELECT max(c), max(r) FROM cells;
      SELECT nmf_fit(r, c, v, 3, '{$quick}') FROM cells WHERE id <= 100",
    ['cells', "SELECT timeless(nmf_fit(r, c, v + i, 3, '{$quick}'))
          FROM cells, generate_series(1, 4) AS i", 24],
    ['minibatches', "SELECT timeless(nmf_fit(r, c, v + i, 3, '{\"method\": \"svi\", $steps}'))
          FROM cells, generate_series(1, 4) AS i", 24],
    ['one line', "SELECT timeless(nmf_fit(1, c, v + i, 3, '{$quick}'))
          FROM repeated, generate_series(1, 4) AS i", 24]);

# ---- keys of a megabyte ----

# A thousand of them, all different: each has its turn, and nothing of it is kept.
$session->run("CREATE FUNCTION key(i int) RETURNS text LANGUAGE sql
      RETURN repeat(md5(i::text), 32768); CREATE FUNCTION refused(i int) RETURNS text
      LANGUAGE plpgsql AS \$\$ BEGIN PERFORM nmf_fit(i, key(i), 1, 2); RETURN 'taken';
      EXCEPTION WHEN program_limit_exceeded THEN RETURN SQLERRM; END \$\$");
my %long = (
    'fits' => ['SELECT DISTINCT refused(i) FROM generate_series(1, 1000) AS i',
        'a column key is 1048576 bytes long, but the limit is 10000'],
    'nmf_predict' => ['SELECT DISTINCT round(mean::numeric, 9) = round(unknown::numeric, 9)
          FROM models, generate_series(1, 1000) AS i, nmf_predict(model, key(i), key(i)) AS p,
          nmf_predict(model, -1, -1) AS q(unknown)', 't'],
    'pmf_predict' => ['SELECT count(DISTINCT mean) FROM ratings, generate_series(1, 1000) AS i,
          pmf_predict(model, key(i), key(i))', '1'],
    'nmf_transform' => ["SELECT count(DISTINCT nmf_transform(model, jsonb_build_object(key(i), 1)))
          FROM models, generate_series(1, 1000) AS i", '1'],
);
for my $name (sort keys %long) {
    my ($statement, $answer) = @{$long{$name}};
    my $alone = $server->session;
    $alone->run($statement =~ s/1000\)/20)/r, 60);
    my $before = $alone->private_kb;
    is($alone->run("SET client_min_messages = error; $statement", 120), $answer,
        "$name: what a key of a megabyte gives");
    my $kept = ($alone->private_kb - $before) / 1024;
    diag(sprintf '%s, a thousand keys of a megabyte: memory grew by %.0f MB', $name, $kept);
    cmp_ok($kept, '<', 24, 'and its memory is given back');
}

# ---- many fits in one session ----

my %many = (
    'all methods' => q{SELECT pg_column_size(nmf_fit(r, c, v, 2, jsonb_build_object('method', m,
          'max_iter', 3, 'restarts', 1))) FROM cells, unnest('{vi,svi,em,squared}'::text[]) AS m
          WHERE id <= 50 GROUP BY m},
    'arrays' => q{SELECT pg_column_size(nmf_fit(x, 2, '{"max_iter": 3, "restarts": 1}')) FROM arrays
          WHERE id <= 10 GROUP BY id % 3},
    'relations' => q{SELECT count(*) FROM nmf_factorize('SELECT r, c, v FROM cells WHERE id <= 50',
          2, '{"max_iter": 3, "restarts": 1}'); SELECT count(*) FROM models, nmf_factors(model);
          SELECT count(*) FROM models, bayes_parameters(model) WHERE parameter = 'weight'},
    'cells and rows' => q{SELECT sum(mean) FROM models, cells, nmf_predict(model, r, c)
          WHERE id <= 50; SELECT count(nmf_transform(model, jsonb_build_object(c, v))),
          count(nmf_transform_sd(model, jsonb_build_object(c, v))) FROM models, cells
          WHERE id <= 50},
    'ratings' => q{SELECT pg_column_size(pmf_fit(r, c, v, 2, '{"draws": 4, "repeated": "last"}'))
          FROM cells WHERE id <= 50 GROUP BY id % 3; SELECT sum(mean) FROM ratings, cells,
          pmf_predict(model, r, c) WHERE id <= 50; SELECT count(*) FROM ratings,
          pmf_recommend(model, 3, 10); SELECT count(*) FROM ratings, pmf_similar(model, 'i1', 10)},
    'refused' => q{SELECT nmf_fit(r, c, CASE WHEN id < 150 THEN 1 ELSE -1 END, 2) FROM cells
          WHERE id <= 200; SELECT nmf_factorize('SELECT 1, 2, -1', 2);
          SELECT nmf_transform(model, '{"a": -1}'::jsonb) FROM models},
);
memory_is_flat($server, settings(1, '64MB'), effort(80), 10, %many);

done_testing;
