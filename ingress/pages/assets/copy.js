// Buttons that copy what stands in a field. Without this script they are not there, and the field can be selected.

/** The clipboard is open to pages over https and of this computer only; the old way is open to all. */
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
  const told = button.nextElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    told.textContent = (await copy(field)) ? "Copied" : "It is selected: copy it with the keyboard";
  });
}

// What is shown once is not to come back out of a browser's memory of the page.
addEventListener("pagehide", () => {
  for (const field of document.querySelectorAll("textarea.secret")) field.value = "";
});
