// Leads from hit to hit. A large log is searched in parts.
import { fetchLog } from "./more-lines.js";
import { log, numberOf } from "./page.js";

/** `3 of 17`, and the links to the hits before and after. */
export function countHits(number) {
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
export async function searchOn() {
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
