// Goes to lines without a new page, and names them in the address.
import { log, numberOf } from "./page.js";
import { countHits } from "./search.js";

/** The line that a range begins or ends with. */
let anchor = Number(log?.dataset.opensAt) || undefined;

/** Marks lines, and opens their groups. */
function nameLines(first, last = first) {
  for (const old of log.querySelectorAll(".marked")) old.classList.remove("marked");
  for (const line of log.querySelectorAll(".lines [id]")) {
    const number = numberOf(line.id);
    if (number >= first && number <= last) line.classList.add("marked");
  }
  const group = document.getElementById(`L${first}`)?.closest("details");
  if (group) group.open = true;
}

/** Goes to a line of this page without loading it again. The address then leads others to the line. */
export function goToLine(event) {
  const link = event.target.closest('a[href*="line="]');
  if (!link || event.ctrlKey || event.metaKey || event.button > 0) return;
  const address = new URL(link.href);
  const number = numberOf(address.hash.slice(1));
  if (!document.getElementById(`L${number}`)) return;
  event.preventDefault();
  showLine(address, number, event.shiftKey && link.matches(".number"));
  link.closest(".menu")?.removeAttribute("open");
  if (!link.matches(".number")) scrollToLine(number);
}

function showLine(address, number, isRange) {
  if (!isRange || anchor === undefined) anchor = number;
  const [first, last] = [Math.min(anchor, number), Math.max(anchor, number)];
  nameLines(first, last);
  address.searchParams.set("line", first === last ? first : `${first}-${last}`);
  address.hash = `L${first}`;
  history.replaceState(history.state, "", address);
  countHits(number);
}

export function scrollToLine(number) {
  const line = document.getElementById(`L${number}`);
  const target = line?.matches("details") ? line.querySelector("summary") : line;
  target?.scrollIntoView({ block: "center" });
}

/** A link leads to a line of a closed group. */
export function openGroup() {
  const [, number] = /^#L(\d+)$/.exec(location.hash) ?? [];
  if (!number || !document.getElementById(`L${number}`)) return;
  if (!new URLSearchParams(location.search).has("line")) nameLines(Number(number));
  scrollToLine(number);
}

export function goToTick({ target }) {
  const { line } = target.dataset;
  if (!line) return;
  const address = new URL(location.href);
  address.searchParams.set("line", line);
  address.searchParams.set("attempt", log.dataset.attempt);
  address.hash = `L${line}`;
  if (!document.getElementById(`L${line}`)) return location.assign(address);
  showLine(address, Number(line), false);
  scrollToLine(line);
}
