// Ignores a second submit: its answer would replace the first one, which may show a secret.
let isSent = false;

addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => {
  isSent = false;
});
