// Leaves those rows of a list whose names contain what is typed. Without this script the form asks the server.
const field = document.querySelector("input[data-filters]");

function filter(root) {
  const wanted = field.value.trim().toLowerCase();
  for (const row of root.querySelectorAll(`#${field.dataset.filters} > [data-name]`))
    row.hidden = !row.dataset.name.includes(wanted);
}

if (field) {
  field.addEventListener("input", () => filter(document));
  // A refreshed page is compared with the present one.
  addEventListener("parsed", ({ detail }) => filter(detail));
}
