import { defineHandler } from "h3";
import { z } from "zod";
import type { Services } from "../../shared/services/services.ts";

export const rootSchema = z.object({
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
