import type { Answer } from "../../../helpers/http.ts";
import type { TriggerApi } from "../../../helpers/trigger-api.ts";
import type { Recorder, Sent } from "../recorder.ts";

/** All that a chapter of the story needs. */
export interface Story {
  api: TriggerApi;
  recorder: Recorder;
  token: string;
  org: { org: string };
}

export type Send = (id: string, summary: string, sent?: Partial<Sent>) => Promise<Answer>;

/** Returns a sender of requests with the token, to resources below `path`. The default status is 200. */
export function openSender({ recorder, token }: Story, path: Record<string, string>): Send {
  return (id, summary, sent = {}) =>
    recorder.send(id, summary, { token, status: 200, ...sent, path: { ...path, ...sent.path } });
}
