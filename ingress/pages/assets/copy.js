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

/** Of a field of the page, or of a text of their own. */
const buttons = "button[data-copies], button[data-text]";

function showButtons(root) {
  for (const button of root.querySelectorAll(buttons)) button.hidden = false;
}

showButtons(document);
addEventListener("parsed", ({ detail }) => showButtons(detail));
addEventListener("click", async ({ target }) => {
  const button = target.closest?.(buttons);
  if (!button) return;
  const { copies, text } = button.dataset;
  const status = button.nextElementSibling;
  if (copies !== undefined) {
    const isCopied = await copy(document.getElementById(copies));
    status.textContent = isCopied ? "Copied" : "It is selected: copy it with the keyboard";
    return;
  }
  const isCopied = await copyText(text);
  button.focus();
  status.textContent = isCopied ? "Copied" : "It could not be copied";
});

// Keeps a secret out of the browser's back/forward cache.
addEventListener("pagehide", () => {
  for (const field of document.querySelectorAll("textarea.secret")) field.value = "";
});
