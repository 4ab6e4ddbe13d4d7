import assert from "node:assert/strict";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { deleteTriggersOfPipeline } from "../../../../shared/pipelines/store.ts";
import { findTrigger, listTriggersOfPipeline } from "../../../../shared/triggers/store.ts";
import type { TestDatabase } from "../../../helpers/databases.ts";
import type { Answer } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

type Fields = Record<string, string>;
export type TriggerPages = Awaited<ReturnType<typeof startTriggerPages>>;

export const triggersPath = "/organizations/acme/pipelines/web/triggers";

export const form = {
  type: "webhook",
  label: "Nightly",
  branch: "main",
  commit: "HEAD",
  message: "Triggered build",
  enabled: "1",
};

/** Bob is a member, not an admin, of acme. */
export async function startTriggerPages(database: TestDatabase) {
  const pages = await startQueuePages(database);
  const { services, actor, acme, clock } = pages;
  const member = await pages.visitor(pages.bob);
  const pipelineId = acme.pipeline.id;
  return {
    ...pages,
    /** Bob's visitor. */
    member,
    present: () => listTriggersOfPipeline(services.db, pipelineId),
    find: async (id: string) =>
      (await findTrigger(services.db, { pipelineId, id })) ?? assert.fail("There is no such trigger."),
    /** Frees the ten places of a pipeline. */
    clear: () =>
      services.db.transaction((tx) =>
        deleteTriggersOfPipeline(tx, pipelineId, { now: clock.now(), userId: actor.userId }),
      ),
    /** Returns fields with a new form's id. */
    newForm: async (fields: Fields = {}): Promise<Fields & { id: string }> => ({
      ...form,
      id: hiddenId(await member.get(`${triggersPath}/new`)),
      ...fields,
    }),
    /** Creates a pipeline and returns its triggers' path. */
    async ofOwn(slug: string) {
      const steps = [{ command: "make" }];
      await createPipeline(services, actor, { clusterId: acme.cluster.id, name: slug, slug, steps });
      return `/organizations/acme/pipelines/${slug}/triggers`;
    },
  };
}

/** Decodes HTML entities. */
export function read({ text }: Pick<Answer, "text">): string {
  return text
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}

export function hiddenId({ text }: Answer): string {
  return /name="id" value="([^"]+)"/.exec(text)?.[1] ?? "";
}

/** Returns "" if the page shows no URL. */
export function shownUrl({ text }: Answer): string {
  return /<textarea id="endpoint-url"[^>]*>([^<]*)</.exec(text)?.[1] ?? "";
}

export function assertRefused(answer: Answer, reason: string): void {
  assert.equal(answer.status, 422, reason);
  const shown = /id="form-error">(.*?)<\/p>/s.exec(read(answer))?.[1];
  assert.equal(shown, reason);
}
