#!/bin/sh
# Runs HTTrack for the exam: one process for each site, eight at a time.
#
#     sh httrack_sites.sh SEED_FILE FOLDER PROXY
#     sh httrack_sites.sh --version
#
# The options are those of `man httrack`. HTTrack has no limit of requests to one host, only of all connections (-c),
# and sends about one request a second with one connection.
set -u

if [ "$1" = --version ]; then
    exec httrack --version
fi

# -s2 obeys robots.txt and META tags. -E and -T are the seconds for a site and for a silent host, -R the retries. -I0 and
# -%v0 write no index and no progress. HTTrack does not keep -E while it reads an endless body, so `timeout` ends it.
exec xargs -P 8 -I SEED timeout -k 10 90 httrack SEED -q -O "$2/SEED" -P "$3" -s2 -c1 -E60 -T30 -R1 -I0 -%v0 \
    -F 'HTTrack/3 (+mailto:exam@example.org)' <"$1"
