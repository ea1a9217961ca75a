// The theme puts each copy button into a <nav> without a name: to a screen reader these are landmarks, all called the same.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav:not([role])").forEach((bar) => bar.setAttribute("role", "presentation"));
}).observe(document.documentElement, { childList: true, subtree: true });

// A table or formula that is wider than the page is scrolled, by keyboard, too.
const reachable = () => document.querySelectorAll(".md-typeset__scrollwrap, .arithmatex").forEach((wrap) => {
  if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
