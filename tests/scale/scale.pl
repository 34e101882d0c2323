# Fits over partitions on other servers (option push_down): two servers and tables of the server of
# the fit, one of them empty. Models are those of one table; rows do not travel; errors name the
# server; nothing is left, whatever happens.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use MIME::Base64 qw(decode_base64 encode_base64);
use Partitions;
use Test::More;

# ---- the servers, and one table in two forms ----

my ($one, $two, $here) = Partitions::servers(columns => $Partitions::columns,
    bounds => \@Partitions::bounds,
    settings => {log_statement => 'all', maintenance_work_mem => '1MB'});
$_->query('CREATE ROLE reader LOGIN; GRANT SELECT ON obs, nothing TO reader') for $one, $two;
$here->query("CREATE ROLE reader LOGIN;
    CREATE USER MAPPING FOR reader SERVER one
      OPTIONS (user 'reader', password_required 'false');
    CREATE USER MAPPING FOR reader SERVER two
      OPTIONS (user 'reader', password_required 'false');
    $Partitions::rows;
    INSERT INTO obs SELECT * FROM plain;
    GRANT SELECT ON obs, obs_a, obs_b, obs_c, obs_d, obs_e, plain TO reader;
    ANALYZE");

# ---- the same models ----

my $fixed = '"max_iter": 7, "tol": 0, "restarts": 2';
my @cases = (
    (map { ["gmm, $_", 'gmm_model', 'SELECT x, y, z FROM %s', "\"method\": \"$_\", $fixed"] }
            qw(em map vi kmeans)),
    (map { ["gmm, $_", 'gmm_model', 'SELECT x, z FROM %s WHERE id % 5 > 0',
            "\"method\": \"vi\", \"covariance\": \"$_\", $fixed"] } qw(diagonal spherical tied)),
    ['arrays', 'gmm_model', 'SELECT v FROM %s', $fixed],
    ['arrays with weights', 'gmm_model', 'SELECT v, w FROM %s', $fixed],
    ['weights, expressions', 'gmm_model', 'SELECT x, z - 1e4 AS z, w FROM %s WHERE y > -3',
        "\"weight\": \"w\", $fixed"],
    ['skipped rows', 'gmm_model', 'SELECT x, y, z FROM %s', "\"missing\": \"skip\", $fixed"],
    ['a name and an order', 'gmm_model', 'SELECT id, x, z FROM %s ORDER BY z',
        "\"id\": \"id\", $fixed"],
    ['one partition', 'gmm_model', 'SELECT x, z FROM %s WHERE id < 300', $fixed],
    ['rows on one server', 'gmm_model', 'SELECT x, z FROM %s WHERE id BETWEEN 7000 AND 9999',
        $fixed],
    ['few rows', 'gmm_model', 'SELECT x FROM %s WHERE id IN (5, 6, 7001, 7002, 12000)', $fixed],
    (map { ["bmm, $_", 'bmm_model', 'SELECT x, g, u, n FROM %s',
            "\"method\": \"$_\", \"likelihood\": {\"n\": \"poisson\"}, $fixed"
            . ($_ eq 'map' ? ', "prior": {"categorical": {"category_alpha": 2},'
                . ' "bernoulli": {"a": 2, "b": 2}, "poisson": {"shape": 2}}' : '')]
        } qw(em map vi)),
    ['bmm, labels of one server', 'bmm_model', "SELECT g, u FROM %s WHERE g <> 'red'", $fixed],
    ['bmm, weights', 'bmm_model', 'SELECT g, u, n, w FROM %s',
        "\"weight\": \"w\", \"likelihood\": {\"n\": \"categorical\"}, $fixed"],
);
my %logged = map { ($_ => length $_->log) } $one, $two;
my $session = $here->session;
$session->run('SET client_min_messages = error');
for my $case (@cases) {
    my ($name, $function, $query, $given) = @$case;
    my $of = sub { "$function('" . sprintf($query =~ s/%(?!s)/%%/gr =~ s/'/''/gr, $_[0])
        . "', 3, '{$given$_[1]}')" };
    my $said = $session->run('SELECT difference(' . $of->('plain', '') . ', '
            . $of->('obs', ', "push_down": true') . ')');
    ok($said =~ /^[\d.e-]+$/ && $said < 1e-9, "$name: the model of one table") or diag $said;
}
is($session->run("SELECT gmm_model('SELECT x FROM obs WHERE id < 0', 2, '{\"push_down\": true}')"),
    '', 'no rows give no model');
my $bits = "SELECT md5((bmm_model('SELECT x, y, g, u FROM obs', 3, '{\"push_down\": true, $fixed}')
    ::jsonb - 'seconds')::text)";
