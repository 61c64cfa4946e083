# Asks WWW::RobotRules: `perl docs/parsers/robotrules.pl` reads questions as JSON lines and answers each with a JSON
# line. docs/make_parsers_report.py starts it.
#
# A question has `robots` (base64), `agent` and `url`; an answer has `allowed`, or `error`.

use strict;
use warnings;
use JSON::PP;
use MIME::Base64;
use WWW::RobotRules;

$| = 1;
open(my $out, '>&', \*STDOUT);
open(STDOUT, '>&', \*STDERR);    # what a parser prints is no answer
$out->autoflush(1);
while (my $line = <STDIN>) {
    my $question = decode_json($line);
    my $result   = eval {
        my $rules = WWW::RobotRules->new($question->{agent});
        $rules->parse($question->{url}, decode_base64($question->{robots}));
        { allowed => $rules->allowed($question->{url}) ? JSON::PP::true : JSON::PP::false };
    } || { error => substr("$@", 0, 200) };
    print $out encode_json($result), "\n";
}
