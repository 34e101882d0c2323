# The view bayes_progress: a running fit is seen from another session, by those who may see it, as
# long as it runs and no longer, and takes no place of PostgreSQL's own commands.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use Cancels;
use Server;
use Test::More;
use Time::HiRes qw(sleep time);

my $server = Server->shared;
Cancels::make_tables($server, qw(rows wide cloud sequences documents cells));
$server->query(<<'SQL');
CREATE FUNCTION fails() RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN PERFORM 1 / 0; RETURN false; EXCEPTION WHEN division_by_zero THEN RETURN true; END$$;
CREATE FUNCTION endless() RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN LOOP NULL; END LOOP; END$$;
CREATE FUNCTION inner_fit(options jsonb) RETURNS boolean LANGUAGE plpgsql AS
  $$BEGIN RETURN (SELECT hmm_fit(x, 3, options) FROM sequences WHERE id <= 200) IS NOT NULL; END$$;
SQL
my $endless = $Cancels::endless;

my $fitting = Cancels::session($server);
my $watching = $server->session;
my $columns = 'coalesce(family, \'-\'), coalesce(method, \'-\'), coalesce(phase, \'-\')';

# What another session sees of a session's fit.
sub seen {
    my ($pid, $what) = @_;
    $what //= $columns;
    return $watching->run("SELECT $what FROM bayes_progress WHERE pid = $pid");
}

# Waits until something is seen that matches, and returns it; else what was seen last.
sub wait_for {
    my ($pid, $wanted, $what) = @_;
    my $limit = time + 60;
    my $found = '';
    while (time < $limit) {
        $found = seen($pid, $what);
        return $found if $found =~ $wanted;
        sleep 0.002;
    }
    return $found;
}

# Starts statements; they are under way until stop().
sub start {
    my ($statement) = @_;
    my ($settings, $last) = $statement =~ /^((?:SET[^;]*;\s*)*)(.*)$/s;
    $fitting->run("BEGIN; $settings");
    $fitting->send($last);
}

