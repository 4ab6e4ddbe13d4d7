import type { Peer } from "./peer.ts";
import { numberedPayload } from "./speed.ts";

const tickMs = 10;
const answerWithinMs = 10_000;

/** Posts numbers from 1 on at a steady rate, each once, until stopped. */
export function postNumbers(
  { url, key }: Pick<Peer, "url" | "key">,
  perSecond: number,
): { stop: () => Promise<string[]> } {
  const accepted: string[] = [];
  const posts: Promise<void>[] = [];
  const startedAt = performance.now();

  const post = async (number: number) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: numberedPayload(number),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    const text = await response.text();
    if (response.ok) accepted.push(key === "id" ? JSON.parse(text).id : String(number));
  };
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    // No answer, no promise: such a post may have run or not.
    while (posts.length < due) posts.push(post(posts.length + 1).catch(() => {}));
  }, tickMs);

  return {
    /** Resolves with the keys of the posts that were accepted. */
    async stop() {
      clearInterval(timer);
      await Promise.all(posts);
      return accepted;
    },
  };
}
