"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const cases = all(".case");
  const filters = document.getElementById("filters");
  all(".needs-script").forEach((element) => { element.hidden = false; });

  // --- search and filters
  // one spelling for what people type and what is printed: subscripts, composed letters, case
  const plain = (text) => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
  const texts = new Map(cases.map((one) => [one, plain(one.textContent)]));

  function refine() {
    const wanted = new FormData(filters);
    const words = plain(wanted.get("words")).trim().split(" ").filter(Boolean);
    let shown = 0;
    for (const one of cases) {
      const { verdict, part, engines } = one.dataset;
      const fits = (name, value) => !wanted.get(name) || value.includes(wanted.get(name));
      const kept = fits("verdict", [verdict]) && fits("part", [part]) && fits("engine", engines.split("|"))
        && words.every((word) => texts.get(one).includes(word));
      one.hidden = !kept;
      shown += kept;
    }
    for (const heading of all(".part")) {
      heading.hidden = !cases.some((one) => !one.hidden && one.dataset.part === heading.dataset.part);
    }
    document.getElementById("shown").textContent = `${shown} of ${cases.length} claims`;
  }
  filters.addEventListener("input", refine);
  filters.addEventListener("reset", () => setTimeout(refine));
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = cases.find((one) => !one.hidden);
    if (first) { location.hash = first.id; reveal(); }
  });
  document.getElementById("unfold").addEventListener("click", () => {
    const shown = cases.filter((one) => !one.hidden);
    const open = !shown.every((one) => one.open);
    shown.forEach((one) => { one.open = open; });
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      filters.elements.words.focus();
    } else if (event.key === "Escape" && event.target === filters.elements.words) {
      filters.reset();
      refine();
    }
  });

  // --- links to cases
  function named() {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } // no text at all: no place either
  }
  function reveal() {
    const target = document.getElementById(named());
    if (!target || !target.classList.contains("case")) return;
    if (target.hidden) { filters.reset(); refine(); }
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", reveal);
  // a second click on the same link changes no hash
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  refine();
  reveal();
  window.addEventListener("load", reveal); // again: the browser goes to the place by itself and takes the focus along

  // --- light and dark
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // --- paper shows what is on the screen, opened
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = cases.filter((one) => !one.hidden && !one.open);
    closed.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));

  // --- which K: decimals are exact, as on the command line
  const chooser = document.getElementById("chooser");
  if (!chooser) return;
  const decimal = (text) => {
    const found = /^\s*\+?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
    if (!found || !(found[1] + found[2])) return null;
    const places = found[2].length - Number(found[3] || 0);
    const digits = BigInt(found[1] + found[2]);
    const value = places >= 0 ? { top: digits, bottom: 10n ** BigInt(places) } : { top: digits * 10n ** BigInt(-places), bottom: 1n };
    return value.top > 0n ? value : null;
  };
  const add = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
  const number = (value) => Number((Number(value.top) / Number(value.bottom)).toPrecision(6));
  function choose() {
    const given = new FormData(chooser);
    const told = chooser.querySelector("output");
    const words = given.get("buffers").split(/[\s,;]+/).filter(Boolean);
    const buffers = words.map(decimal);
    const [budget, cost] = [decimal(given.get("budget")), decimal(given.get("cost"))];
    const wrong = [[!words.length || buffers.includes(null), "the buffers must be positive numbers, such as 8, 9, 10"],
      [!budget, "the budget must be a positive number, such as 55"], [!cost, "the mean cost must be a positive number, such as 5.5"]].find(([bad]) => bad);
    if (wrong) { told.textContent = wrong[1]; return; }
    const total = buffers.reduce(add);
    const top = cost.top * total.top * budget.bottom;
    const bottom = cost.bottom * total.bottom * budget.top;
    const K = (top + bottom - 1n) / bottom; // at least 1, since all are positive
    const rates = buffers.map((b) => number({ top: b.top, bottom: b.bottom * K }));
    const paid = number({ top: cost.top * total.top, bottom: cost.bottom * total.bottom * K });
    told.innerHTML = "";
    const strong = document.createElement("strong");
    strong.textContent = `K = ${K}`;
    const command = document.createElement("code");
    command.textContent = `acdpp design --buffers ${words.join(",")} --budget ${given.get("budget").trim()} --mean-cost ${given.get("cost").trim()} --horizon 1e6`;
    told.append(strong, ` since c̄ΣB/C = ${number({ top, bottom })}; admit ${rates.join(", ")} samples per round, which costs ${paid} of ${number(budget)}. For your horizon: `, command);
  }
  chooser.addEventListener("input", choose);
  chooser.addEventListener("submit", (event) => event.preventDefault());
  choose();
})();
