import { Answers } from "./answers.ts";
import { KeptConnection } from "./kept-connection.ts";
import type { Calls, LoadResult } from "./load.ts";
import { callBytes } from "./request.ts";

/** Ends the run if a server hangs. */
const patienceMs = 10_000;

/** Finishes the last round of calls. */
export async function callInTurn({ calls, token, seconds, connections }: Calls): Promise<LoadResult[]> {
  const [first] = calls;
  if (!first) return [];
  const { url } = first;
  const all = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(new URL(url))));
  const close = () => {
    for (const connection of all) connection.close();
  };
  const giveUp = setTimeout(close, seconds * 1000 + patienceMs);
  const measured = calls.map((call) => ({ request: callBytes(call, token), answers: new Answers() }));

  const endAt = performance.now() + seconds * 1000;
  const keepCalling = async (connection: KeptConnection) => {
    while (performance.now() < endAt) {
      for (const { request, answers } of measured) {
        const sentAt = performance.now();
        const { status } = await connection.send(request);
        answers.add(status, performance.now() - sentAt);
      }
    }
  };
  try {
    await Promise.all(all.map(keepCalling));
  } finally {
    clearTimeout(giveUp);
    close();
  }
  return measured.map(({ answers }) => answers.result(0));
}
