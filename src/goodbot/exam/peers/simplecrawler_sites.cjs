// Runs simplecrawler for the exam, as in its documentation: a Crawler for each seed, eight at a time.
//
//     node simplecrawler_sites.cjs SEED_FILE
//     node simplecrawler_sites.cjs --version
//
// It searches simplecrawler from the working folder upwards, then in NODE_PATH.
"use strict";

const fs = require("node:fs");

const found = (name) => require(require.resolve(name, { paths: [process.cwd()] }));

const AT_ONCE = 8;

function crawlSite(Crawler, seed) {
  const crawler = new Crawler(seed);
  crawler.userAgent = "ExamBot/1.0 (+mailto:exam@example.org)";
  crawler.maxConcurrency = 1;
  crawler.interval = 200;
  crawler.timeout = 30_000;
  crawler.maxDepth = 6; // the seed has depth 1
  crawler.addFetchCondition((item) => item.url.startsWith(seed));
  return new Promise((done) => {
    crawler.on("complete", done);
    crawler.start();
  });
}

async function crawl(seedFile) {
  const Crawler = found("simplecrawler");
  const seeds = fs.readFileSync(seedFile, "ascii").split("\n").filter(Boolean);
  const next = async () => {
    for (let seed = seeds.shift(); seed; seed = seeds.shift()) await crawlSite(Crawler, seed);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const [argument] = process.argv.slice(2);
if (argument === "--version") {
  console.log(found("simplecrawler/package.json").version);
} else {
  crawl(argument);
}
