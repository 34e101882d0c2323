# Parallel aggregation: the plan is really used, gives what the serial plan gives, and is not chosen
# where rows would not fit into memory; any number of threads gives the same bits.
#
# How long, for the runner:
# seconds: 20
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id, i % 3 AS g,
  ARRAY[sin(i) + 5 * (i % 3), cos(i * 0.7) - 3 * (i % 3), sin(i * 1.3)] AS x, 1 + i % 4 AS w
FROM generate_series(1, 60000) AS i;
ALTER TABLE rows SET (parallel_workers = 2);
CREATE TABLE models AS SELECT gmm_fit(x, 3) AS model FROM rows WHERE id <= 1000;
CREATE TABLE stored AS SELECT id, beta_bernoulli_fit(g = 1) AS model FROM rows
WHERE id <= 4000 GROUP BY id;
ALTER TABLE stored SET (parallel_workers = 2);
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (model::jsonb - 'seconds')::text;
ANALYZE;
SQL
my $session = $server->session;
my $serial = 'SET max_parallel_workers_per_gather = 0; SET client_min_messages = error';
my $parallel = "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
      SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
      SET maintenance_work_mem = '64MB'; SET client_min_messages = error";

# Queries, which return the same to the last bit.
my $options = q{'{"method": "em", "tol": 1e-12, "init": [[0, 0, 0], [5, -3, 0], [10, -6, 0]]}'};
my $shown = 'c.component, c.weight, c.mean, c.covariance, c.count, i.rows, i.skipped, '
    . 'i.log_likelihood';
my $more = 'LATERAL gmm_components(m) AS c, LATERAL bayes_info(m) AS i ORDER BY 1, 2';
my %queries = (
    plain => "SELECT $shown FROM (SELECT gmm_fit(x, 3, $options) AS m FROM rows) AS f, $more",
    default => "SELECT $shown FROM (SELECT gmm_fit(x, 3) AS m FROM rows) AS f, $more",
    weights => "SELECT $shown FROM (SELECT gmm_fit(x, 3, $options, w) AS m FROM rows) AS f, $more",
    groups => "SELECT g, $shown FROM (SELECT g, gmm_fit(x, 2) AS m FROM rows GROUP BY g) AS f,
          $more",
    'NULL rows' => "SELECT $shown
          FROM (SELECT gmm_fit(CASE WHEN id % 10 > 0 THEN x END, 3, $options) AS m FROM rows) AS f,
          $more",
    'filter' => "SELECT $shown FROM (SELECT gmm_fit(x, 3, $options) FILTER (WHERE id % 7 > 2) AS m
          FROM rows) AS f, $more",
    'filter, rows of one worker only'
        => "SELECT $shown FROM (SELECT gmm_fit(x, 2) FILTER (WHERE id <= 50) AS m FROM rows) AS f,
          $more",
    'start' => "SELECT $shown FROM (SELECT gmm_fit(x, (SELECT model FROM models)) AS m
          FROM rows) AS f, $more",
    'update' => "SELECT $shown FROM (SELECT gmm_update(x, (SELECT model FROM models)) AS m
          FROM rows) AS f, $more",
    'select' => "SELECT a.k, a.objective, a.bic, a.icl, a.parameters
          FROM (SELECT gmm_select(x, '{1,3}', '{\"tol\": 1e-10}') AS m FROM rows) AS f,
          LATERAL unnest(m) AS a ORDER BY 1",
    'fit statistics' => "SELECT (s).* FROM (SELECT bmm_fit_statistics((SELECT bmm_fit(r, 2,
          '{\"method\": \"em\"}') FROM (VALUES (true, 'a'), (false, 'b'), (true, 'b'), (false, 'a'),
          (true, 'a')) AS r(b, l)), r, w) AS s FROM rows,
          LATERAL (SELECT id % 3 = 0 AS b, CASE id % 7 WHEN 2 THEN 'a' ELSE 'b' END AS l) AS r)
          AS f",
    'two at once' => "SELECT $shown FROM (SELECT gmm_fit(x, 3, $options) AS m,
          gmm_fit(x[1:2], 2) AS n, count(*) FROM rows) AS f, $more",
);
for my $name (sort keys %queries) {
    $session->run($serial);
    my $plan = $session->run("EXPLAIN (COSTS OFF) $queries{$name}");
    unlike($plan, qr/Partial Aggregate|Gather/, "$name: serial plan");
    my $want = $session->run($queries{$name}, 120);
    $session->run($parallel);
    $plan = $session->run("EXPLAIN (COSTS OFF) $queries{$name}");
    like($plan, qr/Finalize \w*Aggregate.*Gather.*Partial \w*Aggregate.*Parallel Seq Scan on rows/s,
        "$name: parallel plan") or diag($plan);
    my $got = $session->run($queries{$name}, 120);
    like($want, qr/^\d/, 'it gives rows');
    is($got, $want, "$name: the same");
}
like($session->run("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $queries{plain}", 120),
    qr/Workers Launched: 2/, 'workers really run');

