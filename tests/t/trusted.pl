# The extension is trusted: who may create objects in a database may create it there, without being
# a superuser, use all of it, and gains nothing else by it.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $role = "bayes_test_$$";
my $other = "${role}_other";
my $database = $server->database;
$server->query("SET client_min_messages = error; DROP EXTENSION pg_bayes;
      CREATE ROLE $role LOGIN; CREATE ROLE $other LOGIN;
      GRANT CREATE ON DATABASE $database TO $role;
      GRANT CREATE ON SCHEMA public TO $role, $other;
      GRANT SELECT ON ALL TABLES IN SCHEMA public TO $role, $other");

# What a role is told: the output, or the SQLSTATE of the error.
sub told {
    my ($who, $sql) = @_;
    my ($out, $err) = $server->psql("\\set VERBOSITY verbose\n$sql", '-U', $who);
    chomp $out;
    return $err =~ /^psql:.*?(?:ERROR|FATAL):  (\w{5}):|^(?:ERROR|FATAL):  (\w{5}):/m
        ? $1 // $2 : $out;
}

is(told($other, 'CREATE EXTENSION pg_bayes'), '42501',
    'a role that may not create in the database may not create the extension');
is(told($role, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), 'f',
    'one that may is no superuser');
is(told($role, 'CREATE EXTENSION pg_bayes SCHEMA public'), '', 'and creates it');
is(told($role, "SELECT extowner = '$role'::regrole FROM pg_extension WHERE extname = 'pg_bayes'"),
    't', 'it is theirs');

# ---- use ----

is(told($role, "CREATE TABLE models AS SELECT gmm_fit(x, 2) AS model FROM faithful;
      CREATE INDEX ON models USING hash (model);
      SELECT count(*) FROM models, gmm_components(model)"), '2', 'who created it uses it');
is(told($other, "SELECT count(*) FROM gmm_fit('SELECT x FROM faithful', 2)"), '2',
    'and so does everybody else');
is(told($other, "SELECT count(*) FROM gmm_fit('SELECT 1 FROM models', 1)"), '42501',
    'who reads no more than before');
is(told($other, 'DROP EXTENSION pg_bayes'), '42501', 'nor drops it');

# A row of a type with a cast to numbers: its function runs as the caller, who must be allowed to.
$server->query("CREATE TYPE size AS ENUM ('small', 'large');
      CREATE FUNCTION size_numbers(size) RETURNS float4[] LANGUAGE sql IMMUTABLE
        RETURN ARRAY[CASE WHEN \$1 = 'small' THEN 1::float4 ELSE 2::float4 END];
      CREATE CAST (size AS float4[]) WITH FUNCTION size_numbers(size) AS IMPLICIT;
      CREATE TABLE sizes AS SELECT s FROM unnest(enum_range(NULL::size)) AS s,
        generate_series(1, 9);
      GRANT SELECT ON sizes TO $role, $other");
my $of_sizes = "SELECT count(*) FROM gmm_fit('SELECT s FROM sizes', 1)";
is(told($other, $of_sizes), '1', 'a cast that anyone may use');
$server->query('REVOKE EXECUTE ON FUNCTION size_numbers(size) FROM PUBLIC');
is(told($other, 'SELECT s::float4[] FROM sizes'), '42501', 'one that a query may not name');
is(told($other, $of_sizes), '42501', 'makes no rows either');
is(told($other, "SELECT bayes_log_density(model, s) FROM sizes,
      (SELECT gmm_fit(ARRAY[i], 1) AS model FROM generate_series(1, 9) AS i) AS f"), '42501',
    'nor those to be scored');
$server->query('DROP TABLE sizes; DROP TYPE size CASCADE');

# ---- what stays an administrator's ----

# Objects made by the script are the superuser's who runs it: nobody changes what they do.
is($server->query("SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e
      ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
      WHERE e.extname = 'pg_bayes' AND (p.proowner = '$role'::regrole OR p.prosecdef)"), '0',
    'no function is theirs, and none lends rights');
is(told($role, 'ALTER FUNCTION gmm_predict(bayes_model, "any") COST 1'), '42501',
    'so functions cannot be altered');
is(told($role, "CREATE FUNCTION mine(bayes_model) RETURNS jsonb
      AS '\$libdir/pg_bayes', '_bayes_model_to_jsonb' LANGUAGE C"), '42501',
    'nor declared otherwise');
my $limit = $server->query('SELECT gmm_fit(x, 2) IS NULL FROM faithful; SHOW pg_bayes.max_threads')
    =~ s/.*\n//sr;
my $used = 'SELECT gmm_fit(x, 2) IS NULL FROM faithful';
is(told($role, "$used; SET pg_bayes.max_threads = 1"), '42501', 'max_threads is not theirs to set');
is(told($role, "$used; ALTER ROLE $role SET pg_bayes.max_threads = 1"), '42501',
    'nor for later');
# Before the module is loaded, its settings are names like any other.
is(told($role, "SET client_min_messages = error; SET pg_bayes.max_threads = 1; $used;
      SHOW pg_bayes.max_threads"), "f\n$limit", 'a value set before the module was loaded is void');
like(told($role, 'SELECT _bayes_rows_serialize(NULL)'), qr/^(0A000|42883)$/,
    'internal functions cannot be called');  # as minor versions of PostgreSQL have it

# ---- gone ----

is(told($role, 'DROP EXTENSION pg_bayes'), '2BP01', 'what is in use is not dropped');
is(told($role, 'DROP TABLE models; DROP EXTENSION pg_bayes;
      SELECT count(*) FROM pg_proc WHERE probin LIKE \'%pg_bayes%\''), '0',
    'who created it drops it');
$server->query("DROP OWNED BY $role, $other; DROP ROLE $role, $other");

done_testing;
