// Runs spider-rs for the exam, as in its documentation: a Website for each seed, eight at a time.
//
//     node spider_sites.cjs SEED_FILE PROXY
//     node spider_sites.cjs --version
//
// It searches spider-rs from the working folder upwards, then in NODE_PATH.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const where = require.resolve("@spider-rs/spider-rs", { paths: [process.cwd()] });

const AT_ONCE = 8;

async function crawl(seedFile, proxy) {
  const { Website } = require(where);
  const seeds = fs.readFileSync(seedFile, "ascii").split("\n").filter(Boolean);
  const next = async () => {
    for (let seed = seeds.shift(); seed; seed = seeds.shift()) {
      await new Website(seed)
        .withRespectRobotsTxt(true)
        .withUserAgent("ExamBot/1.0 (+mailto:exam@example.org)")
        .withDelay(200)
        .withRequestTimeout(30_000)
        .withBudget({ "*": 100 })
        .withProxies([proxy])
        .build()
        .crawl();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const [argument, proxy] = process.argv.slice(2);
if (argument === "--version") {
  console.log(JSON.parse(fs.readFileSync(path.join(path.dirname(where), "package.json"), "utf8")).version);
} else {
  crawl(argument, proxy);
}
