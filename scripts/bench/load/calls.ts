import { Answers } from "./answers.ts";
import { KeptConnection } from "./kept-connection.ts";
import type { Calls, LoadResult } from "./load.ts";
import { callBytes } from "./request.ts";

/** Ends the run if a server hangs. */
const patienceMs = 10_000;

/** Sends one call after the other. Finishes the last round. */
export async function callInTurn({ calls, token, seconds }: Calls): Promise<LoadResult[]> {
  const [first] = calls;
  if (!first) return [];
  const connection = await KeptConnection.open(new URL(first.url));
  const giveUp = setTimeout(() => connection.close(), seconds * 1000 + patienceMs);
  const measured = calls.map((call) => ({ request: callBytes(call, token), answers: new Answers() }));

  const endAt = performance.now() + seconds * 1000;
  try {
    while (performance.now() < endAt) {
      for (const { request, answers } of measured) {
        const sentAt = performance.now();
        const { status } = await connection.send(request);
        answers.add(status, performance.now() - sentAt);
      }
    }
  } finally {
    clearTimeout(giveUp);
    connection.close();
  }
  return measured.map(({ answers }) => answers.result(0));
}
