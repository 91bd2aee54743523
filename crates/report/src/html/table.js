// Sorts each table by the column of which the head is pressed, hides servers that do not match the filter,
// and compares with another row. Without it the page shows everything, compared with the baseline.
"use strict";
(() => {
  const tables = [...document.querySelectorAll("table.results")];
  const rows = (table) => [...table.tBodies[0].rows];
  const value = (row, column) => {
    const cell = row.cells[column];
    if (column === 0) return cell.textContent;
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);

  for (const table of tables) {
    const heads = [...table.tHead.rows[1].cells];
    const first = rows(table);
    heads.forEach((head, column) => {
      if (head.matches(".picture")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: null }[head.ariaSort];
        const next = order === undefined ? "ascending" : order;
        for (const other of heads) other.removeAttribute("aria-sort");
        let sorted = first;
        if (next) {
          head.ariaSort = next;
          const sign = next === "ascending" ? 1 : -1;
          const known = first.filter((row) => value(row, column) !== null);
          known.sort((a, b) => sign * compare(value(a, column), value(b, column)));
          // Rows without a figure stay last.
          sorted = [...known, ...first.filter((row) => value(row, column) === null)];
        }
        table.tBodies[0].append(...sorted);
      });
    });
  }

  // The ratio of two rows with its interval: see `pair_levels` of the statistics.
  const judge = (row, base, margin) => {
    const [level, variance, critical, plain] = row;
    const difference = level - base[0];
    const error = Math.sqrt(variance + base[1]);
    const ends = (reach) => [Math.exp(difference - reach * error), Math.exp(difference + reach * error)];
    const isInside = ([low, high]) => low >= 1 / (1 + margin) && high <= 1 + margin;
    const interval = ends(Math.max(critical, base[2]));
    const [low, high] = interval;
    const ratio = Math.exp(difference);
    if (!isInside(interval) && (low > 1 || high < 1)) {
      // As `interval.rs` prints a factor: rounding never makes the interval contain 1.
      let digits = high - low < 0.02 ? 3 : 2;
      while (digits < 9 && low.toFixed(digits) <= 1 && high.toFixed(digits) >= 1) digits += 1;
      const show = (it) => it.toFixed(Math.max(0, digits - [9.995, 99.95].filter((from) => it >= from).length));
      const far = Math.max(ratio, 1 / ratio);
      const step = 1 + [1.15, 1.5].filter((from) => far >= from).length;
      const shade = `${ratio > 1 ? "more" : "less"}${step}`;
      return { ratio, shade, text: `${show(ratio)} (${show(low)}..${show(high)})` };
    }
    return { ratio, shade: "weak", text: isInside(ends(Math.max(plain, base[3]))) ? "same" : "inconclusive" };
  };
  const firstOf = new Map();
  const compareWith = (table, server) => {
    [...table.tHead.rows[1].cells].forEach((head, column) => {
      if (head.dataset.margin === undefined) return;
      const pair = (row) => row?.cells[column].dataset.pair?.split(" ").map(Number);
      const base = rows(table).find((row) => row.cells[0].textContent === server);
      const button = head.querySelector("button");
      if (!firstOf.has(button)) firstOf.set(button, button.textContent);
      button.textContent = server ? `vs ${server}` : firstOf.get(button);
      for (const row of rows(table)) {
        const cell = row.cells[column];
        const shown = firstOf.get(cell) ?? { text: cell.textContent, shade: cell.className, ratio: cell.dataset.value };
        firstOf.set(cell, shown);
        const picture = row.cells[column + 1];
        if (picture?.matches(".picture")) picture.style.visibility = server ? "hidden" : "";
        let found = shown;
        if (server) {
          found = { text: "-", shade: "weak" };
          if (row === base) found = { text: "reference", shade: "weak", ratio: 1 };
          else if (pair(row) && pair(base)) found = judge(pair(row), pair(base), Number(head.dataset.margin));
        }
        cell.textContent = found.text;
        cell.dataset.label = button.textContent;
        cell.className = found.shade;
        if (found.ratio === undefined) delete cell.dataset.value;
        else cell.dataset.value = found.ratio;
      }
    });
  };

  // Loads that do not fit next to each other are in further tables with the same rows.
  const all = tables.flatMap(rows);
  const counted = tables.filter((table) => !table.matches(".continued")).flatMap(rows);
  const form = document.createElement("form");
  form.className = "filter";
  form.addEventListener("submit", (event) => event.preventDefault());
  const add = (name, control) => {
    const label = document.createElement("label");
    control.name = name;
    label.append(`${name} `, control);
    form.append(label);
    return control;
  };
  const search = add("server", document.createElement("input"));
  search.type = "search";
  const choices = ["class", "language", "mechanism"].flatMap((name) => {
    const values = [...new Set(all.map((row) => row.dataset[name]).filter(Boolean))].sort();
    if (values.length < 2) return [];
    const select = add(name, document.createElement("select"));
    for (const text of ["", ...values]) select.append(new Option(text || "all", text));
    return [select];
  });
  const servers = [...new Set(all.filter((row) => row.querySelector("[data-pair]")).map((row) => row.cells[0].textContent))];
  if (servers.length > 1) {
    const other = add("compare with", document.createElement("select"));
    for (const text of ["", ...servers]) other.append(new Option(text || "the baseline", text));
    other.addEventListener("input", () => tables.forEach((table) => compareWith(table, other.value)));
  }
  const count = document.createElement("output");
  form.append(count);
  const filter = () => {
    const words = search.value.toLowerCase();
    const matches = (row) => row.cells[0].textContent.toLowerCase().includes(words)
      && choices.every((choice) => !choice.value || row.dataset[choice.name] === choice.value);
    for (const row of all) row.hidden = !matches(row);
    const shown = counted.filter((row) => !row.hidden).length;
    count.value = shown === counted.length ? "" : `${shown} of ${counted.length} rows`;
  };
  form.addEventListener("input", filter);
  if (all.length > 1) tables[0].closest("section").before(form);
})();
