// Buttons that copy a field. Without this script they stay hidden.

/** The clipboard needs https or localhost; execCommand works everywhere. */
async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const status = button.nextElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    status.textContent = (await copy(field)) ? "Copied" : "It is selected: copy it with the keyboard";
  });
}

// Keeps a secret out of the browser's back/forward cache.
addEventListener("pagehide", () => {
  for (const field of document.querySelectorAll("textarea.secret")) field.value = "";
});
