// Shows a page in a frame of `width` CSS pixels and returns each place where the layout is wrong. The page
// keeps its content security policy: this script is in the document around it.
function problems(page, width) {
  const found = [];
  const root = page.documentElement;
  const say = (what, element) => {
    const text = element.textContent.trim().slice(0, 60);
    found.push(`${what}: <${element.tagName.toLowerCase()}> ${text}`);
  };
  if (root.scrollWidth > width) found.push(`the page is ${root.scrollWidth} px wide`);
  for (const element of page.querySelectorAll("main *")) {
    const box = element.getBoundingClientRect();
    const scrolls = element.parentElement.closest(".scroll, svg");
    if (!scrolls && (box.left < -1 || box.right > width + 1)) say("outside the page", element);
    if (!element.closest("svg") && !element.matches(".scroll") && element.scrollWidth > element.clientWidth + 1
        && element.clientWidth > 0) say("text leaves its box", element);
  }
  for (const picture of page.querySelectorAll("svg")) {
    const frame = picture.getBoundingClientRect();
    const labels = [...picture.querySelectorAll("text")].map((it) => [it, it.getBoundingClientRect()])
      .filter(([, box]) => box.width > 0);
    labels.forEach(([label, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
          || box.bottom > frame.bottom + 1) say("label leaves its picture", label);
      for (const [, other] of labels.slice(index + 1)) {
        if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom) {
          say("labels overlap", label);
        }
      }
    });
    for (const [label] of labels) {
      const size = parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a;
      if (size < 10 && !picture.querySelector("[data-frames]")) say("text is too small", label);
    }
    if (picture.closest(".plot.lines, .plot.panel")) {
      const isLabelled = (anchor) => picture.querySelector(`text.tick[text-anchor=${anchor}]`);
      if (!isLabelled("middle") || !isLabelled("end")) say("no labels on an axis", picture);
      if (picture.querySelectorAll("path.line:not(.grey)").length > 12) say("too many lines", picture);
    }
    if (picture.matches("td.picture svg.ratio") && !hasAxis(picture)) say("a ratio without an axis", picture);
    const fills = picture.closest(".plot:not(.map):not(.panel)") || picture.matches(".ratios svg.ratio");
    if (width < 600 && fills && frame.width > 0 && frame.width < (width - 32) * 0.9) say("a narrow picture", picture);
    const marks = ".estimate, [data-frames]";
    if (picture.matches("[role=img]") && !picture.querySelector(marks)) say("no mark", picture);
  }
  for (const text of page.querySelectorAll("main > pre, main > .scroll > pre")) say("a picture of characters", text);
  for (const table of page.querySelectorAll("table")) {
    const head = table.tHead.getBoundingClientRect();
    if (width < 600 && head.width > 0 && !table.matches(".ratios")) say("no cards", table);
    const scroll = table.closest(".scroll");
    if (width >= 1280 && scroll && table.matches(".results") && scroll.scrollWidth > scroll.clientWidth + 1) {
      say("a column is cut", table);
    }
  }
  return found;
}

// Whether labels of its axis are visible: below the picture, or at the head of its column.
function hasAxis(picture) {
  const cell = picture.closest("td");
  const head = [...cell.closest("table").tHead.rows].at(-1).cells[cell.cellIndex];
  const labels = [...cell.querySelectorAll(".axis span"), ...(head ? head.querySelectorAll("text.tick") : [])];
  return labels.some((it) => it.getClientRects().length > 0);
}

function inspect(frame) {
  const page = frame.contentDocument;
  return {
    problems: problems(page, Number(frame.width)),
    background: getComputedStyle(page.body).backgroundColor,
    pictures: page.querySelectorAll("svg[role=img]").length,
  };
}
