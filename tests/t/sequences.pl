# Sequences with little memory: those that lie in a file give the same model to the last bit, with
# any number of threads, be they many or one that is longer than the budget; windows over long
# partitions and over many short ones; what a fit takes is bounded, and nothing is left behind.
#
# How long, for the runner:
# seconds: 30
use strict;
use warnings;
use Effort;
use Memory;
use Server;
use Spill;
use Test::More;
use Time::HiRes qw(time);

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE many AS SELECT id,
  ARRAY(SELECT 10 * (id * i / 7 % 3) + sin(id * i * 0.7)
  FROM generate_series(1, 5 + id * 7 % 40) AS i) AS x,
  ARRAY(SELECT chr(97 + (id * i / 5 % 3 * 2 + i * i % 3) % 6)
  FROM generate_series(1, 5 + id * 7 % 40) AS i) AS names,
  (SELECT array_agg(ARRAY[sin(id * i * 0.7) + 3 * (id * i / 7 % 3), cos(i + id)])
    FROM generate_series(1, 5 + id * 7 % 40) AS i) AS v FROM generate_series(1, 8000) AS id;
CREATE TABLE long AS SELECT array_agg(3 * (i / 50 % 3) + sin(i * 1.7) ORDER BY i) AS x,
  array_agg(chr(97 + (i / 50 % 3 + i % 11 % 4 / 3) % 3) ORDER BY i) AS names
FROM generate_series(1, 400000) AS i;
CREATE TABLE steps AS SELECT i, 3 * (i / 50 % 3) + sin(i * 1.7) AS x
FROM generate_series(1, 150000) AS i;
CREATE TABLE models AS SELECT hmm_fit(x[1:20000], 3,
  '{"method": "em", "init": {"means": [0, 3, 6]}, "max_iter": 20, "tol": 1e-3}') AS model FROM long;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql RETURN (model::jsonb
  - 'seconds')::text;
VACUUM ANALYZE;
SQL
my $session = $server->session;

# ---- sequences in a file: the same model ----

