// Runs Crawlee for the exam, as in its documentation. It follows every link on the seeds' hosts, whatever the port.
//
//     node crawlee_crawler.cjs SEED_FILE
//     node crawlee_crawler.cjs --version
//
// It searches Crawlee from the working folder upwards, then in NODE_PATH.
"use strict";

const fs = require("node:fs");

const found = (name) => require(require.resolve(name, { paths: [process.cwd()] }));

const PRODUCT = "ExamBot";
const USER_AGENT = `${PRODUCT}/1.0 (+mailto:exam@example.org)`;
const CRAWLERS = 8;

function crawl(seedFile) {
  const { CheerioCrawler, Configuration } = found("@crawlee/cheerio");
  const seeds = fs.readFileSync(seedFile, "ascii").split("\n").filter(Boolean);
  const hosts = new Set(seeds.map((seed) => new URL(seed).hostname));
  const options = {
    respectRobotsTxtFile: { userAgent: PRODUCT },
    maxConcurrency: 1,
    maxRequestsPerMinute: 600,
    ignoreSslErrors: false,
    preNavigationHooks: [
      (_context, request) => {
        request.useHeaderGenerator = false;
        request.headers = { ...request.headers, "User-Agent": USER_AGENT };
      },
    ],
    requestHandler: ({ enqueueLinks }) =>
      enqueueLinks({
        strategy: "all",
        transformRequestFunction: (request) => hosts.has(new URL(request.url).hostname) && request,
      }),
  };
  // Crawlee limits concurrent requests per crawler, not per host, so several crawlers with one request each share the seeds.
  const shares = Array.from({ length: CRAWLERS }, (_none, n) => seeds.filter((_seed, i) => i % CRAWLERS === n));
  const crawlers = shares.map((share) =>
    new CheerioCrawler(options, new Configuration({ persistStorage: false })).run(share),
  );
  return Promise.all(crawlers);
}

const [argument] = process.argv.slice(2);
if (argument === "--version") {
  console.log(found("@crawlee/cheerio/package.json").version);
} else {
  crawl(argument);
}
