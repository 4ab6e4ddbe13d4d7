// The log of a job: takes the lines that come, loads more while one scrolls, and goes to lines without a new page.
const log = document.getElementById("log");
const maxLines = 20_000;
const nearEndPixels = 60;
/** Lines are loaded before one sees their end. */
const nearEdgePixels = 1500;

const root = document.documentElement;
const follow = document.getElementById("follow");

/** Lines that came since, or those that follow the last one. */
function append(next) {
  const lines = log.querySelector(".lines");
  const isFollowed = isAtEnd() && log.dataset.follows !== undefined && (follow?.checked ?? true);
  const all = [...next.querySelector(".lines").children].flatMap((each) =>
    each.matches(".continued") ? [...each.children].slice(1) : [each],
  );
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
  log.toggleAttribute("data-follows", next.dataset.follows !== undefined);
  takePager("Later lines", next);
  takeOutline(next);
  if (isFollowed) scrollTo(scrollX, root.scrollHeight);
}

/** Lines of the job that runs. */
function takeNew(next) {
  append(next);
  // There is more.
  if (next.dataset.follows === undefined) {
    log.dataset.follows = "";
    log.dispatchEvent(new Event("stale", { bubbles: true }));
  }
}

/** The lines before the first one, which may belong to the last group of them. */
function prepend(next) {
  const lines = log.querySelector(".lines");
  const first = [...lines.children].find(({ tagName, id }) => tagName !== "DETAILS" || id);
  const anchor = lines.querySelector("p");
  const top = anchor?.getBoundingClientRect().top;
  const all = [...next.querySelector(".lines").children];
  const group = all.at(-1)?.matches("details") ? all.at(-1) : undefined;
  const continued = lines.querySelector(":scope > .continued");
  if (group) {
    if (continued) group.append(...[...continued.children].slice(1));
    else
      for (let line = lines.firstElementChild; line?.matches("p"); line = lines.firstElementChild)
        group.append(line);
    group.open ||= Boolean(continued) || first?.matches("p");
    continued?.remove();
  }
  lines.prepend(...all);
  takePager("Earlier lines", next);
  if (anchor?.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - top);
}

function takePager(label, next) {
  const find = (parent) => parent.querySelector(`nav[aria-label="${label}"]`);
  const [old, pager] = [find(log), find(next)];
  if (!old) return;
  if (pager) old.replaceWith(pager);
  else old.remove();
}

/** Groups and red lines of all that came. */
function takeOutline(next) {
  for (const id of ["outline", "log-ticks"]) {
    const old = document.getElementById(id);
    const added = next.querySelector(`#${id}`);
    if (!old || !added || old.contains(document.activeElement) || old.querySelector("[open]")) continue;
    if (!old.isEqualNode(added)) old.replaceWith(added);
  }
  const state = next.querySelector("#follow");
  if (follow && state) follow.disabled = state.disabled;
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
  const isTooLong = all.length > maxLines;
  while (all.length > maxLines) {
    const first = lines.firstElementChild;
    if (first === lines.lastElementChild || first.matches("p")) all[0].remove();
    else first.remove();
  }
  if (isTooLong)
    log.querySelector('nav[aria-label="Earlier lines"] a:last-child:not(:first-child)')?.remove();
}

function isAtEnd() {
  return scrollY + innerHeight >= root.scrollHeight - nearEndPixels;
}

let isLoading = false;

/** Loads the page of a link to more lines when it is near, and one goes there. */
async function loadNear(goesUp) {
  if (isLoading) return;
  const links = log.querySelectorAll("nav.pager a");
  const near = [...links].find(({ textContent, parentElement }) => {
    const { top, bottom } = parentElement.getBoundingClientRect();
    if (textContent === "Earlier") return goesUp && bottom > -nearEdgePixels;
    return textContent === "Later" && !goesUp && top < innerHeight + nearEdgePixels;
  });
  if (!near) return;
  const isEarlier = near.textContent === "Earlier";
  if (isEarlier && log.getElementsByTagName("p").length > maxLines) return;
  isLoading = true;
  const added = await fetchLog(near.href);
  if (added && near.isConnected) (isEarlier ? prepend : append)(added);
  isLoading = !added; // without an answer the links are left
}

async function fetchLog(address) {
  try {
    const response = await fetch(address);
    if (!response.ok || response.redirected) return undefined;
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    return next.getElementById("log") ?? undefined;
  } catch {
    return undefined;
  }
}

let wasAt = 0;

