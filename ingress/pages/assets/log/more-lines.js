// Takes the lines that come, and loads more while one scrolls.
import { follow, goToEnd, isAtEnd, log, numberOf } from "./page.js";

const maxLines = 20_000;
/** Lines are loaded before one sees their end. */
const nearEdgePixels = 1500;

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
  if (isFollowed) goToEnd();
}

/** Lines of the job that runs. */
export function takeNew(next) {
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

let isLoading = false;

/** Loads the page of a link to more lines when it is near, and one goes there. */
export async function loadNear(goesUp) {
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

export async function fetchLog(address) {
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

export function handleScroll() {
  if (follow && !follow.disabled && log.dataset.follows !== undefined) {
    if (isAtEnd()) follow.checked = true;
    else if (scrollY < wasAt) follow.checked = false;
  }
  const goesUp = scrollY < wasAt;
  wasAt = scrollY;
  loadNear(goesUp);
}
