/** A secret or command, with a button that copies it. The page needs `copy.js`; without JavaScript the button stays hidden. */
export function CopyField({
  id,
  label,
  rows,
  value,
}: {
  id: string;
  label: string;
  rows: number;
  value: string;
}) {
  return (
    <div class="field copied">
      <label for={id}>{label}</label>
      <textarea id={id} class="secret" rows={rows} readOnly autocomplete="off" spellcheck={false}>
        {value}
      </textarea>
      <p class="actions">
        <button type="button" class="secondary" data-copies={id} hidden>
          Copy {label.toLowerCase() === "url" ? label : label.toLowerCase()}
        </button>
        <span class="quiet" role="status" />
      </p>
    </div>
  );
}
