// Crawls the sites with these root URLs by spider-rs, all at once; keeps nothing.
//     node spider_sites.cjs FOLDER_OF_NODE_MODULES URL...
const [modules, ...roots] = process.argv.slice(2);
const { Website } = require(require.resolve("@spider-rs/spider-rs", { paths: [modules] }));

Promise.all(roots.map((root) => new Website(root).withRespectRobotsTxt(true).crawl()));
