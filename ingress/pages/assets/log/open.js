// Opens the log at its place, and listens.
import { addTimes, choose, remember } from "./choices.js";
import { handleKey } from "./keys.js";
import { handleScroll, loadNear, takeNew } from "./more-lines.js";
import { goToLine, goToTick, openGroup, scrollToLine } from "./named-lines.js";
import { follow, goToEnd, log, root } from "./page.js";
import { searchOn } from "./search.js";

/** A place in a file is copied by a click. */
async function copyPlace({ target }) {
  if (!target.matches?.(".place") || getSelection()?.type === "Range") return;
  // The clipboard needs https or localhost. Elsewhere the place is selected, for the keyboard.
  if (!navigator.clipboard) return getSelection()?.selectAllChildren(target);
  await navigator.clipboard.writeText(target.textContent);
  target.classList.add("copied");
  setTimeout(() => target.classList.remove("copied"), 1000);
}

/** A list of many jobs shows the present one. */
function showPresentJob() {
  const list = document.getElementById("siblings");
  const present = list?.querySelector("[aria-current]");
  if (present) list.scrollTop = present.offsetTop - list.clientHeight / 2;
}

/** The tools may take two lines. Headers of groups stick below them. */
function keepHeadersBelow(tools) {
  if (!tools) return;
  const keep = () => root.style.setProperty("--log-top", `${tools.offsetHeight}px`);
  new ResizeObserver(keep).observe(tools);
  keep();
}

function open() {
  choose();
  showPresentJob();
  searchOn();
  keepHeadersBelow(document.getElementById("log-tools"));
  const { opensAt, follows } = log.dataset;
  if (location.hash) openGroup();
  else if (opensAt) scrollToLine(opensAt);
  else if (follow?.checked && follows !== undefined) goToEnd();
}

if (log) {
  log.addEventListener("click", goToLine);
  log.addEventListener("click", copyPlace);
  log.addEventListener("click", goToTick);
  // A range of lines is no selection of text.
  log.addEventListener("mousedown", (event) => {
    if (event.shiftKey && event.target.closest(".number")) event.preventDefault();
  });
  log.addEventListener("refreshed", ({ detail }) => takeNew(detail));
  follow?.parentElement.removeAttribute("hidden");
  follow?.addEventListener("change", () => {
    if (!follow.checked) return;
    if (log.dataset.follows === undefined) location.assign(`?end=1&attempt=${log.dataset.attempt}`);
    else goToEnd();
  });
  addEventListener("hashchange", openGroup);
  addEventListener("scroll", handleScroll, { passive: true });
  // At the top of the page nothing scrolls.
  addEventListener("wheel", ({ deltaY }) => scrollY === 0 && deltaY < 0 && loadNear(true), { passive: true });
  // Before those that all pages have.
  addEventListener("keydown", handleKey, { capture: true });
  addEventListener("change", remember);
  log.addEventListener("formdata", addTimes);
  open();
}
