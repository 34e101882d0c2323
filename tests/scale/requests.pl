# What anybody who may call a function can send: requests of real fits with some of their bytes
# changed; and what another server can answer: real answers, changed. Each gives a result or an
# error, and the server lives.
#
# How long, for the runner:
# seconds: 90
use strict;
use warnings;
use MIME::Base64 qw(decode_base64 encode_base64);
use Message qw(integer text);
use Server;
use Test::More;

srand(20261127);
my $server = Server->new(settings => {log_statement => 'all'});
my $liar = Server->new;
for ($server, $liar) {
    $_->query("CREATE TABLE rows AS SELECT sin(i) + i % 3 AS x, NULLIF(cos(i), cos(3)) AS y,
          i % 4 AS n, 'l' || i % 5 AS g, 1 + i % 2 AS w,
          ARRAY['a' || i % 3, 'b' || i % 7, 'c' || i % 5] AS d,
          ARRAY[1 + sin(i), i % 4, 2 + cos(i)] AS v FROM generate_series(1, 12000) AS i");
}
$server->query('CREATE EXTENSION postgres_fdw');
for (['itself', $server, 'far'], ['liar', $liar, 'lies']) {
    my ($name, $of, $table) = @$_;
    $server->query("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS
          (host '" . $of->host . "', port '5432', dbname 'postgres', extensions 'pg_bayes');
        CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
        CREATE FOREIGN TABLE $table (x float8, y float8, n int, g text, w int, d text[],
          v float8[]) SERVER $name OPTIONS (table_name 'rows')");
}

# Each with what the other server is sent of a row.
my @fits = (["gmm_model('SELECT x, y FROM far', 2, '{\"push_down\": true, \"max_iter\": 2}')",
        'x, y'],
    ["bmm_model('SELECT x, n, g, w FROM far', 2, '{\"push_down\": true, \"max_iter\": 2,
      \"weight\": \"w\", \"likelihood\": {\"n\": \"poisson\"}}')", 'x, n, g, w'],
    ["gmm_model('SELECT x, y FROM far', 2, '{\"push_down\": true, \"method\": \"svi\",
      \"batch_size\": 100, \"max_iter\": 3, \"restarts\": 1}')", 'x, y'],
    ["bmm_model('SELECT x, g FROM far', 2, '{\"push_down\": true, \"method\": \"svi\",
      \"batch_size\": 100, \"max_iter\": 3, \"restarts\": 1}')", 'x, g'],
    ["dpmm_model('SELECT x, g FROM far', '{\"push_down\": true, \"method\": \"vi\",
      \"max_iter\": 2, \"truncation\": 3, \"restarts\": 2}')", 'x, g'],
    ["logreg_model('SELECT n > 1, x, g FROM far', '{\"push_down\": true, \"max_iter\": 2}')",
        'n > 1, x, g'],
    ["probit_model('SELECT n > 1, x, g FROM far', '{\"push_down\": true, \"max_iter\": 2,
      \"method\": \"vi\"}')", 'n > 1, x, g'],
    ["linreg_model('SELECT y, x, g FROM far', '{\"push_down\": true}')", 'y, x, g'],
    ["nb_model('SELECT g, x, n FROM far', '{\"push_down\": true}')", 'g, x, n'],
    ["lda_model('SELECT d FROM far', 2, '{\"push_down\": true, \"max_iter\": 4}')", 'd'],
    ["nmf_model('SELECT v FROM far', 2, '{\"push_down\": true, \"max_iter\": 4}')", 'v'],
    ["model FROM lda_select('SELECT d FROM far', '{2}', '{\"push_down\": true, \"models\": true,
      \"max_iter\": 3, \"restarts\": 1}')", 'd'],
    ["model FROM nmf_select('SELECT v FROM far', '{2}', '{\"push_down\": true, \"models\": true,
      \"max_iter\": 3, \"restarts\": 1}')", 'v'],
    ["hmm_model('SELECT n, v FROM far', 2, '{\"push_down\": true, \"max_iter\": 2,
      \"emission\": \"normal\"}')", 'v'],
    ["hmm_model('SELECT n, d FROM far', 2, '{\"push_down\": true, \"max_iter\": 2}')", 'd']);

# ---- requests ----

# The calls that a fit makes.
sub calls_of {
    my ($fit) = @_;
    my $from = length $server->log;
    $server->query("SET client_min_messages = error; SELECT $fit");
    my @sent = substr($server->log, $from)
        =~ /SELECT public\.(_bayes_\w+\(0, \$1::[^\n]*)\n[^\n]*(?i:parameters): \$1 = '([^']+)'/g;
    my @calls;
    while (my ($sql, $request) = splice(@sent, 0, 2)) {
        push @calls, {sql => $sql, request => decode_base64($request)};
    }
    return @calls;
}
sub text_of {
    my ($call, $bytes) = @_;
    my $value = encode_base64($bytes, '');
    return 'SELECT ' . ($call->{sql} =~ s/\$1/'$value'/r =~ s/\$2/NULL/r);
}

my $refused = 0;
for my $fit (map { $_->[0] } @fits) {
    my @calls = calls_of($fit);
    my $sums = $fit =~ /^(?:linreg|nb)/;
    cmp_ok(scalar @calls, '>', $sums ? 1 : 6, 'the log has the requests of a fit') or next;
    my $session = $server->session;
    $session->run('BEGIN');
    $session->run(text_of($_, $_->{request})) for @calls[0, 1];  # the rows, in order
    my %seen;
    for my $call (grep { length $_->{request} < 20_000 } @calls[($sums ? 0 : 1) .. $#calls]) {
        next if $seen{substr($call->{request}, 0, 300)}++;
        for (1 .. 8) {
            my $bytes = $call->{request};
            for (1 .. 1 + int rand 4) {
                my $at = int rand length $bytes;
                my $kind = rand;
                if ($kind < 0.6) { substr($bytes, $at, 1) = chr(int rand 256) }
                elsif ($kind < 0.8) { substr($bytes, $at, 1) = "\0" }
                else { substr($bytes, $at, 1) = substr($bytes, int rand length $bytes, 1) }
            }
            my $said = $session->run('SAVEPOINT s; ' . text_of($call, $bytes)
                . '; ROLLBACK TO s');
            $refused++ if $said =~ /ERROR/;
            unlike($said, qr/XX000|server closed/, 'no internal error') if $said =~ /XX000|closed/;
        }
    }
    is($session->run('ROLLBACK; SELECT 1'), 1, 'the session lives');
}
cmp_ok($refused, '>', 50, 'many of them are refused');

# ---- what all parts have in common, but not these rows ----

for my $case (['bmm_model', text('l1'), text('l9'), 'a label of the rows is missing'],
    ['lda_model', text('a0'), text('z0'), 'terms are out of order'],
    ['lda_select', 'hold_out', 'hold_off', 'it is not said which documents are held out'],
    ['nmf_model', 'columns' . integer(3), 'columns' . integer(2), 'there are fewer columns'],
    ['nmf_select', 'before', 'behind', 'nor which rows'],
    ["'SELECT n, d", text('a1'), text('a0'), 'a symbol comes twice'],
    ["'SELECT n, d", text('a1'), text('a9'), 'a symbol of the sequences is missing']) {
    my ($of, $from, $to, $what) = @$case;
    my ($fit) = grep { index($_->[0], $of) >= 0 } @fits;
    my ($keep, $settle) = calls_of($fit->[0]);
    my $session = $server->session;
    $session->run('BEGIN; ' . text_of($keep, $keep->{request}));
    (my $changed = $settle->{request}) =~ s/\Q$from\E/$to/ or die "$what: no $of";
    like($session->run('SAVEPOINT s; ' . text_of($settle, $changed)), qr/ERROR:  22P03/, $what);
    like($session->run('ROLLBACK TO s; ' . text_of($settle, $settle->{request})),
        qr/ERROR:  22P03/, '... and then the rows are not asked again');
    $session->run('ROLLBACK');
}

# ---- requests while rows are read ----

# A function, or a cast, of the caller's asks for passes over rows that are not all read.
my ($keep, $settle, @more) = calls_of($fits[2][0]);
my ($minibatch) = grep { $_->{request} =~ /minibatch/ } @more;
my ($arrays, @rest) = calls_of("gmm_model('SELECT v FROM far', 1, '{\"push_down\": true}')");
my $forget = $rest[-1];
like($forget->{request}, qr/forget/, 'the last request');
my $value = sub { return "'" . encode_base64($_[0]{request}, '') . "'::bayes_pass" };
# Names of fits are as long as each other, and the rows are to be those of the same one.
my $name = sub { return $_[0]{request} =~ /fit.{8}([0-9a-f]{32})/s ? $1 : die };
$forget = {request => $forget->{request} =~ s/${\$name->($forget)}/${\$name->($arrays)}/r};
my @requests = (settle => $settle, minibatch => $minibatch, forget => $forget, again => $arrays);
$server->query('CREATE TABLE requests (name text PRIMARY KEY, request bayes_pass)');
while (my ($key, $call) = splice(@requests, 0, 2)) {
    $server->query("INSERT INTO requests VALUES ('$key', " . $value->($call) . ')');
}
$server->query(<<'SQL');
CREATE FUNCTION ask(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  PERFORM _bayes_make_pass(0, (SELECT request FROM requests WHERE name = what))
    WITHIN GROUP (ORDER BY true);
END $$;
CREATE FUNCTION asking(i int, x float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN
  IF i = 300 THEN
    PERFORM ask('settle');
    PERFORM ask('minibatch');
  END IF;
  RETURN x;
END $$;
CREATE TYPE letter AS ENUM ('a', 'b');
CREATE FUNCTION numbers_of(of letter) RETURNS float4[] LANGUAGE plpgsql AS $$ BEGIN
  PERFORM set_config('test.casts', (current_setting('test.casts')::int + 1)::text, false);
  IF current_setting('test.casts') = '5' THEN
    IF of = 'a' THEN
      PERFORM ask('forget');
    ELSE
      PERFORM _bayes_keep_rows(0, (SELECT request FROM requests WHERE name = 'again'),
        ARRAY[i, i]::float8[]) FROM generate_series(1, 3000) AS i;
    END IF;
    PERFORM repeat('x', 100000);
  END IF;
  RETURN ARRAY[1, 2];
END $$;
CREATE CAST (letter AS float4[]) WITH FUNCTION numbers_of(letter) AS IMPLICIT;
SQL
my $session = $server->session;
like($session->run('BEGIN; SELECT _bayes_keep_rows(0, ' . $value->($keep)
        . ', asking(i, sin(i)), cos(i)) FROM generate_series(1, 400000) AS i'),
    qr/ERROR:  22P03: the message of another server is damaged/,
    'no rows are added to settled ones');
for my $letter (qw(a b)) {
    like($session->run("ROLLBACK; SET test.casts = 0; BEGIN;
            SELECT _bayes_keep_rows(0, " . $value->($arrays) . ", '$letter'::letter)
            FROM generate_series(1, 20) AS i"),
        qr/ERROR:  22023: the rows of this part of a fit are in use/,
        'rows that are being read are not ' . ($letter eq 'a' ? 'forgotten' : 'replaced'));
}
is($session->run('ROLLBACK; SELECT 1'), 1, 'the session lives');

# ---- answers ----

# The other server makes them with its own aggregates, and changes words of one of them: counts,
# numbers, sizes.
$liar->query(<<'SQL');
ALTER AGGREGATE _bayes_keep_rows(int, bayes_pass, VARIADIC "any") RENAME TO real_keep;
ALTER AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) RENAME TO real_pass;
-- The number of the answer in its transaction, which is read-only.
CREATE FUNCTION turn() RETURNS int LANGUAGE sql AS $$ SELECT set_config('test.turn',
  (coalesce(nullif(current_setting('test.turn', true), ''), '0')::int + 1)::text, true)::int $$;
CREATE TABLE plan (number int, words int, member text, more bigint);
INSERT INTO plan VALUES (0, 0);
CREATE FUNCTION reverse_bytes(b bytea) RETURNS bytea LANGUAGE sql AS
  $$ SELECT string_agg(substr(b, i, 1), '' ORDER BY i DESC)
     FROM generate_series(1, length(b)) AS i $$;
CREATE FUNCTION changed(answer bayes_pass) RETURNS bayes_pass LANGUAGE plpgsql
SET search_path = public, pg_catalog AS $$
DECLARE
  bytes bytea;
  often int;
  named text;
  added bigint;
  place int;
BEGIN
  SELECT words, member, more INTO often, named, added FROM plan WHERE number = turn();
  IF often IS NULL OR answer IS NULL THEN RETURN answer; END IF;
  IF named IS NOT NULL THEN  -- this whole number, and none else
    bytes := decode(answer::text, 'base64');
    place := position(convert_to(named, 'UTF8') || '\x0200000000000000'::bytea IN bytes)
      + length(named) + 8;
    bytes := overlay(bytes PLACING reverse_bytes(int8send(added
      + ('x' || encode(reverse_bytes(substr(bytes, place, 8)), 'hex'))::bit(64)::bigint))
      FROM place FOR 8);
    RETURN replace(encode(bytes, 'base64'), E'\n', '');
  END IF;
  FOR attempt IN 1 .. 20 LOOP
    bytes := decode(answer::text, 'base64');
    FOR i IN 1 .. often LOOP
      place := 1 + floor(random() * greatest(1, length(bytes) - 8));
      IF random() < 0.3 THEN  -- what follows the name of a member
        place := coalesce(nullif(position(convert_to((ARRAY['elements', 'weights', 'rows', 'values',
          'dimension', 'columns', 'labels', 'threshold', 'sums', 'documents', 'terms', 'sizes',
          'order', 'steps', 'symbols', 'seen', 'count', 'vocabulary', 'hashes', 'in_fit', 'tokens',
          'cells', 'probability', 'squares'])[1 + floor(random() * 24)],
          'UTF8') IN bytes), 0) + 4 + floor(random() * 60)::int, place);
      END IF;
      IF place > length(bytes) - 8 THEN CONTINUE; END IF;
      bytes := overlay(bytes PLACING (ARRAY['\x0000000000000000', '\x0100000000000000',
          '\xffffffffffffffff', '\x0000000065cdcd41', '\x000000000000f87f', '\x000000000000f07f',
          '\x0000000000000040', '\x000000000000e03f', '\xffffffffffffff7f', '\x0000000000000080'
        ])[1 + floor(random() * 10)]::bytea FROM place FOR 8);
    END LOOP;
    BEGIN
      answer := replace(encode(bytes, 'base64'), E'\n', '')::bayes_pass;
      PERFORM real_pass(0, answer) WITHIN GROUP (ORDER BY true);
    EXCEPTION WHEN invalid_binary_representation THEN  -- if it is no message, another one
      IF sqlerrm NOT LIKE 'invalid document bytes%' THEN RETURN answer; END IF;
    END;
  END LOOP;
  RETURN answer;
END $$;
CREATE FUNCTION first(boolean, boolean) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION answer(boolean, part int, request bayes_pass) RETURNS bayes_pass LANGUAGE plpgsql
SET search_path = public, pg_catalog AS $$ BEGIN
  RETURN changed((SELECT real_pass(part, request) WITHIN GROUP (ORDER BY true)));
END $$;
CREATE AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) (SFUNC = first,
  STYPE = boolean, FINALFUNC = answer);
SQL

# All rows are read by the call for one. The fit finds one alone: calls for others would have
# nothing to do, but each would copy the answer, which would take most of the time.
$liar->query('ALTER TABLE rows RENAME TO all_rows; CREATE TABLE rows AS SELECT * FROM all_rows
    LIMIT 1');
my %signatures;
for my $columns (map { $_->[1] } @fits) {
    my $types = $liar->query('SELECT ' . join(" || ', ' || ",
            map { "pg_typeof($_)" } split /, /, $columns) . ' FROM rows LIMIT 1');
    next if $signatures{$types}++;
    my $text = $columns =~ s/'/''/gr;
    $liar->query("CREATE FUNCTION kept(state bayes_pass, part int, request bayes_pass, $types)
          RETURNS bayes_pass LANGUAGE plpgsql SET search_path = public, pg_catalog AS \$\$ BEGIN
          RETURN coalesce(state, changed((SELECT real_keep(part, request, $columns)
            FROM all_rows)));
        END \$\$;
        CREATE AGGREGATE _bayes_keep_rows(int, bayes_pass, $types) (SFUNC = kept,
          STYPE = bayes_pass)");
}
my %said;
$session = $server->session;
$session->run('SET client_min_messages = error');
for my $fit (map { $_->[0] =~ s/ far\b/ lies/r } @fits) {
    my ($model) = $fit =~ /^(?:model FROM )?(\w+)/;
    $liar->query('UPDATE plan SET number = 0');
    my $from = length $liar->log;
    like($session->run("SELECT $fit"), qr/^\{/, "$model: the answers are those of a fit");
    my $answers = () = substr($liar->log, $from) =~ /SELECT public\._bayes_\w+\(0, \$1/g;
    for my $run (1 .. 8) {
        my $number = 1 + int rand($run % 2 && $answers > 4 ? 4 : $answers);
        $liar->query("UPDATE plan SET number = $number, words = @{[1 + int rand 3]}");
        my $out = $session->run("SELECT $fit", 60);
        my ($state) = $out =~ /ERROR:  (\w+):/;
        $said{$state // 'a model'}++;
        ok(!(($state // '') eq 'XX000' || $out =~ /closed/), "$model: answer $number")
            or diag substr($out, 0, 600);
    }
}
# Numbers that do not agree: the answers about what was read (1), and about rows in order (2).
for my $case (['gmm_model', 1, dimension => 1], ['bmm_model', 1, dimension => -1],
    ['logreg_model', 1, dimension => 1], ['lda_model', 1, rows => 1],
    ['lda_model', 2, documents => 1], ['lda_model', 2, vocabulary => -1],
    ['lda_select', 2, documents => 1], ['nmf_model', 1, rows => 1],
    ['nmf_model', 2, documents => -1], ['nmf_model', 2, vocabulary => 1],
    ['nmf_select', 2, documents => 1], ["'SELECT n, v", 1, steps => -30000],
    ["'SELECT n, v", 1, dimension => -1]) {
    my ($of, $number, $member, $more) = @$case;
    my ($fit) = map { $_->[0] =~ s/ far\b/ lies/r } grep { index($_->[0], $of) >= 0 } @fits;
    $liar->query("UPDATE plan SET number = $number, words = 0, member = '$member', more = $more");
    like($session->run("SELECT $fit", 60), qr/ERROR:  22P03/, "$of: $member + $more");
}
note join ', ', map { "$_: $said{$_}" } sort keys %said;
cmp_ok($said{'22P03'}, '>', 12, 'many of them are refused');
is($session->run('SELECT 1'), 1, 'the session of the fits lives');
unlike($_->log, qr/terminated by signal|PANIC/, 'no process has crashed') for $server, $liar;

done_testing();
