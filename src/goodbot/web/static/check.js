// Checks the robots.txt while the visitor types: posts the form, and replaces the report with the new one.
// All texts are in the page, in the language of its reader.
"use strict";
{
  const form = document.getElementById("judge");
  const fetchButton = document.getElementById("fetch");
  const site = document.getElementById("site");
  const text = document.getElementById("robots");
  const announcement = document.getElementById("announcement");
  const TYPING_PAUSE_MS = 350;
  let timer = 0;
  let current = null;

  const showReport = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const report = page.getElementById("report");
    if (!report) {
      showMessage(page.querySelector("main > p")?.textContent ?? form.dataset.failed);
      return;
    }
    const isOpen = document.getElementById("historic")?.open ?? false;
    document.getElementById("report").replaceWith(document.adoptNode(report));
    if (isOpen) document.getElementById("historic")?.setAttribute("open", "");
    announcement.textContent = [...report.querySelectorAll("[data-announce]")].map((each) => each.textContent).join(" ");
  };

  const showMessage = (sentence) => {
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = sentence;
    document.getElementById("report").replaceChildren(line);
    announcement.textContent = sentence;
  };

  const check = async () => {
    current?.abort();
    const request = (current = new AbortController());
    try {
      const body = new URLSearchParams(new FormData(form));
      const response = await fetch(form.dataset.report, { method: "POST", body, signal: request.signal });
      const html = await response.text();
      if (request === current) showReport(html);
    } catch (error) {
      if (error.name !== "AbortError") showMessage(form.dataset.silent);
    }
  };

  form.addEventListener("input", (event) => {
    if (event.target === site) return;
    clearTimeout(timer);
    timer = setTimeout(check, TYPING_PAUSE_MS);
  });

  // The Fetch button, and the Enter key in its field, load the page with the fetched file. Else only the report changes.
  site?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit(fetchButton);
  });

  form.addEventListener("submit", (event) => {
    if (event.submitter === fetchButton) return;
    event.preventDefault();
    clearTimeout(timer);
    check();
  });

  // A link to a line selects that line in the text, and scrolls to it.
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
