// What axe finds in a page. It runs in the page's own document.
async function inspect(frame) {
  const found = await frame.contentWindow.axe.run();
  const text = (it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`;
  return { passes: found.passes.length, violations: found.violations.map(text) };
}
