// Letters lead through hits and jobs.
import { log } from "./page.js";

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

export function handleKey(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || !Object.hasOwn(keys, key)) return;
  // The user may have turned letters off.
  if (document.body.dataset.keys === undefined || document.querySelector("dialog[open]")) return;
  if (target.closest?.("input:not([type=checkbox]), textarea, select")) return;
  event.preventDefault();
  keys[key]();
}
