// Collects what `inspect` finds in each frame of the document around it, in their order.
const isLoaded = (page) => page.URL === "about:srcdoc" && page.readyState === "complete";
const loaded = (frame) => new Promise((done) => {
  if (isLoaded(frame.contentDocument)) done(frame);
  frame.addEventListener("load", () => done(frame));
});
Promise.all([...document.querySelectorAll("iframe")].map((frame) => loaded(frame).then(inspect))).then((found) => {
  document.querySelector("#result").textContent = JSON.stringify(found);
});
