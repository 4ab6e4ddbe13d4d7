import { secondMs } from "../durations.ts";
import type { Config } from "../settings/config.ts";
import { type Mail, MailProblem, oneLine } from "./mail.ts";

// Mail by SMTP. The operator names the server: unlike targets that people give, it may be inside.

export interface Mailer {
  /** Resolves once the server has taken the mail. @throws MailProblem */
  send(mail: Mail): Promise<void>;
}

/** Of each part of the talk with the server, and of all of it. */
const partMs = 10 * secondMs;
const wholeMs = 30 * secondMs;

/** Undefined: SMTP is not set, and nothing is sent. */
export function openMailer({ smtpUrl, mailFrom }: Pick<Config, "smtpUrl" | "mailFrom">): Mailer | undefined {
  if (smtpUrl === undefined) return undefined;
  let transport: ReturnType<typeof connect> | undefined;
  return {
    async send({ to, subject, text, html, unsubscribeUrl, id }) {
      transport ??= connect(smtpUrl, mailFrom);
      const opened = await transport;
      const signal = AbortSignal.timeout(wholeMs);
      try {
        await opened.sendMail({
          // As an object it is one address, whatever characters it has.
          to: { name: "", address: to },
          subject: oneLine(subject),
          text,
          html,
          headers: { "Auto-Submitted": "auto-generated", ...(unsubscribeUrl !== undefined && oneClick) },
          ...(id !== undefined && { messageId: `<${id}@${domainOf(mailFrom)}>` }),
          ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
          signal,
        });
      } catch (error) {
        throw signal.aborted ? late : problemOf(error);
      }
    },
  };
}

const oneClick = { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };

/** Only processes that send mails load the library. */
async function connect(url: string, from: string) {
  const { createTransport } = await import("nodemailer");
  const options = {
    url,
    connectionTimeout: partMs,
    greetingTimeout: partMs,
    socketTimeout: partMs,
    // No text of a mail names a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return createTransport(options, { from });
}

const late = new MailProblem("The mail server did not answer in time", { isFinal: false });

function domainOf(from: string): string {
  return /@([^\s@>]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
}

interface SmtpError {
  code?: string;
  command?: string;
  responseCode?: number;
  message?: string;
}

/** Answers of servers may repeat the address: only their numbers are said. */
function problemOf(error: unknown): MailProblem {
  if (error instanceof MailProblem) return error;
  const { code = "unknown error", command = "", responseCode, message = "" } = error as SmtpError;
  if (code === "EAUTH")
    return new MailProblem("The mail server refused the user or password of SMTP_URL", retryable);
  if (responseCode !== undefined) {
    const isOfMail = /^(RCPT TO|DATA)/.test(command) || code === "EENVELOPE" || code === "EMESSAGE";
    const isFinal = isOfMail && responseCode >= 500 && command !== "MAIL FROM";
    return new MailProblem(`The mail server answered ${responseCode}${command && ` to ${command}`}`, {
      isFinal,
    });
  }
  if (/certificate|altnames/i.test(message))
    return new MailProblem("The certificate of the mail server is not trusted", retryable);
  return new MailProblem(`The mail server could not be reached (${code})`, retryable);
}

const retryable = { isFinal: false };