my $quick = '"max_iter": 4, "restarts": 1, "tol": 0';
my $few = '"chains": 1, "draws": 4, "warmup": 2';
my $given = '"init": {"means": [0, 3, 6]}';
my %statements = (
    (map { ("$_ of numbers"
        => "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"$_\", $quick}' ORDER BY id))
          FROM many") } qw(em map vi svi)),
    (map { ("$_ of names"
        => "SELECT timeless(hmm_fit(names, 3, '{\"method\": \"$_\", $quick}' ORDER BY id))
          FROM many") } qw(em vi)),
    'gibbs of names' => "SELECT timeless(hmm_fit(names, 3,
          '{\"method\": \"gibbs\", $few}' ORDER BY id)) FROM many",
    'em of vectors' => "SELECT timeless(hmm_fit(v, 3, '{\"method\": \"em\", $quick}' ORDER BY id))
          FROM many",
    'weights' => "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"em\", $quick}', id % 3 ORDER BY id))
          FROM many",
    'known states' => "SELECT timeless(hmm_fit(x, array_fill(id % 4, ARRAY[cardinality(x)]), 3,
          '{\"method\": \"em\", $quick}' ORDER BY id)) FROM many",
    'sequences left out' => "SELECT timeless(hmm_fit(CASE WHEN id % 5 > 0 THEN x END, 3,
          '{\"method\": \"em\", $quick}' ORDER BY id)) FROM many",
    'relation' => "SELECT md5(string_agg(d::text, ' '))
          FROM hmm_decode('SELECT id, names FROM many ORDER BY id', 3,
          '{\"method\": \"em\", $quick}') AS d",
    (map { ("$_ of one long sequence"
        => "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"$_\", $quick, $given}'))
          FROM long") } qw(em vi svi)),
    'em of one long sequence of names'
        => "SELECT timeless(hmm_fit(names, 3, '{\"method\": \"em\", $quick}')) FROM long",
    'gibbs of one long sequence'
        => "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"gibbs\", $few, $given}')) FROM long",
    'long and short' => "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"em\", $quick, $given}'))
          FROM (SELECT 4001 AS id, x FROM long UNION ALL SELECT id, x FROM many ORDER BY id) AS r",
    'window' => "SELECT md5(string_agg(d::text, ' ' ORDER BY i))
          FROM (SELECT i, hmm_decode(model, x) OVER (ORDER BY i) AS d FROM steps, models) AS r",
    'array' => "SELECT md5(hmm_decode(model, x)::text) || hmm_log_likelihood(model, x) FROM long,
          models",
);
$session->run(settings(1, '256MB'));
my %want = results_of($session, %statements);
unlike(files_of($session, $statements{'em of one long sequence'}), qr/temporary file/,
    'sequences that fit into memory need no file');
# Threads on what lies in memory: one form for each way of going over sequences.
my @names = sort keys %statements;
my @ways = ('em of numbers', 'svi of numbers', 'gibbs of names', 'em of vectors',
    'em of one long sequence', 'gibbs of one long sequence', 'long and short', 'relation');
for my $case ([1, '1MB', @names], [2, '1MB', @names], [2, '256MB', @ways]) {
    $session->run(settings(@$case));
    my @different;
    for my $name (@$case[2 .. $#$case]) {
        my $got = $session->run($statements{$name}, 120);
        next if $got eq $want{$name};
        ($got ^ $want{$name}) =~ /^\0*/;
        my $at = $+[0] > 60 ? $+[0] - 60 : 0;
        push @different, "$name: " . substr($got, $at, 160) . ' instead of '
            . substr($want{$name}, $at, 160);
    }
    is_deeply(\@different, [],
        "maintenance_work_mem = $case->[1], threads: $case->[0]: the same to the last bit");
}
$session->run(settings(1, '1MB'));
for my $name ('em of numbers', 'em of one long sequence', 'relation') {
    like(files_of($session, $statements{$name}), qr/temporary file: path/,
        "$name: what does not fit lies in a file");
}
no_file_is_left($server, 'no temporary files are left');

# ---- errors, limits and cancels ----

my %failing = (
    'a bad step' => "SELECT hmm_fit(CASE WHEN id < 7000 THEN x ELSE '{Infinity}' END, 3) FROM many",
    'a bad sequence' => "SELECT hmm_fit(CASE WHEN id < 7000 THEN x ELSE v END, 3) FROM many",
    'the end of a long sequence' => "SELECT hmm_fit(x || 'Infinity'::float8, 3) FROM long",
    'a query' => "SELECT hmm_decode('SELECT 1 / (7000 - id), x FROM many', 3)",
    'the fit' => "SELECT hmm_fit(x, 3, '{\"emission\": \"bernoulli\"}') FROM many",
    'after the fit' => "SELECT 1 / (length(hmm_fit(x, 1)::text) * 0) FROM many",
    'a window' => "SELECT hmm_decode(model, CASE i WHEN 149999 THEN 'Infinity' ELSE x END)
          OVER (ORDER BY i) FROM steps, models",
);
for my $what (sort keys %failing) {
    like($session->run($failing{$what}, 120), qr/^ERROR:  22/m, "error in $what");
    no_file_is_left($server);
}
limit_of_files_is_kept($server, $session, \%statements, 'em of numbers', 'em of one long sequence',
    'relation');
my $endless = '"method": "em", "max_iter": 1000000, "tol": 0, "restarts": 1000';
cancels_leave_nothing($server, $session, [0.05, 0.2, 0.6],
    "SELECT hmm_fit(x, 3, '{$endless}') FROM many",
    "SELECT hmm_fit(x, 3, '{$endless}') FROM long",
    "SELECT hmm_decode('SELECT 1, x FROM long', 3, '{$endless}')");

# ---- windows ----

$session->run(settings(1, '64MB'));
my $array = $session->run(
    "SELECT md5(string_agg(s::text, ' ' ORDER BY t)) FROM models,
      (SELECT array_agg(x ORDER BY i) AS x FROM steps) AS r,
      unnest(hmm_decode(model, x)) WITH ORDINALITY AS d(s, t)", 120);
is($want{window}, $array, 'one partition of 150,000 rows: as in an array');
my $start = time;
is($session->run("SELECT count(*), count(s), count(*)
      FILTER (WHERE s <> (hmm_decode(model, ARRAY[x]))[1])
      FROM (SELECT model, x, hmm_decode(model, x) OVER (PARTITION BY i) AS s FROM models, steps
      WHERE i <= 100000) AS r", 120), '100000|100000|0', '100,000 partitions of one row');
diag(sprintf '100,000 partitions: %.1f s', time - $start);
cmp_ok(time - $start, '<', 30, 'in little time');
my $smooth = "SELECT md5(string_agg(p::text, ' ' ORDER BY i))
      FROM (SELECT i, hmm_probabilities(model, x) OVER (ORDER BY i) AS p FROM models, steps) AS r";
my $enough = $session->run($smooth, 120);
like($enough, qr/^\w{32}$/, 'probabilities of 150,000 rows');
$session->run("SET work_mem = '64kB'");
is($session->run($smooth, 120), $enough, 'with little work_mem: the same to the last bit');
is($session->run("SELECT count(*) FROM (SELECT hmm_probabilities(model, x)
      OVER (PARTITION BY i / 1000 ORDER BY i) AS p,
      hmm_filter(model, x) OVER (PARTITION BY i / 1000 ORDER BY i) AS f FROM models, steps
      WHERE i <= 60000) AS r WHERE p IS NOT NULL AND f IS NOT NULL", 120), '60000',
    'many partitions, each in a file or not');
$session->run("BEGIN; DECLARE c CURSOR FOR SELECT hmm_probabilities(model, x) OVER (ORDER BY i)
      FROM models, steps WHERE i <= 60000; FETCH 3 FROM c; CLOSE c; COMMIT", 120);
like($session->run("SELECT 1 / (i - 40000) FROM (SELECT i,
      hmm_probabilities(model, x) OVER (ORDER BY i) AS p FROM models, steps WHERE i <= 60000
      OFFSET 0) AS r WHERE p IS NOT NULL", 120), qr/22012/, 'an error amid the results');
no_file_is_left($server, 'no temporary files are left');
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'nor any memory context of ours');

# ---- memory ----

# What a statement holds besides: the array of 400,000 steps (3.2 MB, in its own and in decompressed
# form), states and checkpoints of long sequences, the start's sample, a model.
memory_stays_near($server, "SELECT sum(x[1]), max(v[1][1]), max(names[1]) FROM many;
      SELECT cardinality(x), cardinality(names) FROM long; SELECT sum(x) FROM steps;
      SELECT hmm_fit(x, 3, '{$quick}') FROM many WHERE id <= 100",
    ['many sequences', "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"em\", $quick}')) FROM many,
          generate_series(1, 8)", 8],
    ['many sequences by gibbs', "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"gibbs\", $few}'))
          FROM many, generate_series(1, 8)", 12],
    ['one long sequence', "SELECT timeless(hmm_fit(x, 3, '{\"method\": \"em\", $quick, $given}'))
          FROM long", 12],
    ['a window over a long partition', "SELECT count(d) FROM (SELECT hmm_decode(model, x)
          OVER (ORDER BY i) AS d FROM models, steps) AS r", 10]);

# ---- many fits in one session ----

my %many = (
    'all methods' => q{SELECT pg_column_size(hmm_fit(names, 2,
          jsonb_build_object('method', m) || CASE m WHEN 'gibbs' THEN '{"draws": 10}'
          ELSE '{"max_iter": 5, "restarts": 2}' END::jsonb)) FROM many,
          unnest('{em,map,vi,svi,gibbs}'::text[]) AS m WHERE id <= 20 GROUP BY m},
    'relation' => q{SELECT count(*) FROM hmm_decode('SELECT id, v FROM many WHERE id <= 20', 2,
          '{"max_iter": 5}')},
    'windows' => q{SELECT count(hmm_decode), count(hmm_probabilities), count(hmm_filter)
          FROM (SELECT hmm_decode(model, x) OVER w, hmm_probabilities(model, x) OVER w,
          hmm_filter(model, x) OVER w FROM steps, models WHERE i <= 2000
          WINDOW w AS (PARTITION BY i % 50 ORDER BY i)) AS r},
    'arrays' => q{SELECT count(hmm_decode(model, x)), count(hmm_probabilities(model, x)),
          count(hmm_filter(model, x)), sum(hmm_log_likelihood(model, x)),
          sum((SELECT count(*) FROM hmm_paths(model, x, 5))) FROM many, models WHERE id <= 200},
    'refused' => q{SELECT hmm_fit(CASE WHEN id < 150 THEN x ELSE '{Infinity}' END, 2) FROM many
          WHERE id <= 200; SELECT hmm_decode(model, CASE WHEN i < 900 THEN x ELSE 'Infinity' END)
          OVER () FROM steps, models WHERE i <= 1000;
          SELECT hmm_decode(model, '{1,Infinity}'::float8[]) FROM models},
);
memory_is_flat($server, settings(1, '64MB'), effort(80), 10, %many);

done_testing;
