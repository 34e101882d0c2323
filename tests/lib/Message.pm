# Messages of fits over several servers (type bayes_pass), made by hand: the byte form of documents
# (src/document/document.cpp).
package Message;
use strict;
use warnings;
use Exporter qw(import);
use MIME::Base64 qw(encode_base64);

our @EXPORT_OK = qw(word text flag integer numbers list object request);

sub word { return pack 'Q<', $_[0] }
sub text { return word(length($_[0]) << 8 | 4) . $_[0] }
sub flag { return word($_[0] << 8 | 1) }
sub integer { return word(2) . pack 'q<', $_[0] }
sub numbers { return word(1 << 8 | 5) . word(scalar @_) . pack 'd<*', @_ }
sub list { return word(@_ << 8 | 6) . join '', @_ }
sub object {
    my @members;
    while (my ($key, $value) = splice @_, 0, 2) {
        push @members, word(length $key) . $key . $value;
    }
    return word(@members << 8 | 7) . join '', @members;
}

# The request for a pass in base64; its members are values of the functions above. `more`: members
# beside the request.
sub request {
    my ($version, $pass, $members, @more) = @_;
    return encode_base64(object(version => text($version), fit => text('f1'),
            request => object(pass => text($pass), @$members), @more), '');
}

1;
