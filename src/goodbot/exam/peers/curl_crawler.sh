#!/bin/sh
# Crawls for the exam with curl: `goodbot allowed` reads robots.txt, grep and sed find the links.
#
#     sh curl_crawler.sh SEED_FILE FOLDER CA_FILE      all seeds, eight at a time
#     sh curl_crawler.sh --site SEED FOLDER CA_FILE    one site, one request at a time
#
# The variable GOODBOT is the command that runs goodbot.
set -u
: "${GOODBOT:=goodbot}"

AGENT='ExamBot/1.0 (+mailto:exam@example.org)'
PAGES=100       # fetched from one site
BYTES=16000000  # read of one page
LINKS=1000      # taken from one page

if [ "$1" != --site ]; then
    exec xargs -P 8 -I SEED sh "$0" --site SEED "$2" "$3" <"$1"
fi

seed=$2
site=$3/$(printf %s "$seed" | tr -c 'A-Za-z0-9' _)
ca=$4
origin=${seed%/}
mkdir -p "$site" && cd "$site" || exit 1

# The file `redirect` then holds the target of a redirect. --retry obeys Retry-After (man curl).
fetch() {
    curl --silent --user-agent "$AGENT" --cacert "$ca" --proto =http,https --compressed --max-time 30 --retry 2 \
        --write-out '%{stderr}%{http_code} %{redirect_url}\n' "$@" 2>answer | head -c $BYTES
    read -r code redirect <answer
}

# Prints the links of `page`, which is at the URL $1, as URLs.
links() {
    page=${1%%\?*}
    printf '%s\n' "$redirect"
    grep -aoiE "href *= *(\"[^\"]*\"|'[^']*'|[^ \"'>]+)" page | head -n $LINKS |
        sed -E "s/^[^=]*= *//; s/^[\"'] *//; s/ *[\"']\$//; s/#.*//; s/&amp;/\&/g; /^\$/d; s|^/([^/]\|\$)|$origin/\1|
            s|^//|${origin%%:*}://|; /^[a-z][a-z0-9+.-]*:/!s|^|${page%/*}/|"
}

# RFC 9309 2.3.1: up to five redirects; with a client error everything is allowed, with another error nothing.
fetch --location --max-redirs 5 "$origin/robots.txt" >robots.txt
case $code in
2*) ;;
4*) : >robots.txt ;;
*) exit 0 ;;
esac

# A site whose Crawl-delay is 100 s or longer is left after its first page.
delay=$($GOODBOT allowed robots.txt --agent ExamBot / --json | sed -n 's/.*"delay_s": \([0-9.]*\).*/\1/p')
case ${delay%.*} in ???*) PAGES=1 delay= ;; esac

printf '%s\n' "$seed" >queue
while read -r url && [ $((PAGES -= 1)) -ge 0 ]; do
    sleep "${delay:-0.2}"
    fetch "$url" >page
    echo "$code $url"
    links "$url" | grep -F "$origin/" | sort -u | grep -Fvx -f queue >new || continue
    xargs -d '\n' $GOODBOT allowed robots.txt --agent ExamBot -- <new | sed -n 's/^allowed *\([^ ]*\).*/\1/p' >>queue
done <queue
