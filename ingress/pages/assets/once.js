// A form is sent once: of a double click the browser shows the second answer, and what is shown once would be lost.
let isSent = false;

addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => {
  isSent = false;
});
