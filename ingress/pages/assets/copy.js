// Buttons that copy a field or a text. Without this script they stay hidden.

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

/** A text needs a field only while it is copied. */
async function copyText(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  const isCopied = await copy(field);
  field.remove();
  return isCopied;
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const status = button.nextElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    status.textContent = (await copy(field)) ? "Copied" : "It is selected: copy it with the keyboard";
  });
}

function showButtons(root) {
  for (const button of root.querySelectorAll("button[data-text]")) button.hidden = false;
}

showButtons(document);
addEventListener("parsed", ({ detail }) => showButtons(detail));
addEventListener("click", async ({ target }) => {
  const button = target.closest?.("button[data-text]");
  if (!button) return;
  const isCopied = await copyText(button.dataset.text);
  button.focus();
  button.nextElementSibling.textContent = isCopied ? "Copied" : "It could not be copied";
});

// Keeps a secret out of the browser's back/forward cache.
addEventListener("pagehide", () => {
  for (const field of document.querySelectorAll("textarea.secret")) field.value = "";
});
