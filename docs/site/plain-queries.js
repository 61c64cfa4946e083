// The theme's search has a query language: it takes `User-agent:` for the name of a field, and `--allow-private` for a
// word that must not occur. With this, a query is its words. Double quotes keep their meaning. The search takes each
// word as the start of words, so that a single letter would match nearly every page, and so does `goodbot`: they count
// only if they are alone.
const post = Worker.prototype.postMessage;
const QUERY = 2; // the type of the theme's message
Worker.prototype.postMessage = function (message, ...rest) {
  const data = message?.type === QUERY ? { ...message, data: words(message.data) } : message;
  return post.call(this, data, ...rest);
};

function words(query) {
  const signs = /[^\p{L}\p{N}"]*[\s\-:=/,()[\]`~^*+\\|!?;<>{}]+[^\p{L}\p{N}"]*/gu;
  const all = query.replace(/[’']s?(?!\p{L})/gu, " ").replace(signs, " ").trim().split(" ");
  const telling = all.filter((word) => word.length > 1 && word.toLowerCase() !== "goodbot");
  return (telling.length ? telling : all).join(" ");
}