# Starting points depend on the rows, not on the order in which workers deliver them, so whole fits
# repeat up to rounding.
my @objectives = map { $session->run(
    'SELECT round(i.objective::numeric, 4), i.iterations
      FROM (SELECT gmm_fit(x, 4,
      \'{"method": "em", "seed": 5, "init": "kmeans++", "restarts": 3}\') AS m FROM rows) AS f,
      bayes_info(m) AS i', 60) } 1 .. 4;
is_deeply([grep { $_ ne $objectives[0] } @objectives], [], 'parallel fits repeat');

# Rows of one block come from one process. The other has no state, and may be the first. Each reads
# some of these blocks.
my %lonely = (
    dirichlet_categorical_fit => q{dirichlet_categorical_fit(id % 3, '{"prior": {"alpha": 2}}')},
    beta_bernoulli_fit => q{beta_bernoulli_fit(id % 3 = 1, '{"prior": {"a": 2}}')},
    linreg_fit => q{linreg_fit(id, ARRAY[sin(id), cos(id)], '{"prior": {"c": 10}}')},
    nb_fit => q{nb_fit(id % 2, ARRAY[sin(id), cos(id)], '{"missing": "skip"}')},
    rollup => 'bayes_rollup(model)',
    glm_fit => q{glm_fit(id % 3, ARRAY[sin(id), cos(id)], '{"response": "poisson"}')},
    'glm_fit of labels' => q{glm_fit('level ' || id % 4, ARRAY[sin(id), cos(id)],
        '{"response": "categorical"}')},
    'glm_fit of levels' => q{glm_fit(id % 11, ARRAY[sin(id), cos(id)], '{"response": "ordinal"}')},
    'glm_fit of given levels' => q{glm_fit('level ' || id % 3, ARRAY[sin(id), cos(id)],
        '{"response": "ordinal", "levels": ["level 2", "level 0", "level 1"]}')},
    logreg_fit => q{logreg_fit(id % 2 = 1, ARRAY[sin(id), cos(id)], '{"prior": {"c": 1}}')},
);
for my $name (sort keys %lonely) {
    my @of_blocks = map { "timeless($lonely{$name}
          FILTER (WHERE ctid >= '(" . 5 * $_ . ",1)' AND ctid < '(" . (5 * $_ + 1) . ",1)'))" }
        0 .. 15;
    my $query = 'SELECT ' . join(', ', @of_blocks) . ' FROM stored';
    $session->run($serial);
    my $want = $session->run($query, 120);
    is(scalar(() = $want =~ /"version"/g), 16, "$name of blocks") or diag($want);
    $session->run("$parallel; SET parallel_leader_participation = off");
    like($session->run("EXPLAIN (COSTS OFF) $query"), qr/Finalize Aggregate.*Gather/s,
        'in a parallel plan');
    is($session->run($query, 120), $want, 'the same where a worker has no rows');
    $session->run('RESET parallel_leader_participation');
}

# ---- nothing to aggregate, and errors in workers ----

is($session->run("SELECT gmm_fit(x, 3) IS NULL FROM rows WHERE id < 0"), 't',
    'no rows in any worker: NULL');
is($session->run("SELECT gmm_fit(x, 3) FILTER (WHERE false) IS NULL,
      gmm_select(x, '{1}') FILTER (WHERE id < 0) IS NULL FROM rows"), 't|t',
    'a filter that leaves none: NULL');
is($session->run("SELECT gmm_fit(CASE WHEN false THEN x END, 3) IS NULL FROM rows"), 't',
    'NULL rows only: NULL');
is($session->run("SELECT g, gmm_fit(x, 1) FILTER (WHERE g = 1) IS NULL FROM rows
      GROUP BY g ORDER BY g"), "0|t\n1|f\n2|t", 'groups that a filter empties');
like($session->run("SELECT gmm_fit(CASE WHEN id = 45678 THEN x || 1::float8 ELSE x END, 3)
      FROM rows"), qr/^ERROR:  2202E: row \d+ has 4 elements, but the first row has 3/,
    'rows of different length in one worker');
like($session->run("SELECT gmm_fit(CASE WHEN id > 30000 THEN x || 1::float8 ELSE x END, 3)
      FROM rows"), qr/^ERROR:  2202E: /, 'or in two');
like($session->run("SELECT gmm_fit(x, CASE WHEN id > 30000 THEN 3 ELSE 2 END) FROM rows"),
    qr/^ERROR:  22023: k must be the same for all rows of one fit/, 'k that differs');
like($session->run(q{SELECT gmm_fit(x, 3, CASE WHEN id > 30000 THEN '{"seed": 1}'
      ELSE '{"seed": 2}' END::jsonb) FROM rows}),
    qr/^ERROR:  22023: options must be the same for all rows of one fit/, 'options that differ');
like($session->run("SELECT gmm_fit(x, 3, '{}', 0) FROM rows"),
    qr/^ERROR:  22023: all weights are zero/, 'all weights zero');
like($session->run("SELECT nb_fit(g, x, '{}', 0) FROM rows"),
    qr/^ERROR:  22023: all weights are zero/, 'of classes too');
like($session->run("SELECT gmm_fit(x, 3, '{}', 0 - w) FROM rows"),
    qr/^ERROR:  22023: weight of row \d+ is -\d/, 'a negative weight');
like($session->run("SELECT gmm_fit(x, 60001) FROM rows"),
    qr/^ERROR:  22023: k is 60001, but must be a whole number from 1 to 10000/, 'an impossible k');
like($session->run("SELECT gmm_fit(ARRAY[g], 4) FROM rows"),
    qr/^ERROR:  22023: k is 4, but there are only 3 distinct rows/, 'k above the distinct rows');
is($session->run(q{SELECT i.rows, i.skipped
      FROM (SELECT gmm_fit(CASE WHEN id % 100 = 0 THEN x || 'NaN'::float8 ELSE x || 1::float8 END,
      2, '{"missing": "skip"}') AS m FROM rows) AS f, bayes_info(m) AS i}, 60), '59400|600',
    'rows left out by several workers are counted');

# ---- records whose shape differs from process to process ----

$server->query(<<'SQL');
CREATE FUNCTION shaped(x float8[], other boolean) RETURNS record LANGUAGE plpgsql PARALLEL SAFE
AS $$
DECLARE r record;
BEGIN
  IF pg_backend_pid() % 2 = 0 THEN SELECT x[1] AS a, x[2] AS b INTO r;
  ELSIF other THEN SELECT x[1] AS a, x[3] AS c INTO r;
  ELSE SELECT x[2] AS b, x[1] AS a INTO r;
  END IF;
  RETURN r;
END $$;
SQL
my $shaped = q{SELECT i.rows, round(i.log_likelihood), (SELECT string_agg(name, ',' ORDER BY name)
      FROM bayes_columns(m)) FROM (SELECT gmm_fit(%s, 1) AS m
      FROM rows%s) AS f, bayes_info(m) AS i};
my $named = sprintf $shaped, 'r', ', LATERAL (SELECT x[1] AS a, x[2] AS b) AS r';
is($session->run(sprintf($shaped, 'shaped(x, false)', '')), $session->run($named),
    'columns in another order');
my $said = $session->run(sprintf $shaped, 'shaped(x, true)', '');
like($said, qr/^ERROR:  22023: rows have no column "[abc]"|^60000\|/,
    'a column that others have not');

# ---- the planner's advice: rows that do not fit into memory are not sent between processes ----

my $aggregate = 'EXPLAIN (COSTS OFF) SELECT gmm_fit(x, 3) FROM rows';
like($session->run($aggregate), qr/Partial Aggregate/,
    'rows fit into maintenance_work_mem: parallel');
$session->run("SET maintenance_work_mem = '1MB'");
unlike($session->run($aggregate), qr/Partial Aggregate/, 'they do not: serial');
unlike($session->run(
    'EXPLAIN (COSTS OFF) SELECT gmm_fit(x, 3) FROM rows
      JOIN (SELECT generate_series(1, 3) AS s) AS t ON true'), qr/Partial Aggregate/,
    'nor does a join');
like($session->run('EXPLAIN (COSTS OFF) SELECT gmm_fit(x, 3) FROM rows WHERE id <= 100'),
    qr/Partial Aggregate/, 'few of them do');
like($session->run('EXPLAIN (COSTS OFF) SELECT count(*), sum(w) FROM rows'), qr/Partial Aggregate/,
    'other aggregates are not touched');

# ---- scalar functions and set-returning ones inside workers ----

$session->run($parallel);
my $scores = 'SELECT count(*), sum(gmm_predict(model, x)),
      round(sum(bayes_log_density(model, x))::numeric, 6),
      round(sum((bayes_probabilities(model, x))[1])::numeric, 6) FROM rows'
    =~ s/model,/(SELECT model FROM models),/gr;
like($session->run("EXPLAIN (COSTS OFF) $scores"),
    qr/Partial Aggregate.*Parallel Seq Scan on rows/s, 'predictions run in workers');
my $got = $session->run($scores);
$session->run($serial);
is($session->run($scores), $got, 'and say the same there');
# A query text inside a parallel plan: the function is marked unsafe, so the plan stays serial.
$session->run($parallel);
unlike($session->run(
    "EXPLAIN (COSTS OFF) SELECT sum((SELECT count(*)
      FROM gmm_fit('SELECT x FROM rows WHERE id < 100', g + 1))) FROM rows WHERE id <= 10"),
    qr/Gather/, 'query texts keep a plan serial');

# ---- threads ----

$session->run("$serial; SET maintenance_work_mem = '64MB'");
my @fits = (map({ my $m = $_; map { "SELECT timeless(
      gmm_fit(x, 4, '{\"method\": \"$m\", \"covariance\": \"$_\", \"max_iter\": 6,
      \"restarts\": 2}')) FROM rows" } qw(full diagonal spherical tied) } qw(em map vi)),
    map({ "SELECT timeless(gmm_fit(x, 4, '{\"method\": \"$_\", \"max_iter\": 15, \"restarts\": 2}'))
          FROM rows" } qw(svi kmeans)),
    q{SELECT timeless(gmm_fit(x, 3, '{"prior": {"type": "independent"}, "max_iter": 10}', w))
          FROM rows},
        'SELECT md5(string_agg(c::text, \',\' ORDER BY id))
          FROM (SELECT id, gmm_cluster(x, 3) OVER (PARTITION BY g) AS c FROM rows) AS r');
my %bits;
for my $threads (1, 2, 5) {
    $session->run("SET pg_bayes.threads = $threads");
    push @{$bits{$_}}, $session->run($_, 120) for @fits;
}
is_deeply([grep { my $b = $bits{$_}; $b->[0] =~ /ERROR/ || $b->[0] ne $b->[1]
    || $b->[0] ne $b->[2] } @fits], [], 'with 1, 2 and 5 threads: the same to the last bit');

# The most threads seen at one time in a fit of many passes.
sub threads_seen {
    my ($wanted, $settings) = @_;
    $session->run($settings);
    $session->send('SELECT gmm_fit(x, 8, \'{"method": "em", "max_iter": 1000000, "tol": 0}\')
          FROM rows, generate_series(1, 10)');
    # As long as it takes until there are so many, and a moment longer, for one too many.
    my ($most, $end) = (0, time + 60);
    while (time < $end) {
        my @tasks = glob('/proc/' . $session->pid . '/task/*');
        $most = @tasks if @tasks > $most;
        $end = time + 2 if $most >= $wanted && $end > time + 2;
        select(undef, undef, undef, 0.005);
    }
    kill 'INT', $session->pid;
    $session->wait(60);
    return $most;
}
is(threads_seen(4, 'SET pg_bayes.threads = 4'), 4, 'as many threads as are asked for');
is(threads_seen(2, 'SET pg_bayes.max_threads = 2'), 2,
    'but no more than the administrator allows');
$session->run('CREATE ROLE analyst; SET ROLE analyst');
like($session->run('SET pg_bayes.max_threads = 64'), qr/42501/, 'who alone may allow more');
$session->run('RESET ROLE; DROP ROLE analyst; RESET pg_bayes.max_threads');
like($session->run('SET pg_bayes.threads = 65'), qr/22023/, 'a setting out of range is refused');
like($session->run('SET pg_bayes.thread = 2'), qr/ERROR/, 'so is one that does not exist');

done_testing;
