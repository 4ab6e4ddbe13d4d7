import { hourMs, secondMs } from "../durations.ts";
import { mailWaitMs } from "../mail/limit.ts";
import { type Mail, MailProblem } from "../mail/mail.ts";
import type { PreparedMail, Rest, Verdict } from "../outbox/kind.ts";
import { smtpIsNotSet } from "../pipelines/notify/unsendable.ts";
import type { Services } from "../services/services.ts";

type Mailing = Pick<Services, "mailer" | "rateLimiter" | "config" | "clock">;

/** Makes the sending of a mail. Above `MAILS_PER_HOUR` it waits, and so it does while SMTP is not set. */
export async function mailing(
  services: Mailing,
  { organizationId, mail }: { organizationId: string; mail: Mail },
): Promise<PreparedMail | Rest> {
  const { mailer, clock } = services;
  const inMs = (ms: number) => new Date(clock.now().getTime() + Math.max(secondMs, ms));
  if (!mailer) return { rest: inMs(hourMs), problem: smtpIsNotSet };
  const counted = { organizationId, to: mail.to };
  const waitMs = await mailWaitMs(services, counted, { takes: false });
  if (waitMs > 0) return { rest: inMs(waitMs), problem: tooMany };
  return {
    host: mail.to.slice(mail.to.lastIndexOf("@") + 1),
    async send(): Promise<Verdict | Rest> {
      const waitMs = await mailWaitMs(services, counted, { takes: true });
      if (waitMs > 0) return { rest: inMs(waitMs), problem: tooMany };
      try {
        await mailer.send(mail);
        return { outcome: "sent" };
      } catch (error) {
        if (!(error instanceof MailProblem)) throw error;
        const { message: problem, isFinal } = error;
        return isFinal ? { outcome: "failed", problem } : { outcome: "receiver_rests", problem };
      }
    },
  };
}

const tooMany = "The organization or the address has had its mails of this hour (MAILS_PER_HOUR)";
