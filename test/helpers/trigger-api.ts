import assert from "node:assert/strict";
import type { DueWork } from "../../shared/tasks/looks.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { type Api, openApi } from "./api.ts";
import type { TestDatabase } from "./databases.ts";
import { post } from "./http.ts";

export type TriggerApi = Awaited<ReturnType<typeof openTriggerApi>>;

export interface MadeTrigger {
  id: string;
  url: string;
  endpoint_url: string;
}

export async function openTriggerApi(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, { WEBHOOK_URL: "https://hooks.example.com", ...settings });
  const deliveries = openDueDeliveries(api.world.services);
  return {
    ...api,
    ...triggersOf(api, deliveries),
    async close() {
      await deliveries.close();
      await api.close();
    },
  };
}

/** Default pipeline: `web`. */
function triggersOf(api: Api, deliveries: DueWork) {
  const triggersAt = (slug = "web") => `/pipelines/${slug}/triggers`;
  return {
    triggersAt,
    async newTrigger(body: object = {}, slug?: string): Promise<MadeTrigger> {
      const sent = { body: { type: "webhook", label: "Hook", ...body } };
      const answer = await api.send("POST", triggersAt(slug), sent);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },
    post(
      { endpoint_url }: Pick<MadeTrigger, "endpoint_url">,
      body: string | Buffer<ArrayBuffer> = "{}",
      headers: Record<string, string> = {},
      url = api.world.url,
    ) {
      return post(url + new URL(endpoint_url).pathname, body, headers);
    },
    /** Returns the delivery's id. */
    async deliver(
      trigger: MadeTrigger,
      body?: string | Buffer<ArrayBuffer>,
      headers?: Record<string, string>,
    ): Promise<string> {
      const answer = await this.post(trigger, body, headers);
      assert.equal(answer.status, 201, answer.text);
      return answer.body.id;
    },
    /** Decides what is due: these deliveries, and others that wait. */
    async work(..._: string[]): Promise<void> {
      deliveries.wake();
      await deliveries.idle();
    },
  };
}
