import { handleRequests } from "../../shared/process/thread.ts";

/** Handles "throw", "exit", "spin" and "spin 40 ms"; echoes other input. */
handleRequests(({ body }: { body: Uint8Array }) => {
  const told = Buffer.from(body).toString();
  if (told === "throw") throw new Error("thrown in the thread");
  if (told === "exit") process.exit(3);
  while (told === "spin");
  const until = performance.now() + 40;
  while (told === "spin 40 ms" && performance.now() < until);
  return told;
});
