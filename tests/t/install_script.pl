# The notations of sql/expand.awk, which makes the install script: what they stand for, and what is
# refused.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

my $directory = tempdir(CLEANUP => 1);

# The output, or what is said about an error, without the name of the file.
sub expanded {
    my ($text) = @_;
    my ($in, $out, $err) = map { "$directory/$_" } qw(in.sql out err);
    open(my $file, '>', $in) or die "$in: $!";
    print {$file} $text;
    close $file;
    my $status = system("awk -f sql/expand.awk $in >$out 2>$err");
    open($file, '<', $status ? $err : $out) or die $!;
    my $said = join '', <$file>;
    $said =~ s/^\Q$in\E://;
    return $status ? "error: $said" : $said;
}

my $plain = "-- a comment;\n\\echo no statement\n\nCREATE TYPE t AS (\n  a int[],\n  b text\n);\n";
is(expanded($plain), $plain, 'SQL stays as it is');

# One text for each of several lists of arguments.
sub each_of {
    my ($text, @arguments) = @_;
    return join '', map { $text =~ s/ARGUMENTS/$_/gr } @arguments;
}

is(expanded("CREATE FUNCTION f(a int [, b int[] [, c int]]) RETURNS int\n  AS 'f';\n"),
    each_of("CREATE FUNCTION f(ARGUMENTS) RETURNS int\n  AS 'f';\n",
        'a int', 'a int, b int[]', 'a int, b int[], c int'),
    'a function for each number of arguments');
is(expanded("CREATE AGGREGATE f(\n  x int[] [, b int]\n) (SFUNC = g);\n"),
    each_of("CREATE AGGREGATE f(ARGUMENTS) (SFUNC = g);\n", 'x int[]', 'x int[], b int'),
    'or an aggregate');

is(expanded("CREATE FUNCTION f(a {int | text[]}, b {int[] | text[]}) AS 'f';\n"),
    each_of("CREATE FUNCTION f(ARGUMENTS) AS 'f';\n", 'a int, b int[]', 'a text[], b text[]'),
    'a function for each alternative');
is(expanded("DEFINE \@any = {int | text};\n"
        . "CREATE FUNCTION f(a \@any [, b \@any]) AS 'f';\nCOMMENT IS 'one';\nCOMMENT IS 'two';\n"),
    join('', map { each_of("CREATE FUNCTION f(ARGUMENTS) AS 'f';\n"
            . "COMMENT ON FUNCTION f(ARGUMENTS) IS '$_->[1]';\n", $_->[0]) }
        ['a int', 'one'], ['a int, b int', 'two'], ['a text', 'one'], ['a text, b text', 'two']),
    'and number of arguments, with their comments');

is(expanded("CREATE FUNCTION f(a int [, b int [, c int]]) AS 'f';\n"
        . "COMMENT IS 'one';\nCOMMENT IS 'more;'\n  ' yes';\n"),
    "CREATE FUNCTION f(a int) AS 'f';\nCOMMENT ON FUNCTION f(a int) IS 'one';\n"
    . each_of("CREATE FUNCTION f(ARGUMENTS) AS 'f';\n"
        . "COMMENT ON FUNCTION f(ARGUMENTS) IS 'more;'\n  ' yes';\n",
        'a int, b int', 'a int, b int, c int'),
    'comments in turn, the last for all that remain');
is(expanded("CREATE FUNCTION f(a int, b int DEFAULT 1) AS 'f';\nCOMMENT IS 'of both';\n"),
    "CREATE FUNCTION f(a int, b int DEFAULT 1) AS 'f';\n"
    . "COMMENT ON FUNCTION f(a int, b int) IS 'of both';\n",
    'defaults are none of the signature of a comment');
is(expanded("CREATE FUNCTION f() AS 'f';\nCREATE FUNCTION g(a int) AS 'g';\nCOMMENT IS 'g';\n"),
    "CREATE FUNCTION f() AS 'f';\n"
    . each_of("CREATE FUNCTION g(ARGUMENTS) AS 'g';\nCOMMENT ON FUNCTION g(ARGUMENTS) IS 'g';\n",
        'a int'),
    'each for the function before it');

is(expanded("DEFINE \@a = 'x'\n  'y';\nDEFINE \@b = 1, \@a;\nSELECT \@b, \@b;\n"),
    "SELECT 1, 'x'\n  'y', 1, 'x'\n  'y';\n", 'names stand for texts');

my $f = "CREATE FUNCTION f(a int) AS 'f';\n";
my %errors = (
    "SELECT \@b;\n" => "1: \@b is not defined\n",
    "DEFINE \@a = 1;\nDEFINE \@a = 2;\n" => "2: \@a is defined twice\n",
    "DEFINE a = 1;\n" => "1: this is no DEFINE \@name = text;\n",
    "CREATE FUNCTION f(a int [, b int [, c int]) AS 'f';\n" =>
        "1: optional arguments are not nested as in [, a int [, b int]]\n",
    "CREATE FUNCTION f(a int;\n" => "1: the list of arguments has no end\n",
    "CREATE FUNCTION f(a {int | text}, b {int | text | jsonb}) AS 'f';\n" =>
        "1: braces have different numbers of alternatives\n",
    "COMMENT IS 'f';\n" => "1: COMMENT IS does not follow what it comments on\n",
    "$f\nCOMMENT IS 'f';\n" => "3: COMMENT IS does not follow what it comments on\n",
    "${f}COMMENT IS 'f';\nCOMMENT IS 'g';\n" =>
        "3: FUNCTION f has more comments than it has numbers of arguments\n",
    "SELECT 1\n" => "1: the last statement has no end\n",
);
is(expanded($_), "error: $errors{$_}", $errors{$_} =~ s/\d+: (.*)\n/$1/r) for sort keys %errors;

done_testing();
