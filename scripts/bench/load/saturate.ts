import autocannon from "autocannon";
import { Answers } from "./answers.ts";
import type { LoadResult, Saturation } from "./load.ts";

const stopWithinMs = 10;

/** Each connection sends the next request once it has its answer. */
export async function saturate({ url, body, connections, until }: Saturation): Promise<LoadResult> {
  const answers = new Answers();
  const run = autocannon({
    url,
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    connections,
    sampleInt: stopWithinMs,
    ...("requests" in until ? { amount: until.requests } : { duration: until.seconds }),
  });
  run.on("response", (_client, status, _bytes, ms) => answers.add(status, ms));
  const { errors } = await run;
  return answers.result(errors);
}