# Cancels what was started: its SQLSTATE, and what is still seen.
sub stop {
    kill 'INT', $fitting->pid;
    my ($state) = $fitting->wait(60) =~ /^ERROR:  (\w{5}):/m;
    my $left = seen($fitting->pid);
    $fitting->run('ROLLBACK');
    return ($state // 'none') . $left;
}

# ---- every family ----

my $sampling = '"draws": 100000000, "thin": 1000000';
my @fits = (
    ['gmm', 'vi', 'vi'], ['gmm', 'kmeans', 'kmeans'], ['gmm', 'svi', 'svi'],
    ['gmm', 'gibbs', 'gmm gibbs'], ['bmm', 'em', 'bmm em'],
    ['bmm', 'collapsed', 'bmm collapsed'], ['dpmm', 'slice', 'dpmm slice'],
    ['dpmm', 'vi', 'dpmm vi'], ['hmm', 'em', 'hmm em'], ['hmm', 'gibbs', 'hmm gibbs'],
    ['nmf', 'vi', 'nmf vi'], ['pmf', 'gibbs', 'pmf'], ['linreg', 'gibbs', 'linreg gibbs'],
    ['logreg', 'laplace', 'logreg, many terms'], ['probit', 'em', 'probit by em'],
    ['probit', 'gibbs', 'probit by gibbs'],
    ['lda', 'vi', "SELECT lda_fit(words, 5, '{$endless}') FROM documents WHERE id <= 500"],
    ['lda', 'collapsed', "SELECT lda_fit(words, 5, '{\"method\": \"collapsed\", $sampling}')
          FROM documents WHERE id <= 500"],
    ['gmm', 'em', "SELECT * FROM gmm_fit('SELECT x FROM rows', 8,
          '{\"method\": \"em\", $endless}')"],
    ['gmm', 'vi', 'window'], ['gmm', 'em', 'spilled rows'], ['hmm', 'vi', 'hmm relation'],
    ['gmm', 'vi', 'select'],
);
for my $case (@fits) {
    my ($family, $method, $statement) = @$case;
    start($Cancels::kinds{$statement} // $statement);
    my $found = wait_for($fitting->pid, qr/\|fitting$/);
    is($found, "$family|$method|fitting", "$family by $method is seen while it fits");
    my $sampler = $method =~ /^(?:gibbs|collapsed|slice)$/;
    my $numbers = seen($fitting->pid, 'restart IS NULL AND restarts IS NULL AND iteration IS NULL
          AND max_iterations IS NULL, chain IS NULL AND chains IS NULL AND draw IS NULL AND
          draws IS NULL, CASE WHEN chain IS NULL THEN restart BETWEEN 1 AND restarts
          AND iteration BETWEEN 0 AND max_iterations ELSE chain BETWEEN 1 AND chains
          AND draw BETWEEN 1 AND draws END, objective IS NOT NULL, rows_read > 0, groups_done,
          budget_left IS NULL, elapsed >= \'0\', datname = current_database(), usename');
    is($numbers, ($sampler ? 't|f' : 'f|t') . '|t|t|t|0|t|t|t|postgres',
        $sampler ? '... by chain and draw' : '... by restart and iteration');
    is(stop(), '57014', '... and no longer after a cancel');
}

# An exact method has no iterations, so nb and linreg by default are seen while they read.
my $numbers = '(SELECT generate_series(1, 100000000) AS i) AS n';
my %reading = (
    gmm => "SELECT gmm_fit(ARRAY[i, sin(i)], 2) FROM $numbers",
    bmm => "SELECT * FROM bmm_fit('SELECT i % 2 = 0, i % 3 = 0 FROM $numbers', 2)",
    dpmm => "SELECT count(c) FROM (SELECT dpmm_cluster(ARRAY[i]) OVER () AS c FROM $numbers) AS r",
    hmm => "SELECT hmm_fit(ARRAY[i, sin(i)], 2) FROM $numbers",
    lda => "SELECT lda_fit(ARRAY[(i % 1000)::text], 2) FROM $numbers",
    nmf => "SELECT nmf_fit(i % 1000, i % 77, 1, 2) FROM $numbers",
    pmf => "SELECT * FROM pmf_fit('SELECT i % 1000, i % 77, 1 FROM $numbers', 2)",
    linreg => "SELECT linreg_fit(i, sin(i)) FROM $numbers",
    logreg => "SELECT logreg_fit(i % 2 = 0, sin(i)) FROM $numbers",
    nb => "SELECT * FROM nb_fit('SELECT i % 3, i % 7 AS a FROM $numbers')",
);
for my $family (sort keys %reading) {
    start($reading{$family});
    my $first = wait_for($fitting->pid, qr/^\d/, 'rows_read');
    is(seen($fitting->pid), "$family|-|reading", "$family: the phase is reading");
    my $later = wait_for($fitting->pid, qr/^t/, "rows_read > $first + 5000, rows_read % 256");
    is($later, 't|1', '... and rows grow');
    is(stop(), '57014', '... until the cancel');
}

# ---- phases and numbers ----

start("SELECT gmm_fit(x, 8, '{\"max_seconds\": 1000, $endless}') FROM rows");
wait_for($fitting->pid, qr/fitting/);
my ($rows, $left) = split /\|/, seen($fitting->pid,
    "rows_read, budget_left > '0' AND budget_left + elapsed > '990 s' AND budget_left <= '1000 s'");
is($left, 't', 'the budget is counted down');
is($rows, 60000, 'all rows have been read');
my $iteration = seen($fitting->pid, 'restart * 1000000::bigint + iteration');
is(wait_for($fitting->pid, qr/^t/, "restart * 1000000::bigint + iteration > $iteration"), 't',
    'iterations follow');
is($watching->run(join ' UNION ALL ', map {
        "SELECT pid FROM pg_stat_progress_$_ WHERE pid = " . $fitting->pid
    } qw(vacuum analyze cluster create_index basebackup copy)), '',
    'PostgreSQL\'s own views show nothing of it');
is($watching->run('SELECT count(*) FROM bayes_progress WHERE pid = pg_backend_pid()'), '0',
    'who watches does not fit');
is(stop(), '57014', 'it ends');

start('SELECT count(gmm_fit) FROM (SELECT gmm_fit(x, 2) FROM rows GROUP BY id % 20000) AS r');
is(wait_for($fitting->pid, qr/^t/, 'groups_done > 20'), 't', 'groups are counted');
is(stop(), '57014', 'and cancelled');
start("SELECT gmm_fit(x, 8, '{$endless}') FROM rows");
wait_for($fitting->pid, qr/fitting/);
is(seen($fitting->pid, 'groups_done'), '0', 'by the statement');
stop();

# A model whose bytes take some time.
my $written = '';
for (1 .. 5) {
    $fitting->send("SELECT nmf_fit(r, c, v, 200, '{\"method\": \"em\", \"init\": \"random\",
          \"max_iter\": 1, \"tol\": 1e6, \"restarts\": 1}') IS NOT NULL FROM cells");
    my $limit = time + 60;
    my $begun = 0;
    while ($written !~ /writing/ && time < $limit) {
        $written = seen($fitting->pid);
        $begun ||= $written ne '';
        last if $begun && $watching->run('SELECT state FROM pg_stat_activity WHERE pid = '
            . $fitting->pid) eq 'idle';
    }
    my $said = $fitting->wait(120);
    like($said, qr/^t$/m, 'a large model') or last;
    last if $written =~ /writing/;
}
like($written, qr/^nmf\|em\|writing$/, 'the phase of writing is seen');
is(seen($fitting->pid), '', 'until the end');

# ---- who may see it ----

my $role = "bayes_progress_$$";
$server->query("CREATE ROLE ${role}_plain LOGIN; CREATE ROLE ${role}_stats LOGIN
      IN ROLE pg_read_all_stats; CREATE ROLE ${role}_owner LOGIN;
      CREATE ROLE ${role}_member LOGIN IN ROLE ${role}_owner;
      GRANT SELECT ON rows TO ${role}_owner");
my $owner = $server->session;
$owner->run("\\c - ${role}_owner");
$owner->{pid} = $owner->run('SELECT pg_backend_pid()');
$owner->send("SELECT gmm_fit(x, 8, '{$endless}') FROM rows");
wait_for($owner->pid, qr/fitting/);
my $all = 'num_nonnulls(datname, usename, family, method, phase, rows_read, groups_done, restart,
      restarts, iteration, max_iterations, chain, chains, draw, draws, objective, change, elapsed,
      budget_left)';
my %sees = (plain => '^0\|$', stats => '^1[34]\|gmm$', owner => '^1[34]\|gmm$',
    member => '^1[34]\|gmm$');
for my $who (sort keys %sees) {
    $watching->run("SET SESSION AUTHORIZATION ${role}_$who");
    like(seen($owner->pid, "$all, family"), qr/$sees{$who}/, "role $who");
    is($watching->run('SELECT count(query) FROM pg_stat_activity WHERE pid = ' . $owner->pid
        . " AND query <> '<insufficient privilege>'"), $who eq 'plain' ? '0' : '1',
        '... as in pg_stat_activity');
    $watching->run('RESET SESSION AUTHORIZATION');
}
is(seen($owner->pid, 'usename'), "${role}_owner", 'the role is named');
is($watching->run('SELECT pg_terminate_backend(' . $owner->pid . ', 20000)'), 't', 'it is ended');
is(seen($owner->pid), '', 'nothing is left of a session that was terminated');
undef $owner;
$server->query("DROP OWNED BY ${role}_owner; DROP ROLE ${role}_member, ${role}_owner,
      ${role}_stats, ${role}_plain");

# ---- every end ----

my $limit;

is($fitting->run("SELECT gmm_fit(x, 1) IS NULL FROM faithful"), 'f', 'a fit ends as it should');
is(seen($fitting->pid), '', 'and is gone');
for my $wrong ("SELECT gmm_fit(CASE WHEN id < 30000 THEN x ELSE '{1}' END, 1) FROM rows",
    "SELECT * FROM gmm_fit('SELECT CASE WHEN id < 30000 THEN x ELSE ''{1}'' END FROM rows', 1)",
    "SELECT gmm_fit(x, 1) FROM rows WHERE id < 30000 OR 1 / (id - 30000) = 0",
    "SET statement_timeout = 300; SELECT gmm_fit(x, 8, '{$endless}') FROM rows;")
{
    like($fitting->run($wrong), qr/^ERROR/m, 'an error');
    is(seen($fitting->pid), '', '... leaves nothing');
}
$fitting->run('RESET statement_timeout');
my $null = $fitting->run("SELECT gmm_fit(x, 500,
      '{\"on_error\": \"null\"}') IS NULL FROM faithful");
like($null, qr/^t$/m, 'on_error = null');
is(seen($fitting->pid), '', '... leaves nothing');
start('SELECT gmm_fit(x, 1) OVER (ORDER BY id), pg_sleep(1000) FROM rows WHERE id <= 600');
$limit = time + 60;
sleep 0.01 until time > $limit || $watching->run('SELECT wait_event FROM pg_stat_activity
      WHERE pid = ' . $fitting->pid) eq 'PgSleep';
is(seen($fitting->pid), '', 'an aggregate over a window is over');
is(stop(), '57014', 'while its statement goes on');
$fitting->run('BEGIN; DECLARE c CURSOR FOR SELECT gmm_fit(x, 1) FROM rows GROUP BY id % 9;
      FETCH 2 FROM c');
is(seen($fitting->pid), '', 'a cursor between two fits shows none');
$fitting->run('FETCH 2 FROM c; COMMIT');
$fitting->run('BEGIN; SET LOCAL enable_sort = off; DECLARE c CURSOR FOR
      SELECT gmm_fit(x, 1) FROM rows GROUP BY id % 9; FETCH 2 FROM c');
is(seen($fitting->pid), '', 'nor does one that has read all groups');
$fitting->run('COMMIT');
is(seen($fitting->pid), '', 'nor a transaction after it');

# ---- subtransactions ----

start("DO \$\$BEGIN
    BEGIN PERFORM gmm_fit(ARRAY[i], 0) FROM generate_series(1, 9) AS i;
      EXCEPTION WHEN OTHERS THEN NULL; END;
    BEGIN PERFORM gmm_fit(CASE WHEN id < 30000 THEN x ELSE '{1}' END, 1) FROM rows;
      EXCEPTION WHEN OTHERS THEN NULL; END;
    PERFORM gmm_fit(x, 8, '{$endless}') FROM rows; END\$\$");
is(wait_for($fitting->pid, qr/fitting/), 'gmm|vi|fitting', 'a fit after those that failed');
is(stop(), '57014', 'which ends');
start("SELECT gmm_fit(ARRAY[i], 1) FROM $numbers WHERE i % 1000 > 0 OR fails()");
is(wait_for($fitting->pid, qr/^t/, 'rows_read > 30000'), 't',
    'one is shown again after subtransactions have failed in its query');
is(stop(), '57014', 'which ends');

# ---- a fit in the query of another ----

start("SELECT * FROM bmm_fit('SELECT bits FROM cloud WHERE CASE id
          WHEN 2000 THEN inner_fit(''{\"max_seconds\": 1.5, $endless}'') WHEN 2001 THEN endless()
          ELSE true END', 2)");
is(wait_for($fitting->pid, qr/^hmm.*fitting/), 'hmm|vi|fitting', 'the inner fit is seen');
is(wait_for($fitting->pid, qr/^bmm/), 'bmm|-|reading', 'then the outer one again');
is(seen($fitting->pid, 'rows_read'), '1793', 'with the rows that it has read');
is(stop(), '57014', 'until it ends');
start("SELECT * FROM bmm_fit('SELECT bits FROM cloud, (SELECT sum(length(m::text)) AS s
          FROM (SELECT gmm_fit(x, 1) AS m FROM rows WHERE id <= 3000 GROUP BY id % 3) AS g) AS g
      WHERE id <> 2001 OR s > 0 AND endless()', 2)");
is(wait_for($fitting->pid, qr/^bmm/), 'bmm|-|reading', 'after an aggregate in its query');
is(wait_for($fitting->pid, qr/^t/, 'rows_read > 1000, groups_done'), 't|3', 'which had groups');
is(stop(), '57014', 'until it ends');
start("SELECT gmm_fit(x, 2) FROM rows WHERE CASE id WHEN 2000
      THEN inner_fit('{$endless}') ELSE true END");
is(wait_for($fitting->pid, qr/^hmm.*fitting/), 'hmm|vi|fitting', 'a fit in an aggregate\'s query');
is(stop(), '57014', 'ends too');

# ---- COPY shows its own progress ----

my $copied = sub { $watching->run('SELECT command, type, tuples_processed > 3, bytes_processed >= 0
      FROM pg_stat_progress_copy WHERE pid = ' . $fitting->pid) };
$fitting->send("COPY (SELECT gmm_fit(x, 8, '{\"max_iter\": 50, \"tol\": 0}') FROM rows
      GROUP BY id % 300) TO '/dev/null'");
my ($copy, $own) = ('', '');
$limit = time + 60;
while (time < $limit && $copy !~ /\|t\|t$/) {
    $own .= seen($fitting->pid);
    $copy = $copied->();
}
is($copy, 'COPY TO|FILE|t|t', 'COPY shows the rows that it has written');
is($own, '', 'not the fits that make them');
kill 'INT', $fitting->pid;
$fitting->wait;
# After a subtransaction PostgreSQL has forgotten the COPY, which goes on writing its counters.
$fitting->send("COPY (SELECT fails(), gmm_fit(x, 8, '{\"max_iter\": 50, \"tol\": 0}') FROM rows
      GROUP BY id % 300) TO '/dev/null'");
like(wait_for($fitting->pid, qr/^gmm\|vi\|\d+\|t/,
    'family, method, groups_done, groups_done > 3 AND rows_read = 200'), qr/^gmm\|vi\|\d+\|t$/,
    'where COPY shows nothing any more, fits are shown');
kill 'INT', $fitting->pid;
$fitting->wait;
is(seen($fitting->pid) . $copied->(), '', 'both are gone');

# ---- parallel plans ----

start($Cancels::kinds{'parallel plan'});
is(wait_for($fitting->pid, qr/fitting/), 'gmm|vi|fitting', 'the leader of a parallel plan fits');
is($watching->run('SELECT count(*) FROM bayes_progress JOIN pg_stat_activity USING (pid)
      WHERE leader_pid = ' . $fitting->pid . ' AND pid <> leader_pid'), '0', 'its workers do not');
is(stop(), '57014', 'it ends');
start('SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
      SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL max_parallel_workers_per_gather = 2;
      SELECT gmm_fit(x, 8) FROM rows WHERE id % 1000 > 0 OR pg_sleep(0.1) IS NOT NULL');
my $workers = "SELECT bool_and(p.phase = 'reading'), max(p.rows_read) > 1 FROM bayes_progress AS p
      JOIN pg_stat_activity AS a USING (pid) WHERE a.leader_pid = " . $fitting->pid;
$limit = time + 60;
my $read = '';
$read = $watching->run($workers) while $read ne 't|t' && time < $limit;
is($read, 't|t', 'workers are seen while they read');
is(stop(), '57014', 'they end');
is($watching->run($workers), '|', 'with the leader');

# ---- switched off ----

start("SET LOCAL track_activities = off; SELECT gmm_fit(x, 8, '{$endless}') FROM rows");
sleep 0.5;
is(seen($fitting->pid), '', 'without track_activities nothing is seen');
is(stop(), '57014', 'of a fit');
is(seen($fitting->pid), '', 'nor after it');

done_testing;