function handleScroll() {
  if (follow && !follow.disabled && log.dataset.follows !== undefined) {
    if (isAtEnd()) follow.checked = true;
    else if (scrollY < wasAt) follow.checked = false;
  }
  const goesUp = scrollY < wasAt;
  wasAt = scrollY;
  loadNear(goesUp);
}

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
function goToLine(event) {
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

function scrollToLine(number) {
  const line = document.getElementById(`L${number}`);
  const target = line?.matches("details") ? line.querySelector("summary") : line;
  target?.scrollIntoView({ block: "center" });
}

/** `3 of 17`, and the links to the hits before and after. */
function countHits(number) {
  const found = document.getElementById("hits");
  const hits = found?.dataset.hits.split(" ").map(Number) ?? [];
  const index = hits.indexOf(number);
  if (index === -1) return;
  const status = found.querySelector("[role=status]");
  status.textContent = status.textContent.replace(/^[\d,]+/, (index + 1).toLocaleString("en"));
  for (const [rel, step] of Object.entries({ prev: -1, next: 1 })) {
    const link = found.querySelector(`a[rel=${rel}]`);
    if (!link) continue;
    const line = hits[(index + step + hits.length) % hits.length];
    const address = new URL(link.href);
    address.searchParams.set("line", line);
    address.hash = `L${line}`;
    link.href = address;
  }
}

/** A large log is searched in parts. The first hit of all is a page of its own. */
async function searchOn() {
  for (let rest = moreToSearch(); rest; rest = moreToSearch()) {
    const next = await fetchLog(rest.href);
    const found = next?.querySelector("#hits");
    if (!found || !rest.isConnected) return;
    const present = numberOf(log.querySelector(".marked")?.id ?? "");
    if (rest.parentElement.dataset.hits === "" && found.dataset.hits !== "")
      return location.replace(rest.href);
    rest.parentElement.replaceWith(found);
    document.getElementById("log-ticks")?.replaceWith(next.querySelector("#log-ticks"));
    countHits(present);
  }
}

function moreToSearch() {
  return log.querySelector("#hits .more");
}

/** A link leads to a line of a closed group. */
function openGroup() {
  const [, number] = /^#L(\d+)$/.exec(location.hash) ?? [];
  if (!number || !document.getElementById(`L${number}`)) return;
  if (!new URLSearchParams(location.search).has("line")) nameLines(Number(number));
  scrollToLine(number);
}

/** A place in a file is copied by a click. */
async function copyPlace({ target }) {
  if (!target.matches?.(".place") || getSelection()?.type === "Range") return;
  // The clipboard needs https or localhost. Elsewhere the place is selected, for the keyboard.
  if (!navigator.clipboard) return getSelection()?.selectAllChildren(target);
  await navigator.clipboard.writeText(target.textContent);
  target.classList.add("copied");
  setTimeout(() => target.classList.remove("copied"), 1000);
}

function goToTick({ target }) {
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

/** Goes through the jobs of the build. */
function goToJob(step) {
  const links = [...document.querySelectorAll("#siblings li > a")];
  const present = links.findIndex((link) => link.ariaCurrent === "page");
  links[present + step]?.click();
}

const keys = {
  "/": () => document.getElementById("find")?.focus(),
  n: () => log.querySelector("#hits a[rel=next]")?.click(),
  N: () => log.querySelector("#hits a[rel=prev]")?.click(),
  j: () => goToJob(1),
  k: () => goToJob(-1),
};

function handleKey(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || !Object.hasOwn(keys, key)) return;
  // The user may have turned letters off.
  if (document.body.dataset.keys === undefined || document.querySelector("dialog[open]")) return;
  if (target.closest?.("input:not([type=checkbox]), textarea, select")) return;
  event.preventDefault();
  keys[key]();
}

/** Choices of the reader last, in a browser that lets pages keep something. */
const kept = openStorage();
const choices = { times: "value", wrap: "checked", "fold-jobs": "checked" };

function openStorage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

function remember({ target }) {
  const property = choices[target.id];
  if (property) kept?.setItem(`log ${target.id}`, target[property]);
}

function choose() {
  for (const [id, property] of Object.entries(choices)) {
    const field = document.getElementById(id);
    const chosen = kept?.getItem(`log ${id}`) ?? null;
    if (field && chosen !== null) field[property] = property === "checked" ? chosen === "true" : chosen;
  }
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
  else if (follow?.checked && follows !== undefined) scrollTo(scrollX, root.scrollHeight);
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
    else scrollTo(scrollX, root.scrollHeight);
  });
  addEventListener("hashchange", openGroup);
  addEventListener("scroll", handleScroll, { passive: true });
  // At the top of the page nothing scrolls.
  addEventListener("wheel", ({ deltaY }) => scrollY === 0 && deltaY < 0 && loadNear(true), { passive: true });
  // Before those that all pages have.
  addEventListener("keydown", handleKey, { capture: true });
  addEventListener("change", remember);
  open();
}
