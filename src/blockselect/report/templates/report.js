"use strict";
(function () {
  const PAGE = 25, PRINTED = 1000;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = Object.fromEntries(data.columns.map((name, place) => [name, place])); // column name → its place in a row
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), block = byId("block"), which = byId("which"), stable = byId("stability");
  const table = byId("table"), body = table.tBodies[0];
  const highest = data.rows.reduce((most, row) => Math.max(most, row[at.score]), 0);
  let lower = null; // names in lower case, computed at the first search
  let shown = [], page = 0, sorted = { by: at.rank, down: false };

  // Numbers and names, formatted as in the rest of the page.
  const count = (value) => value.toLocaleString("en-US");
  function number(value, zeros) {
    if (value === 0 || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
    const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
    const text = value.toFixed(digits);
    return !zeros && text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  }
  function perCent(share, zeros) {
    const value = 100 * share;
    if (value > 0 && value < 0.1) return "< 0.1 %";
    if (value > 0 && value < 10) return (zeros ? value.toFixed(1) : value.toFixed(1).replace(/\.0$/, "")) + " %";
    if (value > 99 && value < 100) return value > 99.9 ? "> 99 %" : value.toFixed(1) + " %";
    return Math.round(value) + " %";
  }
  const times = (lift) => (lift < 10 ? Number(lift.toPrecision(2)).toString() : count(Math.round(lift))) + "\u00a0×";
  function cut(name) {
    if (!name.trim()) return "(no name)";
    const letters = Array.from(name);
    return letters.length <= 32 ? name : letters.slice(0, 20).join("") + "…" + letters.slice(-11).join("");
  }

  const MEASURES = { // measures that have their own column
    degree: { title: "degree", text: (value) => number(value, true) },
    autocorrelation: { title: "autocorrelation", text: (value) => value.toFixed(2).replace("-0.00", "0.00") },
    explained_more: { title: "adds", text: (value) => perCent(value, true) },
    explained_alone: { title: "alone", text: (value) => perCent(value, true) },
    stability: { title: "stability", text: (value) => value.toFixed(2) },
    q_value: { title: "q-value", text: (value) => number(value) },
  };

  // Rows.
  function element(tag, attributes, text) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text; // never as HTML: names may contain anything
    return made;
  }
  function cell(row, label, text, kind) {
    const made = element("td", { "data-label": label }, text);
    if (kind) made.className = kind;
    row.append(made);
    return made;
  }
  function strip(digits) {
    const space = "http://www.w3.org/2000/svg", width = 7 * digits.length;
    const svg = document.createElementNS(space, "svg");
    const top = digits.indexOf("9");
    const about = top < 0 ? "empty" : "mean per block, highest in " + data.blocks[top];
    const set = { class: "strip", viewBox: `0 0 ${width} 18`, width: Math.min(width, 168), height: 18,
                  preserveAspectRatio: "none", role: "img", "aria-label": about };
    for (const [key, value] of Object.entries(set)) svg.setAttribute(key, value);
    for (let i = 0; i < digits.length; i++) {
      const bar = document.createElementNS(space, "rect"), height = 2 * Number(digits[i]);
      for (const [key, value] of Object.entries({ x: 7 * i, y: 18 - height, width: 6, height: height })) bar.setAttribute(key, value);
      svg.append(bar);
    }
    const line = document.createElementNS(space, "line");
    for (const [key, value] of Object.entries({ x1: 0, x2: width, y1: 17.5, y2: 17.5 })) line.setAttribute(key, value);
    svg.append(line);
    return svg;
  }
  function row(values) {
    const made = element("tr", values[at.selected] ? {} : { class: "off" });
    cell(made, "rank", count(values[at.rank]), "num");
    const head = element("th", { scope: "row", "data-label": "feature" });
    head.append(element("bdi", { title: values[at.name] }, cut(values[at.name])));
    if (!values[at.selected]) head.append(element("span", { class: "muted" }, " (not selected)"));
    made.append(head);
    const score = element("span", { class: "score" }), box = element("span", { class: "barbox" }), fill = element("span", { class: "fill" });
    fill.style.width = (highest > 0 ? (100 * Math.max(values[at.score], 0)) / highest : 0) + "%";
    box.append(fill);
    score.append(box, document.createTextNode(values[at.score] === null ? "–" : number(values[at.score], true)));
    cell(made, "score").append(score);
    for (const measure of data.measures) {
      if (measure in MEASURES) cell(made, MEASURES[measure].title, MEASURES[measure].text(values[at[measure]]), "num");
    }
    cell(made, "prevalence", perCent(values[at.prevalence], true), "num");
    if (!data.blocks) return made;
    const names = values[at.blocks].map((each) => data.blocks[each]);
    const marks = cell(made, "marks", names.length ? undefined : "none");
    if (names.length) {
      const others = names.length > 1 ? ` and ${count(names.length - 1)} more` : "";
      marks.title = names.join(", ");
      marks.append(element("bdi", {}, cut(names[0])), ` (${times(values[at.lift])})${others}`);
    }
    cell(made, "mean per block").append(strip(values[at.strip]));
    return made;
  }

  // Rows of the features shown. If sorted by rank, a line precedes the first feature that may be associated by chance.
  function rows(first, last) {
    const made = shown.slice(first, last).map(row);
    const byRank = sorted.by === at.rank && !sorted.down && data.measures.includes("beyond_chance");
    const place = byRank ? shown.findIndex((each) => !each[at.beyond_chance]) : -1;
    if (place < first || place >= last) return made;
    const line = element("tr", { class: "chance" });
    line.append(element("td", { colspan: table.tHead.rows[0].cells.length }, data.by_chance));
    made.splice(place - first, 0, line);
    return made;
  }

  // The block that a feature marks most clearly, as a sort key; features that mark no block come last.
  const firstBlock = (row) => (row[at.blocks].length ? row[at.blocks][0] : data.blocks.length);

  // Filter and sort the rows, and go to the first page.
  function choose() {
    const text = search.value.trim().toLowerCase();
    if (text && lower === null) lower = data.rows.map((each) => each[at.name].toLowerCase());
    const wanted = !block || block.value === "" ? null : Number(block.value);
    const least = stable ? Number(stable.value) || 0 : 0;
    shown = [];
    for (let i = 0; i < data.rows.length; i++) {
      const each = data.rows[i];
      if (which.value === "selected" && !each[at.selected]) continue;
      if (text && !lower[i].includes(text)) continue;
      if (wanted !== null && !each[at.blocks].includes(wanted)) continue;
      if (stable && each[at.stability] < least) continue;
      shown.push(each);
    }
    const by = sorted.by, sign = sorted.down ? -1 : 1;
    shown.sort((a, b) => {
      const order = by === at.name ? (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0) : by === at.blocks ? firstBlock(a) - firstBlock(b) : a[by] - b[by];
      const second = by === at.blocks ? b[at.lift] - a[at.lift] : a[at.rank] - b[at.rank];
      return sign * order || second;
    });
    page = 0;
    draw();
  }
  function draw() {
    const first = page * PAGE, last = Math.min(first + PAGE, shown.length);
    body.replaceChildren(...rows(first, last));
    byId("status").textContent = shown.length
      ? `Showing ${count(first + 1)}–${count(last)} of ${count(shown.length)} feature${shown.length === 1 ? "" : "s"}`
      : which.value === "selected" && !data.rows.some((each) => each[at.selected])
        ? "No feature is selected; set “Show” to all features."
        : "No features match; change the search or the filters.";
    byId("pager").hidden = shown.length <= PAGE;
    byId("previous").disabled = page === 0;
    byId("next").disabled = last >= shown.length;
  }
  function turn(by) {
    page += by;
    draw();
    table.scrollIntoView({ block: "nearest" });
  }

  // Export all matching features, not only the current page, with full names.
  function records() {
    return shown.map((each) => {
      const record = { rank: each[at.rank], feature: each[at.name], score: each[at.score], selected: Boolean(each[at.selected]) };
      for (const measure of data.measures) record[measure] = each[at[measure]];
      record.prevalence = each[at.prevalence];
      if (data.blocks) {
        const strongest = each[at.blocks].length ? each[at.blocks][0] : null;
        record.marked_block = strongest;
        record.block_name = strongest === null ? null : data.blocks[strongest];
        record.lift = each[at.lift];
        record.n_marked_blocks = each[at.blocks].length;
      }
      return record;
    });
  }
  function csv(rows) {
    const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
    const head = ["rank", "feature", "score", "selected", ...data.measures, "prevalence", ...(data.blocks ? ["marked_block", "block_name", "lift", "n_marked_blocks"] : [])];
    const lines = rows.map((each) => head.map((key) => quote(String(each[key] ?? ""))).join(","));
    return [head.join(","), ...lines].join("\n") + "\n";
  }
  function save(name, type, text) {
    const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: type })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // The colour theme is that of the system unless the reader switches it; the choice is stored if the browser allows it.
  const root = document.documentElement, theme = byId("theme");
  const stored = { get: () => { try { return localStorage.getItem("blockselect-theme"); } catch { return null; } },
                   set: (value) => { try { localStorage.setItem("blockselect-theme", value); } catch { /* not allowed */ } } };
  function paint(value) {
    if (value === "light" || value === "dark") root.dataset.theme = value;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    theme.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
    return dark;
  }
  theme.addEventListener("click", () => {
    const value = paint() ? "light" : "dark";
    stored.set(value);
    paint(value);
  });

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 80); });
  for (const control of [block, which, stable]) if (control) control.addEventListener("input", choose);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  // Sort by clicking a column header or, on narrow screens without headers, by choosing from a list of the columns.
  const order = byId("sort"), buttons = [...table.querySelectorAll("[data-sort]")];
  function sortBy(button) {
    const key = button.dataset.sort, by = at[key];
    const smallestFirst = ["name", "rank", "blocks", "q_value"].includes(key);
    sorted = { by: by, down: sorted.by === by ? !sorted.down : !smallestFirst };
    for (const head of table.querySelectorAll("thead th")) head.removeAttribute("aria-sort");
    button.closest("th").setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    order.value = key;
    choose();
  }
  for (const button of buttons) {
    button.addEventListener("click", () => sortBy(button));
    order.append(element("option", { value: button.dataset.sort }, button.textContent));
  }
  order.addEventListener("input", () => sortBy(buttons[order.selectedIndex]));
  for (const button of document.querySelectorAll("[data-export]")) {
    button.addEventListener("click", () => {
      if (button.dataset.export === "csv") save("features.csv", "text/csv", csv(records()));
      else save("features.json", "application/json", JSON.stringify(records(), null, 1));
    });
  }
  for (const link of document.querySelectorAll("[data-block]")) {
    link.addEventListener("click", () => {
      block.value = link.dataset.block;
      choose();
      if (!shown.length && which.value === "selected") { which.value = "all"; choose(); } // the block has only unselected markers
    });
  }
  addEventListener("beforeprint", () => body.replaceChildren(...rows(0, PRINTED)));
  addEventListener("afterprint", draw);

  root.classList.add("js");
  byId("controls").hidden = false;
  paint(stored.get());
  choose();
})();
