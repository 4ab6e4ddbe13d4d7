/** A mail to one address, ready to be sent. Header lines are encoded where it is sent: texts may have any characters. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Ends such mails: by a POST without more, or by a page (RFC 8058). */
  unsubscribeUrl?: string;
  /** Equal for repetitions, so that mail programs show one. */
  id?: string;
}

/** A mail that the server did not take. The message is a sentence for people, without the address and without secrets. */
export class MailProblem extends Error {
  override readonly name = "MailProblem";
  /** The server refused the mail or its address for good. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal }: { isFinal: boolean }) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Makes one line of a text, for headers. */
export function oneLine(text: string, maxLength = 200): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return [...line].length > maxLength ? `${[...line].slice(0, maxLength - 1).join("")}…` : line;
}
