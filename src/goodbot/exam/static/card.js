// Refreshes the score card every few seconds while the tab is visible: replaces the parts marked data-live that changed.
// Without scripts the Refresh link does the same.
"use strict";
{
  const TIMEOUT_MS = 10000;
  const button = document.getElementById("auto");
  const trouble = document.getElementById("trouble");
  const everyMs = 1000 * Number(button.dataset.seconds);
  const shown = new Map();
  let isOn = true;
  let timer = 0;

  const parts = () => document.querySelectorAll("[data-live]");
  for (const part of parts()) shown.set(part.id, part.innerHTML);

  const showPage = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const part of parts()) {
      const fresh = page.getElementById(part.id);
      if (!fresh) throw new Error("not the score card");
      if (fresh.innerHTML === shown.get(part.id)) continue;
      shown.set(part.id, fresh.innerHTML);
      const link = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      part.replaceChildren(...document.adoptNode(fresh).childNodes);
      if (link) part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
    }
  };

  const refresh = async () => {
    try {
      const response = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) });
      showPage(await response.text());
      trouble.textContent = "";
    } catch {
      trouble.textContent = "The score card cannot be refreshed at the moment. Trying again.";
    }
    schedule(everyMs);
  };

  const schedule = (delay) => {
    clearTimeout(timer);
    if (isOn && !document.hidden) timer = setTimeout(refresh, delay);
  };

  document.addEventListener("visibilitychange", () => schedule(0));

  button.addEventListener("click", () => {
    isOn = !isOn;
    button.textContent = isOn ? "Stop refreshing" : "Refresh automatically";
    schedule(0);
  });

  button.hidden = false;
  schedule(everyMs);
}
