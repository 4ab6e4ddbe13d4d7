// Keeps what a reader chose last, in a browser that lets pages keep something.
import { log } from "./page.js";

const kept = openStorage();
const choices = { times: "value", wrap: "checked", "fold-jobs": "checked" };
const timesField = document.getElementById("times");

function openStorage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export function remember({ target }) {
  const property = choices[target.id];
  if (property) kept?.setItem(`log ${target.id}`, target[property]);
  if (target === timesField) keepTimes();
}

/** An address that says how times are shown goes before the last choice. */
export function choose() {
  const named = new URLSearchParams(location.search);
  for (const [id, property] of Object.entries(choices)) {
    const field = document.getElementById(id);
    const chosen = kept?.getItem(`log ${id}`) ?? null;
    if (!field || chosen === null || named.has(id)) continue;
    field[property] = property === "checked" ? chosen === "true" : chosen;
  }
  if (timesField?.value && !named.has("times")) keepTimes();
}

/** The address and all links to lines say how times are shown. */
function keepTimes() {
  history.replaceState(history.state, "", withTimes(location.href));
  for (const link of log.querySelectorAll('a[href*="attempt="]')) link.href = withTimes(link.href);
  log.dataset.next = withTimes(new URL(log.dataset.next, location.href));
}

export function addTimes({ formData }) {
  if (timesField.value) formData.set("times", timesField.value);
  else formData.delete("times");
}

function withTimes(link) {
  const address = new URL(link);
  if (timesField.value) address.searchParams.set("times", timesField.value);
  else address.searchParams.delete("times");
  return address;
}
