import { isLoopback } from "../../../shared/settings/urls.ts";

/**
 * A secret or command, with a button that copies it. The page needs `copy.js`; without JavaScript the button stays hidden.
 * @param wrap "off", for commands: lines scroll. Default: they break anywhere.
 */
export function CopyField({
  id,
  label,
  rows,
  value,
  wrap,
}: {
  id: string;
  label: string;
  rows: number;
  value: string;
  wrap?: "off";
}) {
  return (
    <div class="field copied">
      <label for={id}>{label}</label>
      <textarea id={id} class="secret" rows={rows} wrap={wrap} readOnly autocomplete="off" spellcheck={false}>
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

/** Says below the address of a webhook that only senders on this machine reach it, if this is so. @param url may be empty */
export function OnlyLocal({ url }: { url: string }) {
  const { host, origin } = URL.parse(url) ?? {};
  if (host === undefined || !isLoopback(host)) return null;
  return (
    <p class="quiet">
      Only programs on this machine reach <code>{origin}</code>. For senders elsewhere, set{" "}
      <code>PUBLIC_URL</code> to an address that they reach.
    </p>
  );
}
