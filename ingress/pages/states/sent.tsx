import type { ListedMessage } from "../../../shared/outbox/sent-store.ts";

/** The state of a message in words: `200 in 120 ms`, `waits after 2 tries: It answered 503`. */
export function Sent({
  message,
}: {
  message: Pick<ListedMessage, "state" | "tries" | "answerStatus" | "answer" | "durationMs">;
}) {
  const { state, tries, answerStatus, answer, durationMs } = message;
  const told = answerStatus === null ? (answer ?? "") : `answered ${answerStatus}`;
  const took = durationMs === null ? "" : ` in ${durationMs.toLocaleString("en")} ms`;
  const times = tries === 1 ? "one try" : `${tries} tries`;
  if (state === "sent") return <>{`${told || "sent"}${took}`}</>;
  if (state === "dropped") return <>{`not sent: ${answer ?? "dropped by an operator"}`}</>;
  if (state === "failed") return <strong>{`failed after ${times}: ${told}`}</strong>;
  return <>{tries === 0 ? "waits" : `waits after ${times}: ${told}`}</>;
}
