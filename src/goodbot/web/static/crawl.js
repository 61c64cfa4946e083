// Refreshes the figures of the crawl every five seconds while the tab is visible. Replaces only the parts that changed,
// so that forms, scroll position and focus stay. Without scripts the Refresh link does the same. All texts are in the
// page, in the language of its reader.
"use strict";
{
  const EVERY_MS = 5000;
  const TIMEOUT_MS = 10000;
  const button = document.getElementById("auto");
  const silence = document.getElementById("silence");
  const heading = document.getElementById("state");
  const stopLabel = button.textContent;
  const shown = new Map();
  const address = new URL(heading.dataset.address, location.href);
  // The notice of a pause or a stop is refreshed with the page; any other notice goes away with the first refresh.
  const done = new URLSearchParams(location.search).get("done");
  if (done === "pause" || done === "stop") address.searchParams.set("done", done);
  let refreshedAt = new Date();
  let isOn = true;
  let timer = 0;

  const parts = () => document.querySelectorAll("[data-live]");
  for (const part of parts()) shown.set(part.id, part.innerHTML);

  const replace = (part, fresh) => {
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    const open = [...part.querySelectorAll("details[open]")].map((each) => each.id);
    part.replaceChildren(...document.adoptNode(fresh).childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) (document.getElementById(focused) ?? document.getElementById("main")).focus({ preventScroll: true });
  };

  const showPage = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    if (!page.getElementById("state")) throw new Error("not the crawl page");
    for (const part of parts()) {
      const fresh = page.getElementById(part.id);
      if (!fresh || fresh.innerHTML === shown.get(part.id)) continue;
      shown.set(part.id, fresh.innerHTML);
      replace(part, fresh);
    }
  };

  const report = (sentence) => {
    if (silence.textContent !== sentence) silence.textContent = sentence;
    silence.hidden = sentence === "";
  };

  // A crawl that is finished changes no more: nothing to switch off. It is still refreshed, in case it is started again.
  const showButton = () => {
    const isFinished = document.querySelector("[data-finished]") !== null;
    if (isFinished && document.activeElement === button) document.getElementById("main").focus({ preventScroll: true });
    button.hidden = isFinished && isOn;
  };

  const showUnknown = (sentence) => {
    report(sentence);
    if (!shown.has(heading.id)) return;
    shown.delete(heading.id); // so that the next page restores the heading
    heading.querySelector("h1").textContent = silence.dataset.unknown;
  };

  const showSilence = () => {
    const time = refreshedAt.toLocaleTimeString(document.documentElement.lang);
    showUnknown(silence.dataset.silent.replace("{time}", time));
  };

  const refresh = async () => {
    try {
      const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status === 403) {
        showUnknown(silence.dataset.loggedOut);
        return;
      }
      showPage(await response.text());
      refreshedAt = new Date();
      report("");
      showButton();
    } catch {
      showSilence();
    }
    schedule(EVERY_MS);
  };

  const schedule = (delay) => {
    clearTimeout(timer);
    if (isOn && !document.hidden) timer = setTimeout(refresh, delay);
  };

  document.addEventListener("visibilitychange", () => schedule(0));

  button.addEventListener("click", () => {
    isOn = !isOn;
    button.textContent = isOn ? stopLabel : button.dataset.off;
    schedule(0);
  });

  showButton();
  schedule(EVERY_MS);
}
