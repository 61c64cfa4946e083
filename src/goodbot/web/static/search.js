// Completes the query while the visitor types: a combobox (ARIA 1.2) with a list from which one chooses by hand, so that
// Enter without a choice searches for what was typed. The key / goes to the search field. Without scripts the form works alone.
"use strict";
{
  const MOST = 8;
  const TYPING_PAUSE_MS = 120;
  const KEPT = "goodbot-slash";
  const input = document.getElementById("q");
  const form = input.form;
  const counts = form.dataset.counts.split("|");
  const list = document.createElement("ul");
  const status = document.createElement("p");
  let timer = 0;
  let current = null;
  let chosen = -1;

  list.id = "suggestions";
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.dataset.label);
  status.className = "unseen";
  status.setAttribute("role", "status");
  form.append(list, status);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]])
    input.setAttribute(name, value);

  const choose = (place) => {
    chosen = place;
    [...list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", list.children[place].id);
      list.children[place].scrollIntoView({ block: "nearest" });
    }
  };

  const close = () => {
    clearTimeout(timer);
    current?.abort();
    if (list.hidden) return;
    choose(-1);
    list.hidden = true;
    list.replaceChildren();
    status.textContent = "";
    input.setAttribute("aria-expanded", "false");
  };

  const optionOf = (text, number) => {
    const option = document.createElement("li");
    const typed = input.value.trimStart();
    const kept = text.toLowerCase().startsWith(typed.toLowerCase()) ? typed.length : 0;
    const rest = document.createElement("b");
    rest.textContent = text.slice(kept);
    option.id = `suggestion-${number}`;
    option.dir = "auto";
    option.dataset.text = text;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.append(text.slice(0, kept), kept ? rest : rest.textContent);
    return option;
  };

  const open = (texts) => {
    close();
    if (!texts.length || document.activeElement !== input) return;
    list.replaceChildren(...texts.map(optionOf));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    status.textContent = counts[texts.length];
  };

  const suggest = async () => {
    current?.abort();
    const request = (current = new AbortController());
    const typed = input.value;
    if (!typed.trim()) return close();
    const url = new URL(form.dataset.suggest, location.href);
    url.searchParams.set("q", typed);
    try {
      const response = await fetch(url, { signal: request.signal });
      const [, texts] = response.ok ? await response.json() : ["", []];
      if (request === current && input.value === typed) open(texts.map(String).filter((text) => text !== typed).slice(0, MOST));
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  };

  const accept = (option) => {
    input.value = option.dataset.text;
    close();
    form.requestSubmit();
  };

  const move = (step) => {
    const places = list.children.length;
    choose(chosen < 0 ? (step > 0 ? 0 : places - 1) : (chosen + step + places) % places);
  };

  const keys = {
    ArrowDown: (event) => {
      if (list.hidden) suggest();
      else if (!event.altKey) move(1);
      return true;
    },
    ArrowUp: (event) => {
      if (list.hidden) return false;
      if (event.altKey) close();
      else move(-1);
      return true;
    },
    Enter: () => {
      const option = list.children[chosen];
      if (option) accept(option);
      else close();
      return Boolean(option);
    },
    Escape: () => {
      const isOpen = !list.hidden;
      close();
      return isOpen;
    },
    // The cursor is in the field again, and the browser moves it.
    ArrowLeft: () => choose(-1),
    ArrowRight: () => choose(-1),
    Home: () => choose(-1),
    End: () => choose(-1),
  };

  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey) return; // 229: an input method is at work
    if (Object.hasOwn(keys, event.key) && keys[event.key](event)) event.preventDefault();
  });

  const typed = (event) => {
    if (event.isComposing) return;
    clearTimeout(timer);
    current?.abort();
    choose(-1);
    timer = setTimeout(suggest, TYPING_PAUSE_MS);
  };
  input.addEventListener("input", typed);
  input.addEventListener("compositionend", typed);
  input.addEventListener("blur", close);
  form.addEventListener("submit", close);

  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) accept(option);
  });

  // Empty filters do not belong into the URL.
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (name !== "q" && value === "") formData.delete(name);
  });

  let hasSlash = true;
  try {
    hasSlash = localStorage.getItem(KEPT) !== "off";
  } catch {
    // The browser stores nothing for this site: the setting lasts as long as the page.
  }

  const keepSlash = () => {
    try {
      localStorage.setItem(KEPT, hasSlash ? "on" : "off");
    } catch {
      // As above.
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || !hasSlash) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  const setting = document.getElementById("slash");
  if (setting) {
    const box = setting.querySelector("input");
    box.checked = hasSlash;
    box.addEventListener("change", () => {
      hasSlash = box.checked;
      keepSlash();
    });
    setting.hidden = false;
  }
}
