import { defineHandler } from "h3";
import { z } from "zod";
import type { Services } from "../../shared/runtime/services.ts";
import { referTo } from "./openapi-answers.ts";

const rootSchema = z.object({
  message: z.string(),
  timestamp: z.int().meta({ description: "The server's time, in seconds since 1970" }),
});

/** GET /v2: a greeting. */
export function apiRoot({ clock }: Services) {
  return defineHandler(
    (): z.infer<typeof rootSchema> => ({
      message: "This is the Signalbox REST API.",
      timestamp: Math.floor(clock.now().getTime() / 1000),
    }),
  );
}

/** Describes the root in the OpenAPI document. It is no `operation`, because it needs no token. */
export function describeRoot(schemaOf: (schema: z.ZodType) => unknown) {
  return {
    get: {
      operationId: "getRoot",
      tags: ["Root"],
      summary: "Whether the API is there",
      security: [],
      parameters: [],
      responses: {
        "200": {
          description: "A greeting",
          headers: referTo(["X-Request-Id"]),
          content: { "application/json": { schema: schemaOf(rootSchema) } },
        },
      },
    },
  };
}
