// Keeps what a reader chose last, in a browser that lets pages keep something.
const kept = openStorage();
const choices = { times: "value", wrap: "checked", "fold-jobs": "checked" };

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
}

export function choose() {
  for (const [id, property] of Object.entries(choices)) {
    const field = document.getElementById(id);
    const chosen = kept?.getItem(`log ${id}`) ?? null;
    if (field && chosen !== null) field[property] = property === "checked" ? chosen === "true" : chosen;
  }
}
