// Appends the lines that came since the page was loaded, and follows the end if it is in view.
const log = document.getElementById("log");
const maxLines = 20_000;
const nearEndPixels = 60;

function append(next) {
  const lines = log.querySelector(".lines");
  const root = document.documentElement;
  const isAtEnd = scrollY + innerHeight >= root.scrollHeight - nearEndPixels;
  const all = [...next.querySelector(".lines").children];
  removeFrom(lines, all.find(({ id }) => id)?.id);
  for (const added of all) {
    const group = lines.lastElementChild;
    if (added.matches("details") || !group?.matches("details")) lines.append(added);
    else group.append(added);
    if (added.matches(".opens") && group?.matches("details")) group.open = true;
  }
  if (lines.childElementCount > 0) log.querySelector(".empty")?.remove();
  shorten(lines);
  log.dataset.next = next.dataset.next;
  if (next.dataset.follows === undefined) log.dispatchEvent(new Event("stale", { bubbles: true })); // there is more
  if (isAtEnd) scrollTo(scrollX, root.scrollHeight);
}

/** An incomplete line comes again, with more. So do lines that are redrawn, with all that follow. */
function removeFrom(lines, id) {
  lines.querySelector(".partial")?.remove();
  const first = id === undefined ? Infinity : numberOf(id);
  for (const line of [...lines.querySelectorAll("[id]")].toReversed()) {
    if (!(numberOf(line.id) >= first)) break;
    line.remove();
  }
}

function numberOf(id) {
  return Number(id.slice(1));
}

/** A browser gets slow with many lines. The first ones are a page away. */
function shorten(lines) {
  const all = lines.getElementsByTagName("p");
  while (all.length > maxLines) {
    const first = lines.firstElementChild;
    if (first === lines.lastElementChild || first.matches("p")) all[0].remove();
    else first.remove();
  }
}

/** A link leads to a line of a closed group. */
function openGroup() {
  const line = /^#L\d+$/.test(location.hash) ? document.querySelector(location.hash) : null;
  const group = line?.closest("details");
  if (!group) return;
  group.open = true;
  line.scrollIntoView();
}

/** Goes to a line of this page without loading it again. The address then leads others to the line. */
function goToLine(event) {
  const link = event.target.closest('.lines a[href^="?line="]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  location.hash = link.hash;
  history.replaceState(history.state, "", link.href);
}

if (log) {
  log.addEventListener("click", goToLine);
  log.addEventListener("refreshed", ({ detail }) => append(detail));
  addEventListener("hashchange", openGroup);
  openGroup();
}