is($session->run($bits), $here->query("SET client_min_messages = error; $bits"),
    'a fit of given partitions has the same bits in every run');

# ---- memory ----

my ($there) = $one->query("SELECT pid FROM pg_stat_activity WHERE application_name = 'postgres_fdw'
    AND datname = 'postgres' ORDER BY backend_start LIMIT 1");
my $short = "SELECT count(*) FROM bmm_fit('SELECT x, g FROM obs', 2, '{\"push_down\": true,
    \"max_iter\": 2, \"restarts\": 1}')";
my $far = bless {pid => $there, owner => 0}, 'Server::Session';
for my $which ([$session, 'here'], [$far, 'on another server']) {
    my $grown = $which->[0]->growth_kb(20, 400, sub { $session->run($short) });
    cmp_ok($grown, '<=', 400, "fits leave no memory behind, $which->[1]");
}

# ---- what travels ----

for my $server ($one, $two) {
    my @read = grep { /FROM public\.(?:obs|nothing)/ && !/_bayes_(?:keep_rows|make_pass)\(/ }
        substr($server->log, $logged{$server}) =~ /^.*SELECT.*$/mg;
    is("@read", '', 'rows stay where they are');
    cmp_ok(scalar(() = $server->log =~ /_bayes_make_pass\(\d+, \$1/g), '>', 50, 'passes are made');
}

# ---- checks of columns over all parts ----

for my $case (['id < 7000 AND y IS NULL', 'SELECT y, x, z FROM %s WHERE y IS NULL'],
    ['a constant', 'SELECT x, 5.0 + 0 * id AS five, u::int AS u FROM %s'],
    ['a constant here and there', 'SELECT x, (id < 7000)::int AS early FROM %s'],
    ['a name', 'SELECT id, x FROM %s']) {
    my ($name, $query) = @$case;
    my @said = map {
        my ($from, $more) = @$_;
        my ($out, $err) = $here->attempt("SELECT count(*) FROM bmm_fit('"
            . ($query =~ s/%s/$from/r) . "', 2, '{$fixed$more}')");
        join '', "$out\n", sort grep { !/^LOCATION/ } split /^/m, $err;
    } ['plain', ''], ['obs', ', "push_down": true'];
    is($said[1], $said[0], "$name: the same is said");
}
is($session->run("SELECT string_agg(k || ' ' || round(bic::numeric, 4), ', ' ORDER BY k)
        FROM gmm_select('SELECT x, z FROM obs', '{1,2,3}',
        '{\"push_down\": true, \"method\": \"em\", $fixed}')"),
    $session->run("SELECT string_agg(k || ' ' || round(bic::numeric, 4), ', ' ORDER BY k)
        FROM gmm_select('SELECT x, z FROM plain', '{1,2,3}', '{\"method\": \"em\", $fixed}')"),
    'selections');

# ---- auto ----

sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out$err";
}
like(said("SELECT count(*) FROM gmm_fit('SELECT x, z FROM obs', 2,
        '{\"push_down\": \"auto\", $fixed}')"),
    qr/NOTICE:  00000: fit is pushed down: 2 servers and this one, 12500 rows/, 'auto says so');
my %collected = (
    'SELECT x, z FROM plain' => 'the rows of "plain" are on this server',
    'SELECT x, z FROM obs LIMIT 2000' => 'the query has LIMIT or OFFSET',
    'SELECT DISTINCT x, z FROM obs' => 'the query has DISTINCT',
    'SELECT o.x, o.z FROM obs AS o JOIN plain USING (id)' => 'the query is not over a single table',
    'SELECT x, z FROM obs UNION ALL SELECT x, z FROM plain'
        => 'the query is a UNION, INTERSECT or EXCEPT',
    'SELECT avg(x) AS x, n FROM obs GROUP BY n' => 'the query aggregates',
    'SELECT x, z FROM obs WHERE random() < 2' => 'the query calls a volatile function',
    'SELECT x, z FROM obs WHERE id IN (SELECT id FROM plain)' => 'the query has a subquery',
    'SELECT x, z FROM obs WHERE now() > \'2000-01-01\''
        => 'server "two", table public.obs_a cannot be sent',
    'SELECT 1 AS a' => 'the query is not over a single table',
);
for my $query (sort keys %collected) {
    my $of = sub { "SELECT count(*) FROM gmm_fit('" . ($query =~ s/'/''/gr)
        . "', 1, '{\"push_down\": $_[0], \"restarts\": 1}')" };
    like(said($of->('true')), qr/22023: query cannot be pushed down: \Q$collected{$query}\E/,
        "$query: refused");
    next if $query eq 'SELECT 1 AS a';
    like(said($of->('"auto"')),
        qr/NOTICE:  00000: rows are collected on this server: \Q$collected{$query}\E/,
        'or collected');
}
# What is said of columns is said once the rows are there, wherever that is.
like(said("SELECT count(*)
        FROM bmm_fit('SELECT x, u::int AS u FROM obs WHERE now() > ''2000-01-01''',
        2, '{\"push_down\": \"auto\", $fixed}')"),
    qr/are collected on this server.*column "u" contains only 0 and 1, but is modelled as normal/s,
    'rows that are collected after all are checked as ever');
for my $method (qw(gibbs collapsed mcem)) {
    like(said("SELECT gmm_model('SELECT x FROM obs', 2, '{\"push_down\": true,
            \"method\": \"$method\"}')"),
        qr/22023: query cannot be pushed down: method $method needs rows one at a time/,
        "$method: refused");
}
like(said("SELECT gmm_model('SELECT x FROM obs', 2, '{\"push_down\": \"yes\"}')"),
    qr/22023: option "push_down" is "yes", but must be true, false or "auto"/, 'another value');

# ---- errors name the server ----

sub fails {
    my ($sql, $error, $name) = @_;
    like(said($sql), $error, $name);
}
my $fit = "SELECT gmm_model('SELECT x, z FROM obs', 2, '{\"push_down\": true, $fixed}')";
my $where = qr/DETAIL:.*This is an error of server "two", table public\.obs_b\./s;
$two->query('BEGIN; ALTER TABLE obs RENAME TO gone; COMMIT');
fails($fit, qr/42P01: relation "public\.obs" does not exist.*$where/s, 'no table');
$two->query('ALTER TABLE gone RENAME TO obs; REVOKE SELECT ON obs FROM reader');
fails("SET ROLE reader; $fit", qr/42501: permission denied for table obs.*$where/s, 'no grant');
$two->query('GRANT SELECT ON obs TO reader');
like(said("SET ROLE reader; $fit"), qr/^\{"/m, 'with the grant it works');
$here->query('REVOKE SELECT ON obs_b FROM reader');
fails("SET ROLE reader; $fit", qr/the caller may not read partition "obs_b" itself/,
    'no grant on a partition here');
$two->query("DROP EXTENSION pg_bayes");
fails($fit, qr/427?04: type "public\.bayes_pass" does not exist/s, 'no extension');
like(said($fit), qr/This is an error of server "two", table public\.obs_/, '... says where');
$two->query('CREATE EXTENSION pg_bayes');
$two->query("UPDATE obs SET x = 'NaN' WHERE id = 8000");
fails($fit, qr/row \d+ .*NaN.*$where|NaN.*$where/s, 'a value that cannot be used');
$two->query("UPDATE obs SET x = 1 WHERE id = 8000");
$here->query("ALTER SERVER two OPTIONS (SET extensions 'cube')");
fails($fit, qr/server "two" does not have pg_bayes in its option extensions/, 'option extensions');
$here->query("ALTER SERVER two OPTIONS (SET extensions 'pg_bayes')");

# ---- nothing is left ----

sub kept { return map { $_->temporary_files } $one, $two, $here }
my $long = "SELECT gmm_model('SELECT x, y, z, x*y AS a, y*z AS b, x*z AS c, x+z AS d, sin(z) AS e,
    sin(x) AS f, z*z AS h, n, id + 0.5 AS i, v[1] AS j, v[2] AS k FROM obs WHERE y IS NOT NULL', 40,
    '{\"push_down\": true, \"tol\": 0, \"max_iter\": 100000, \"restarts\": 1,
    \"method\": \"em\"}')";
sub waits_for_passes {
    my ($session) = @_;
    my $before = () = $one->log =~ /_bayes_make_pass/g;
    $session->send($long);
    for (1 .. 200) {
        last if (() = $one->log =~ /_bayes_make_pass/g) > $before + 20;
        select(undef, undef, undef, 0.1);
    }
}
waits_for_passes($session);
isnt(join(' ', $one->temporary_files), '', 'rows beyond maintenance_work_mem are in a file there');
$session->cancel;
like($session->wait, qr/57014/, 'a cancel ends the fit');
is(join(' ', kept()), '', '... and no file is left');
like($session->run("BEGIN; SET LOCAL statement_timeout = '2s'; $long"), qr/57014/,
    'so does a timeout');
$session->run('ROLLBACK');
is(join(' ', kept()), '', '... and no file is left');
my $said = $session->run("BEGIN; SAVEPOINT s; $fit; ROLLBACK TO s; $fit; RELEASE s; COMMIT");
unlike($said, qr/ERROR|WARNING/, 'savepoints');
waits_for_passes($session);
$two->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'postgres_fdw'");
like($session->wait, qr/ERROR:  (?:57P01|08006).*DETAIL:.*error of server.*"two"/s,
    'a killed backend: an error');
is(join(' ', kept()), '', '... and no file is left');
like($session->run($fit), qr/^\{"/m, '... and the next fit works');

# ---- a session that has lost its rows says so, and what is no request is refused ----

my ($request) = $one->log =~ /_bayes_make_pass\(\d+, \$1.*?(?i:parameters): \$1 = '([^']+)'/s;
$request =~ tr{A-Za-z0-9+/=}{}cd;
my $other = decode_base64($request);
$other =~ s/0\.\d\.\d/9.9.9/ or die 'a request has no version';
my $pass = "_bayes_make_pass(0, '%s') WITHIN GROUP (ORDER BY true)";
my $answer = $one->query('SELECT ' . sprintf($pass, $request));
cmp_ok(length $answer, '<', 120, 'a session without the rows has an answer without sums');
my (undef, $refused) = $one->attempt('SELECT ' . sprintf($pass, encode_base64($other, '')));
like($refused, qr/22023: this server has pg_bayes [\d.]+, but the server of the fit has 9\.9\.9/,
    'nor is one of another version');
for my $bad ('', 'AAAA', 'no base64', substr($request, 0, 40)) {
    my ($out, $err) = $one->attempt('SELECT ' . sprintf($pass, $bad));
    like($err, qr/ERROR:  22P0[23]/, 'what is no message is refused');
}

# The second server answers the fourth pass of a transaction as if its session had no rows. What
# counts writes nothing, as the transaction is read-only.
my $before = $session->run($bits);
$two->query("ALTER AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) RENAME TO real_pass;
    CREATE FUNCTION turn() RETURNS int LANGUAGE sql AS 'SELECT set_config(''test.turn'',
      (coalesce(nullif(current_setting(''test.turn'', true), ''''), ''0'')::int + 1)::text,
      true)::int';
    CREATE FUNCTION nothing(bayes_pass, boolean) RETURNS bayes_pass LANGUAGE sql AS 'SELECT \$1';
    CREATE FUNCTION forgetful(bayes_pass, part int, request bayes_pass) RETURNS bayes_pass
    LANGUAGE sql AS \$\$
      SELECT public.real_pass(part,
          CASE WHEN public.turn() = 4 THEN '$request' ELSE request END)
        WITHIN GROUP (ORDER BY true) FROM (VALUES (1)) AS v \$\$;
    CREATE AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) (
      SFUNC = nothing, STYPE = bayes_pass, FINALFUNC = forgetful)");
my $reads = () = $two->log =~ /_bayes_keep_rows\(1, \$1/g;
my $passes = () = $two->log =~ /_bayes_make_pass\(1, \$1/g;
is($session->run($bits), $before, 'rows that are lost are read again, and the fit is the same');
cmp_ok(scalar(() = $two->log =~ /_bayes_keep_rows\(1, \$1/g), '>', $reads + 1, '... twice in all');
cmp_ok(scalar(() = $two->log =~ /_bayes_make_pass\(1, \$1/g), '>', $passes + 4,
    '... after the fourth pass');

done_testing();
