import { MIMEType } from "node:util";

/** Returns the media type of a Content-Type header without its parameters; empty if it is malformed. */
export function mediaType(header: string | null): string {
  try {
    return new MIMEType(header ?? "").essence;
  } catch {
    return "";
  }
}

/** Returns true unless the header names another charset than UTF-8. */
export function hasUtf8Charset(header: string | null): boolean {
  // MIMEType drops malformed parameters, and so would take an empty charset for none.
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(header ?? "") ?? [];
  return /^utf-?8$/i.test(charset);
}
