import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Timeline } from "../../scripts/prove/timeline.ts";
import { bodyOf } from "../../scripts/prove/traffic/bodies.ts";
import { call } from "../../scripts/prove/traffic/call.ts";
import type { Post } from "../../scripts/prove/traffic/observed.ts";

const maxAttempts = 200;
const pauseMs = 40;

/** Posts webhooks to the addresses, which may change meanwhile. Half of them are repeated until they are answered 201. */
export function startSenders(count: number, urls: string[], token: string) {
  const posts: Post[] = [];
  const timeline = new Timeline();
  let isOver = false;

  const send = async (post: Post) => {
    const headers = { "Content-Type": "application/json", ...(post.key && { "Idempotency-Key": post.key }) };
    for (let attempt = 0; attempt < (post.key ? maxAttempts : 1); attempt++) {
      const url = urls[(post.number + attempt) % urls.length];
      const init = { name: "POST /deliver", method: "POST", headers, body: bodyOf(post.number, true) };
      const answer = await call({ timeline, attempts: post.attempts }, `${url}/deliver/${token}`, init);
      if (answer.status === 201) return post.ids.push(answer.body.id);
      await sleep(pauseMs * 5);
    }
  };
  const lane = async () => {
    while (!isOver) {
      const key = posts.length % 2 === 0 ? randomUUID() : undefined;
      const post = {
        number: posts.length + 1,
        trigger: "plain" as const,
        builds: true,
        isForged: false,
        key,
      };
      const observed: Post = { ...post, attempts: [], ids: [] };
      posts.push(observed);
      await send(observed);
      await sleep(pauseMs);
    }
  };
  const lanes = Array.from({ length: count }, lane);
  return {
    posts,
    countAnswers: () => {
      const answers = posts.flatMap(({ attempts }) =>
        attempts.map(({ answer }) => answer.split(" ")[0] ?? ""),
      );
      return Object.fromEntries(
        [...Map.groupBy(answers, String)].map(([answer, all]) => [answer, all.length]),
      );
    },
    async stop() {
      isOver = true;
      await Promise.all(lanes);
    },
  };
}
