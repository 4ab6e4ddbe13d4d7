// Links that fill a field. Without this script they lead to a page whose field is filled.
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-fills]");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const field = document.getElementById(link.dataset.fills);
  const { joins, text } = link.dataset;
  if (joins === undefined) field.value = text;
  else insert(field, joins);
  field.focus();
  field.scrollIntoView({ block: "nearest" });
});

/** Behind other text it is joined; at the caret within a text it stands as it is. */
function insert(field, text) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const isAtEnd = value.slice(end).trim() === "" && start === end;
  const isJoined = isAtEnd && value.trim() !== "" && !/(&&|\|\||[(!])\s*$/.test(value);
  if (isAtEnd)
    field.setRangeText(isJoined ? ` && ${text}` : text, value.trimEnd().length, value.length, "end");
  else field.setRangeText(text, start, end, "end");
}
