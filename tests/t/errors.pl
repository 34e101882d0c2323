# Errors are cheap: 200,000 of them caught in one backend, of every road that an error may take out
# of the module, and 1000 fits, leave its memory where it was; make test does a quarter of that.
#
# How long, for the runner:
# seconds: 12
use strict;
use warnings;
use Effort;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$session->run(<<'SQL');
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = error;
CREATE TABLE models AS SELECT gmm_fit(x, 2) AS vi, gmm_fit(x, 2, '{"method": "em"}') AS em
FROM faithful;
CREATE TABLE few AS SELECT id, x FROM faithful WHERE id <= 10;

-- Runs each statement so many times; tells how often each SQLSTATE came, and ends as no error of
-- this kind should.
CREATE FUNCTION fail(rounds int, VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  statement text;
  result text;
  counts jsonb := '{}';
BEGIN
  FOR i IN 1 .. rounds LOOP
    FOREACH statement IN ARRAY statements LOOP
      BEGIN
        EXECUTE statement INTO result;
        RAISE EXCEPTION 'no error: %', statement USING ERRCODE = 'P0004';
      EXCEPTION
        WHEN assert_failure THEN RAISE;
        WHEN OTHERS THEN counts := jsonb_set(counts, ARRAY[SQLSTATE],
          to_jsonb(coalesce((counts->>SQLSTATE)::int, 0) + 1));
      END;
    END LOOP;
  END LOOP;
  RETURN counts;
END $$;
SQL

# What it is: (rounds, statements...). Kernel: thrown by the kernel. Guarded: raised by PostgreSQL
# below C++ frames. Rows: with rows, a spilled file or an open query in hand.
my @kinds = (
    ['options' => 4000, map { "SELECT gmm_fit(x, 2, '$_') FROM few" } '{"metod": "em"}',
        '{"method": "x"}', '{"tol": -1}', '[]', '{"prior": {"B": [[1, 2], [2, 1]]}}'],
    ['rows' => 4000, 'SELECT gmm_fit(CASE WHEN id < 9 THEN x ELSE x || 1.0::float8 END, 2)
          FROM few',
        q{SELECT gmm_fit(CASE WHEN id < 9 THEN x ELSE ARRAY[1, NULL] END, 2, '{"missing": "error"}')
          FROM few},
        q{SELECT gmm_fit(CASE WHEN id < 9 THEN x ELSE '{Infinity,1}' END, 2) FROM few},
            'SELECT gmm_fit(x, id) FROM few', q{SELECT gmm_fit(x, 2, '{}', 3.5 - id) FROM few}],
    ['fits' => 3000, 'SELECT gmm_fit(x, 11) FROM few', 'SELECT gmm_fit(x, 0) FROM few',
        'SELECT gmm_update(x, em) FROM few, models', 'SELECT gmm_select(x, ARRAY[12, 11]) FROM few',
        'SELECT gmm_cluster(x, 11) OVER () FROM few'],
    ['scores' => 8000, q{SELECT gmm_predict(vi, '{1}') FROM models},
        q{SELECT gmm_predict(vi, '{1,Infinity}') FROM models},
        q{SELECT bayes_log_density(em, '{{1,2}}') FROM models},
        q{SELECT bayes_probabilities(em, '{}') FROM models},
        'SELECT gmm_posterior(em) FROM models', 'SELECT bayes_sample(em, -1, 1) FROM models'],
    ['texts' => 5000, q[SELECT '{'::bayes_model], q{SELECT '{"pg_bayes": {}}'::bayes_model},
        q{SELECT (vi::jsonb - 'trace')::bayes_model FROM models},
        q{SELECT replace(vi::text, 'gmm', 'xyz')::bayes_model FROM models},
        q{SELECT '[1e999]'::bayes_model}],
    ['queries' => 4000, map { "SELECT gmm_fit('$_', 2)" } 'SELECT', 'SELECT nothing',
        "SELECT 1; SELECT 2", "SELECT 1 / (id - 5) FROM few", "SELECT ''''a''''", 'DELETE FROM few',
        'SELECT x FROM few UNION ALL SELECT NULL::float8[] || 1::float8'],
    ['guarded' => 4000, q{SELECT gmm_fit('SELECT (id || ''x'')::float8 FROM few', 2)},
        q{SELECT gmm_fit(ARRAY[1 / (id - 5)], 2) FROM few},
        q{SELECT gmm_cluster(ARRAY[1 / (id - 5)], 2) OVER () FROM few},
        q{SELECT gmm_fit('SELECT gmm_fit(''SELECT x, 1 / (id - 9) FROM few'', 2)', 2)}],
    ['recursion' => 500, q{SELECT gmm_fit('SELECT id, gmm_predict(vi, ARRAY[id]) FROM few, models',
          2)},
        q{SELECT gmm_fit('SELECT c.weight FROM few, gmm_fit(''SELECT x FROM few'', 20) AS c', 2)}],
);

my ($errors, @lost) = (0);
my %states;
my $fail = sub {
    my ($share) = @_;
    for my $kind (@kinds) {
        my ($name, $count, @statements) = @$kind;
        my $times = int($share * $count);
        my $said = $session->run("SELECT fail($times, "
            . join(', ', map { my $s = $_; $s =~ s/'/''/g; "'$s'" } @statements) . ')', 300);
        my %count = $said =~ /"(\w+)": (\d+)/g;
        push @lost, "$name: $said" unless %count;
        $errors += $_ for values %count;
        $states{$_} += $count{$_} for keys %count;
    }
};
# The first tenth fills caches and lets the allocator find its size.
$fail->(0.1);
my $growth = $session->growth_kb(1, effort(1500), sub { $fail->(effort(1.28)) });
is_deeply(\@lost, [], 'every statement failed, as it should');
diag("$errors errors: " . join(', ', map { "$_: $states{$_}" } sort keys %states));
cmp_ok($errors, '>=', effort(200_000), 'as many errors as there should be');
is_deeply([grep { /^XX/ } keys %states], [], 'no internal errors');
diag("memory of the backend grew by $growth kB in a round");
cmp_ok($growth, '<=', effort(1500), 'memory is where it was');
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'no memory context of ours is left');

# ---- 1000 fits ----

my @fits = (
    (map { "PERFORM gmm_fit(x, 3, '{\"method\": \"$_\", \"max_iter\": 20}') FROM faithful;" }
        qw(em map vi kmeans)),
    q{PERFORM gmm_fit(x, 2, '{"method": "svi", "max_iter": 5}') FROM faithful;},
        q{PERFORM species, gmm_fit(x, 1) FROM iris GROUP BY species;},
        q{PERFORM gmm_cluster(x, 2) OVER (PARTITION BY species) FROM iris;},
    q{PERFORM gmm_fit('SELECT x FROM faithful', 2);},
        q{PERFORM gmm_select(x, '{1,2}', '{"max_iter": 5}') FROM iris;},
        q{PERFORM gmm_update(x, vi) FROM faithful, models;});
my $fits = sub { $session->run("DO \$\$ BEGIN FOR i IN 1 .. $_[0] LOOP @fits END LOOP; END \$\$",
    300) };
is($fits->(10), '', 'fits');
$growth = $session->growth_kb(1, effort(1500), sub { $fits->(effort(100)) });
diag("memory of the backend grew by $growth kB in a round of fits");
cmp_ok($growth, '<=', effort(1500), 'many fits leave no memory behind');
is_deeply([$server->temporary_files], [], 'no temporary files are left');

done_testing;
