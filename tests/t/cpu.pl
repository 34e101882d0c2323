# The server's processes run the copy of the kernel library that was built for the best level of this machine.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$session->run("LOAD 'pg_bayes'");
open(my $file, '<', '/proc/' . $session->pid . '/maps') or die "maps: $!";
my %loaded = map { m{(/\S*/libpg_bayes_kernel\.so)} ? ($1 => 1) : () } <$file>;
is(scalar keys %loaded, 1, 'one kernel library is loaded');

my ($loader) = glob('/lib64/ld-linux-x86-64.so.*');
my @supported = $loader ? map { /(x86-64-v\d) \(supported/ ? $1 : () } `$loader --help` : ();
my ($best) = grep { $_ eq 'x86-64-v3' || $_ eq 'x86-64-v4' } reverse sort @supported;
like((keys %loaded)[0], $best ? qr{/glibc-hwcaps/$best/} : qr{/lib/libpg_bayes_kernel}, 'it is that of ' . ($best // 'the baseline'));

done_testing;
