// Presses heads of the first table and uses its filter, and returns which servers are shown in which order.
function inspect(frame) {
  const page = frame.contentDocument;
  const table = page.querySelector("table.results");
  const shown = () => [...table.tBodies[0].rows].filter((row) => row.getClientRects().length > 0)
    .map((row) => row.cells[0].textContent).join(" ");
  const heads = [...table.tHead.rows[1].cells];
  const press = (head) => head.querySelector("button").click();
  const found = [`at first: ${shown()}`];
  const note = (what) => found.push(`${what}: ${shown()}`);
  press(heads[1]);
  note("by CPU");
  found.push(`aria-sort: ${heads[1].getAttribute("aria-sort")}`);
  press(heads[1]);
  note("by CPU again");
  press(heads[1]);
  note("as at first");
  press(heads[0]);
  note("by name");
  // The last load has no figures of one server.
  press(heads[7]);
  note("without a figure last");
  const filter = page.querySelector("form.filter");
  const enter = (name, value) => {
    filter.elements[name].value = value;
    filter.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
  };
  enter("server", "GO");
  found.push(`filter by name: ${shown()}, ${filter.querySelector("output").value}`);
  enter("server", "");
  enter("class", "raw");
  found.push(`filter by class: ${shown()}, ${filter.querySelector("output").value}`);
  enter("class", "");
  const outcomes = () => [...table.tBodies[0].rows]
    .map((row) => `${row.cells[0].textContent} ${row.cells[2].textContent}`).sort().join(", ");
  found.push(`with the baseline: ${outcomes()}`);
  enter("compare with", "go/net");
  found.push(`${heads[2].textContent}: ${outcomes()}`);
  enter("compare with", "");
  found.push(`${heads[2].textContent}: ${outcomes()}`);
  return found;
}
