import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { unread } from "../operations/reported.ts";
import { answer, done, tag } from "./answers.ts";

const asked = z.object({ target_paths: unread, cache_key: unread });

/**
 * The calls of agents' `cache` commands. This server keeps no caches: a restore finds nothing (missing.ts), a save is
 * told that there is nothing to do, and the job goes on.
 */
export function cacheOperations(): Operation[] {
  const caller = "agentOrJob" as const;
  return [
    operation({
      tag,
      caller,
      methods: ["GET"],
      path: patterns.cacheRegistry,
      id: "getCacheRegistry",
      summary: "A registry of caches: any name is one, and keeps nothing",
      success: answer(z.object({ uuid: field.id, name: z.string(), store: z.string() })),
      run: async ({ agent, parameter }) => ({
        uuid: agent.clusterId,
        name: parameter("registry"),
        store: "",
      }),
    }),
    operation({
      tag,
      caller,
      methods: ["POST"],
      path: patterns.peekCache,
      id: "peekCache",
      summary: "Say that an entry exists, so that an agent saves none",
      body: { schema: asked, isReport: true },
      success: answer(z.object({ store: z.string(), message: z.string() })),
      run: async ({ readBody }) => {
        await readBody();
        return { store: "", message: "This server keeps no caches" };
      },
    }),
    operation({
      tag,
      caller,
      methods: ["POST"],
      path: patterns.expireCache,
      id: "expireCache",
      summary: "Expire an entry: there is none",
      body: { schema: asked, isReport: true },
      success: done,
      run: async ({ readBody }) => {
        await readBody();
        return {};
      },
    }),
  ];
}
