import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import type { Answer, Declaration } from "./declaration.ts";

/** The only refusal of an address that checks nothing: that of the parser, which any request can get. */
export const parserRefusal: Record<string, Answer> = {
  "431": { description: "The headers are too large", schema: field.problem, headers: [] },
};

const message = z.string().optional().meta({ description: "What is wrong, and what to do" });
const part = z.string().meta({ description: "`ok`, or what is wrong with it" });
const parts = z.record(z.string(), part).optional().meta({ description: "By the name of the part" });

const healthSchema = z.object({
  status: z.literal("ok"),
  installation: z.string().optional().meta({ description: "Names the database; absent until it was read" }),
});
const readySchema = z.object({
  status: z
    .enum(["ok", "degraded"])
    .meta({ description: "`degraded`: a part is away, but webhooks are accepted" }),
  message,
  parts,
  sealed_under_other_keys: z
    .int()
    .optional()
    .meta({ description: "Stored secrets that do not name SECRET_KEY as their key" }),
});
const unreadySchema = z.object({ status: z.enum(["stopping", "unavailable"]), message, parts });

const shared = {
  methods: ["GET"],
  tag: "Installation",
  security: [],
  server: "baseUrl",
} satisfies Partial<Declaration>;

/** Addresses about the installation itself. They need no token. */
export const installationDeclarations: Declaration[] = [
  {
    ...shared,
    path: patterns.healthz,
    id: "getHealth",
    summary: "Whether the process is alive",
    description: "Waits for no database and no Redis.",
    answers: {
      "200": { description: "It is", schema: healthSchema, headers: [] },
      ...parserRefusal,
    },
  },
  {
    ...shared,
    path: patterns.readyz,
    id: "getReadiness",
    summary: "Whether the process can take requests",
    answers: {
      "200": { description: "It can", schema: readySchema, headers: [] },
      "503": { description: "It cannot", schema: unreadySchema, headers: [] },
      ...parserRefusal,
    },
  },
  {
    ...shared,
    path: patterns.openapi,
    id: "getDocument",
    summary: "This document",
    answers: {
      "200": { description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }), headers: [] },
      "304": { description: "It has not changed since the version of If-None-Match", headers: [] },
      ...parserRefusal,
    },
  },
];
