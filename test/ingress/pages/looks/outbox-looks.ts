import type { Page } from "playwright-core";
import { putMessages } from "../../../../shared/outbox/put.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

interface Exhibits {
  /** The path of the page. */
  outbox: string;
}

export const outboxLooks: Look<Exhibits>[] = [
  { name: "messages", as: "ada", visit: (page: Page, { outbox }: Exhibits) => page.goto(outbox) },
  {
    name: "messages, failed",
    as: "ada",
    visit: (page: Page, { outbox }: Exhibits) => page.goto(`${outbox}?state=failed`),
  },
];

/** Writes messages of Globex: one was not tried yet, two failed. */
export async function exhibitMessages({ services: { db, clock }, globex }: Pages): Promise<string> {
  const message = { kind: "service" as const, receiver: "a", event: "build.finished" };
  const now = clock.now();
  await db.transaction(async (tx) => {
    const { outbox } = tx.tables;
    await putMessages(tx, globex.id, [message, { ...message, kind: "status" }, { ...message, kind: "mail" }]);
    const request = { method: "POST", host: `${"a-long-name.".repeat(10)}example.com`, bytes: 20 };
    const tried = { tries: 3, request, answerStatus: 500, answer: "Internal Server Error ".repeat(40) };
    await tx.update(outbox).set(tried);
    await putMessages(tx, globex.id, [message]);
    const [first] = await tx.select().from(outbox);
    if (first)
      await tx.insertMany(outbox, [
        { ...first, id: `${first.id.slice(0, -4)}0000`, state: "failed", endedAt: now },
      ]);
  });
  return "/organizations/globex/outbox";
}
