import { Answers } from "./answers.ts";
import { type Answer, KeptConnection } from "./kept-connection.ts";
import type { FormLoad, LoadResult } from "./load.ts";
import { postBytes } from "./request.ts";

/** Ends the run if a server hangs. */
const patienceMs = 10_000;
const maxFirstWaitMs = 10_000;

/** Replaces autocannon, which does not check answers. */
export async function sendForms(load: FormLoad): Promise<LoadResult> {
  const { url, connections, until, wanted } = load;
  const requests = formRequests(load);
  const all = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(new URL(url))));
  const answers = new Answers();
  const startedAt = performance.now();
  const lengthMs = until === "each was sent once" ? maxFirstWaitMs : until.seconds * 1000;
  let sent = 0;

  const nextRequest = () => {
    if (until === "each was sent once") return requests[sent++];
    return performance.now() - startedAt < lengthMs ? requests[sent++ % requests.length] : undefined;
  };
  const keepSending = async (connection: KeptConnection) => {
    for (let request = nextRequest(); request; request = nextRequest()) {
      const sentAt = performance.now();
      const answer = await connection.send(request);
      addAnswer(answers, wanted, { ...answer, ms: performance.now() - sentAt });
    }
  };

  const close = () => {
    for (const connection of all) connection.close();
  };
  const giveUp = setTimeout(close, lengthMs + patienceMs);
  const ends = await Promise.allSettled(all.map(keepSending));
  clearTimeout(giveUp);
  close();
  return answers.result(ends.filter(({ status }) => status === "rejected").length);
}

export function formRequests({ url, forms }: Pick<FormLoad, "url" | "forms">): Buffer[] {
  return forms.map((form) => postBytes(url, "application/x-www-form-urlencoded", form));
}

export function addAnswer(
  answers: Answers,
  wanted: FormLoad["wanted"],
  answer: Answer & { ms: number },
): void {
  if (isWanted(answer, wanted)) answers.accept(answer.ms);
  else answers.refuse(kindOf(answer));
}

function isWanted({ status, body }: Answer, wanted: FormLoad["wanted"]): boolean {
  return status === wanted.status && wanted.texts.some((text) => body.includes(text));
}

/** Few kinds, and no token. */
function kindOf({ status, body }: Answer): string {
  return [status, /"error": ?"(\w+)"/.exec(body.toString("latin1"))?.[1]].filter(Boolean).join(" ");
}
