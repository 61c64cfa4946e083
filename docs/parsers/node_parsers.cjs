// Asks one robots.txt parser for Node.js: `node docs/parsers/node_parsers.cjs NAME` reads questions as JSON lines and
// answers each with a JSON line. docs/make_parsers_report.py starts it.
//
// A question has `robots` (base64), `agent` and `url`; an answer has `allowed`, or `error`. Each function here uses its
// parser as the parser's documentation shows it.

const readline = require('readline');
const { Readable } = require('stream');

const place = (url) => new URL('/robots.txt', url).href;

const PARSERS = {
  'robots-parser': () => {
    const parse = require('robots-parser');
    // undefined: the URL is not valid for this robots.txt. Its own users take that for allowed.
    return (robots, agent, url) => parse(place(url), robots.toString()).isAllowed(url, agent) ?? true;
  },
  '@crawlee/utils': () => {
    const { RobotsTxtFile } = require('@crawlee/utils');
    return (robots, agent, url) => RobotsTxtFile.from(place(url), robots.toString()).isAllowed(url, agent);
  },
  'robots-txt-parser': () => {
    const make = require('robots-txt-parser');
    return (robots, agent, url) => {
      const parser = make({ userAgent: agent, allowOnNeutral: true });
      parser.parseRobots(url, robots.toString());
      return parser.useRobotsFor(url).then(() => parser.canCrawlSync(url));
    };
  },
  'robots-txt-guard': () => {
    const parse = require('robots-txt-parse');
    const guard = require('robots-txt-guard');
    return async (robots, agent, url) => {
      const { pathname, search } = new URL(url);
      return guard(await parse(Readable.from([robots]))).isAllowed(agent, pathname + search);
    };
  },
  robots: () => {
    const { RobotsParser } = require('robots');
    return (robots, agent, url) => {
      const { pathname, search } = new URL(url); // its examples ask for a path
      const parser = new RobotsParser();
      parser.parse(robots.toString().split(/\r\n|\r|\n/));
      return parser.canFetchSync(agent, pathname + search);
    };
  },
};

async function main(name) {
  const ask = PARSERS[name]();
  for (const method of ['log', 'info', 'warn', 'debug']) console[method] = () => {}; // what a parser prints is no answer
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { robots, agent, url } = JSON.parse(line);
    let result;
    try {
      result = { allowed: Boolean(await ask(Buffer.from(robots, 'base64'), agent, url)) };
    } catch (error) {
      result = { error: String(error).slice(0, 200) };
    }
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
}

main(process.argv[2]);
