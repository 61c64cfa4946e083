// The checker page while one types: the form is sent as it is, and the report that comes back takes the old one's place.
"use strict";
{
  const form = document.getElementById("judge");
  const ask = document.getElementById("ask");
  const text = document.getElementById("robots");
  const said = document.getElementById("said");
  const PAUSE_MS = 350;
  let waiting = 0;
  let under = null;

  const show = (html) => {
    const found = new DOMParser().parseFromString(html, "text/html");
    const report = found.getElementById("report");
    if (!report) {
      tell(found.querySelector("main > p")?.textContent ?? "That cannot be checked.");
      return;
    }
    document.getElementById("report").replaceWith(document.adoptNode(report));
    said.textContent = report.querySelector("[data-said]")?.textContent ?? "";
  };

  const tell = (sentence) => {
    const report = document.getElementById("report");
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = sentence;
    report.replaceChildren(line);
    said.textContent = sentence;
  };

  const judge = async () => {
    under?.abort();
    const mine = (under = new AbortController());
    try {
      const sent = new URLSearchParams(new FormData(form));
      const answer = await fetch("/check/report", { method: "POST", body: sent, signal: mine.signal });
      const html = await answer.text();
      if (mine === under) show(html);
    } catch (error) {
      if (error.name !== "AbortError") tell("The server does not answer.");
    }
  };

  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(judge, PAUSE_MS);
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    judge();
  });

  // What is asked about goes with the fetch of a site.
  ask?.addEventListener("submit", () => {
    for (const name of ["agent", "url"]) ask.elements[name].value = form.elements[name].value;
  });

  // A line that is named is selected in the text, and scrolled to.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-line]");
    if (!link) return;
    event.preventDefault();
    const lines = text.value.split("\n");
    const number = Math.min(Number(link.dataset.line), lines.length);
    const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, start + lines[number - 1].length);
    text.scrollTop = (text.scrollHeight / lines.length) * Math.max(0, number - 4);
    text.scrollLeft = 0;
  });
}
