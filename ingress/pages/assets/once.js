// Ignores a second submit: a browser shows the answer to the last one, and a secret in the first would be lost.
let isSent = false;

addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => {
  isSent = false;
});
