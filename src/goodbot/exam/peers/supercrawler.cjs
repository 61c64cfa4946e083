// Runs Supercrawler for the exam, as in its documentation. It follows every link and sitemap on the seeds' hosts.
//
//     node supercrawler.cjs SEED_FILE
//     node supercrawler.cjs --version
//
// It searches Supercrawler from the working folder upwards, then in NODE_PATH.
"use strict";

const fs = require("node:fs");

const found = (name) => require(require.resolve(name, { paths: [process.cwd()] }));

const CRAWLERS = 8;

function crawl(seedFile) {
  const { Crawler, Url, handlers } = found("supercrawler");
  const seeds = fs.readFileSync(seedFile, "ascii").split("\n").filter(Boolean);
  const hostnames = seeds.map((seed) => new URL(seed).hostname);
  const ours = (url) => hostnames.includes(new URL(url).hostname);
  // Supercrawler limits requests per crawler, not per host, so several crawlers with one request each share the seeds.
  for (let n = 0; n < CRAWLERS; n += 1) {
    const crawler = new Crawler({
      interval: 100,
      concurrentRequestsLimit: 1,
      userAgent: "ExamBot/1.0 (+mailto:exam@example.org)",
      request: { timeout: 30_000 },
    });
    crawler.addHandler(handlers.robotsParser({ urlFilter: ours }));
    crawler.addHandler(handlers.sitemapsParser({ urlFilter: ours }));
    crawler.addHandler("text/html", handlers.htmlLinkParser({ hostnames }));
    crawler.on("urllistcomplete", () => crawler.stop());
    const share = seeds.filter((_seed, i) => i % CRAWLERS === n).map((seed) => new Url(seed));
    Promise.all(share.map((url) => crawler.getUrlList().insertIfNotExists(url))).then(() => crawler.start());
  }
}

const [argument] = process.argv.slice(2);
if (argument === "--version") {
  console.log(found("supercrawler/package.json").version);
} else {
  crawl(argument);
}
