# Option on_error = null: what is said of a group whose rows are refused, that nothing is left of
# it, and that parallel plans give the same.
#
# How long, for the runner:
# seconds: 20
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id, i % 100 AS g, 1 + i / 100 AS number,
  CASE WHEN i IN (5043, 5143) THEN ARRAY[sin(i), 'NaN'] WHEN i = 20066 THEN ARRAY[1.0, 2, 3]
    ELSE ARRAY[sin(i), cos(i * 0.7)] END AS x,
  CASE WHEN i = 30007 THEN -1 ELSE 1 END::float8 AS w
FROM generate_series(0, 59999) AS i;
ALTER TABLE rows SET (parallel_workers = 2);
ANALYZE rows;
SQL

# ---- what is said ----

$session->run('SET max_parallel_workers_per_gather = 0');
my $null = q{'{"on_error": "null"}'};
my $failed = "SELECT string_agg(g::text, ' ' ORDER BY g) FROM (SELECT g, %s AS m
      FROM (SELECT * FROM rows ORDER BY g, id) AS r GROUP BY g) AS f WHERE m IS NULL";
my %fits = (
    gmm => "gmm_fit(x, 1, $null, w)", nb => "nb_fit(id % 2, x, $null, w)",
    linreg => "linreg_fit(id, x, $null, w)", logreg => "logreg_fit(id % 3 = 0, x, $null, w)",
    glm => q{glm_fit(id % 3, x, '{"on_error": "null", "response": "poisson"}', w)},
    normal_inverse_gamma => "normal_inverse_gamma_fit(x[2], $null, w)",
    nmf => "nmf_fit(ARRAY[x[1] + 1, x[2] + 1], 1, $null)",
);
for my $family (sort keys %fits) {
    my $said = $session->run(sprintf($failed, $fits{$family}), 120);
    my @warnings = $said =~ /^WARNING:  \w{5}: (no model: .*)$/mg;
    my $groups = $family eq 'nmf' ? '43' : $family eq 'normal_inverse_gamma' ? '7 43' : '7 43 66';
    like($said, qr/^$groups$/m, "$family: the groups that failed") or diag($said);
    is(scalar @warnings, scalar(() = $groups =~ /\d+/g), 'each with one WARNING');
    is(scalar(grep { /\brow "?51\b.* is NaN$/ } @warnings), 1, 'it names the row')
        or diag("@warnings");
}
my $said = $session->run(sprintf($failed, $fits{gmm}), 120);
like($said, qr/^WARNING:  \w{5}: no model: element 2 of row 51 is NaN$/m, 'and the element');
like($said, qr/^DETAIL:  Reading ended at row 51\.$/m, 'where reading ended');
like($said, qr/^HINT:  Missing values are NULL/m, 'and what to do');
like($said, qr/^WARNING:  \w{5}: no model: row 201 has 3 elements, but the first row has 2$/m,
    'a row of another length');
like($said, qr/^WARNING:  \w{5}: no model: weight of row 301 is -1$/m, 'a weight');
like($session->run("SELECT linreg_stats(id, x, $null, w) IS NULL FROM rows"),
    qr/^WARNING:  \w{5}: no statistics: element 2 of row \d+ is NaN$/m, 'statistics');

# ---- parallel plans ----

my $parallel = "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
      SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
      SET maintenance_work_mem = '64MB'; SET parallel_leader_participation = off";
my $by_group = 'SELECT g, %s AS m FROM rows GROUP BY g';
$session->run('CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql IMMUTABLE
      PARALLEL SAFE RETURN (model::jsonb - \'seconds\')::text');
for my $family (sort grep { $_ ne 'nmf' } keys %fits) {
    # Sums of the normal models and of regressions differ in last digits.
    my $shown = $family =~ /^(gmm|nb|glm|logreg)$/
        ? '(SELECT round(log_likelihood::numeric, 6)::text FROM bayes_info(m))' : 'timeless(m)';
    my $query = "SELECT count(m), string_agg(g::text, ' ' ORDER BY g) FILTER (WHERE m IS NULL),
          md5(string_agg($shown, '' ORDER BY g)) FROM (" . sprintf($by_group, $fits{$family})
        . ') AS f';
    $session->run('RESET ALL; SET max_parallel_workers_per_gather = 0;
          SET client_min_messages = error');
    my $want = $session->run($query, 120);
    $session->run("$parallel; SET client_min_messages = warning");
    like($session->run("EXPLAIN (COSTS OFF) $query"),
        qr/Finalize \w*Aggregate.*Gather.*Partial \w*Aggregate/s, "$family: a parallel plan");
    my $got = $session->run($query, 120);
    my @warnings = $got =~ /^WARNING:  \w{5}: (no model: .*)$/mg;
    is($got =~ s/^(?:WARNING|DETAIL|HINT|LOCATION).*\n//mgr, $want, 'gives the same');
    is(scalar @warnings, scalar(() = (split /\|/, $want)[1] =~ /\d+/g),
        'one WARNING for each group');
}
# Rows that only do not go together where they meet.
# Workers take blocks in turn, so each of them has both lengths, unless there are two blocks in all.
$session->run('CREATE TABLE lengths AS SELECT CASE WHEN id > 100 THEN ARRAY[1.0, 2, 3]
      ELSE ARRAY[1.0, id] END AS x, repeat(\'-\', 70) AS filler FROM generate_series(1, 130) AS id;
      ALTER TABLE lengths SET (parallel_workers = 2); ANALYZE lengths');
$said = $session->run("SELECT gmm_fit(x, 1, $null) IS NULL FROM lengths", 60);
like($said, qr/^t$/m, 'rows of two lengths in two workers');
like($said, qr/^WARNING:  \w{5}: no model: .*(?:elements|rows have different lengths)/m,
    'with a WARNING');
# Sums of other priors: no prior is that of all.
$session->run("CREATE TABLE priors AS SELECT id, beta_bernoulli_fit(x > 1,
      jsonb_build_object('prior', jsonb_build_object('a', 1 + id % 7))) AS model
      FROM generate_series(1, 4000) AS id, generate_series(1, 3) AS x GROUP BY id;
      ALTER TABLE priors SET (parallel_workers = 2); ANALYZE priors");
like($session->run("EXPLAIN (COSTS OFF) SELECT bayes_rollup(model, $null) FROM priors"),
    qr/Finalize Aggregate.*Gather.*Partial Aggregate/s, 'bayes_rollup: a parallel plan');
$said = $session->run("SELECT bayes_rollup(model, $null) IS NULL FROM priors", 60);
like($said, qr/^t$/m, 'models that cannot be merged, in workers');
is(scalar(() = $said =~ /^WARNING:/mg), 1, 'with one WARNING') or diag($said);

# ---- nothing is left ----

$session->run("RESET ALL; SET max_parallel_workers_per_gather = 0; SET maintenance_work_mem = '1MB';
      SET work_mem = '256MB'; SET client_min_messages = error");
$session->run('CREATE TABLE wide AS SELECT g, i, CASE WHEN g % 2 = 1 AND i = 20000
      THEN $${NaN}$$::float8[]
      ELSE ARRAY[g, i, sin(i), cos(i), i % 7, i % 11, i % 13, 1] END AS x
      FROM generate_series(1, 4) AS g, generate_series(1, 20100) AS i');
# A fit of the last group looks at what the groups before it have left. Other tests have files on
# this server too.
my $files = q{(SELECT count(*) FROM pg_ls_tmpdir()
      WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%')};
my $contexts = q{(SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts
      WHERE name LIKE 'pg_bayes%' OR name = 'RowStore')};
for my $form (
    "gmm_fit(x, 1, $null)", "nmf_fit(x, 1, $null)", "hmm_fit(x, 1, $null)",
    "lda_fit(g * 100000 + i, 't' || i, CASE cardinality(x) WHEN 1 THEN -1 ELSE 1 END, 1, $null)",
    "pmf_fit(i, i % 5, CASE cardinality(x) WHEN 1 THEN 'NaN' ELSE x[3] END, 1, $null)",
    "nb_fit(i % 2, x, $null)") {
    my $query = "SELECT bool_and(fit IS NULL), max(files), max(bytes) FROM (SELECT g, $form AS fit,
          max(CASE WHEN i = 20050 THEN $files END) AS files,
          max(CASE WHEN i = 20050 THEN $contexts END) AS bytes
          FROM (SELECT * FROM wide WHERE g %% 2 = 1 ORDER BY g, i) AS w GROUP BY g) AS f";
    $query =~ s/%%/%/g;
    my ($all, $left, $bytes) = split /\|/, $session->run($query, 120);
    is($all, 't', "$form: refused");
    is($left, '0', 'its files are gone while the group goes on');
    cmp_ok($bytes, '<', 100_000, 'and its memory') or diag($bytes);
}
is_deeply([$server->temporary_files], [], 'no temporary files are left');
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'nor a memory context');

# Many groups that are refused, in a session of their own, whose allocator has not seen large ones.
$session = $server->session;
$session->run('SET client_min_messages = error');
my $groups = q{FROM (SELECT i, g, CASE i WHEN 5 THEN '{NaN,1}' ELSE ARRAY[i, sin(g * i)] END AS x
      FROM generate_series(1, 100) AS g, generate_series(1, 8) AS i) AS r GROUP BY g;};
my $many = 'DO $$ BEGIN FOR k IN 1 .. %d LOOP ' . join(' ', map { "PERFORM $_ $groups" }
    "gmm_fit(x, 1, $null)", "linreg_fit(i, x, $null)", "nb_fit(i %% 2, x, $null)",
    "hmm_fit(x, 1, $null)", "normal_inverse_gamma_fit(x[1], $null)", "nmf_fit(x, 1, $null)")
    . ' END LOOP; END $$';
is($session->run(sprintf($many, 10), 120), '', 'many groups');
my $growth = $session->growth_kb(1, 1500, sub { $session->run(sprintf($many, 40), 120) });
diag("memory of the backend grew by $growth kB in a round");
cmp_ok($growth, '<=', 1500, 'leave no memory behind');

done_testing;
