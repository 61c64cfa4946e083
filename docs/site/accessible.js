// The theme's scripts put tables that may scroll, and buttons that copy code, into elements of their own. With this, a
// keyboard can scroll the former, and screen readers do not list the latter as parts of the navigation.
function mend() {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) table.tabIndex = 0;
  for (const buttons of document.querySelectorAll("nav.md-code__nav:not([role])")) buttons.setAttribute("role", "none");
}

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
mend();
