import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import { operation } from "../operations/operation.ts";

const metaSchema = z.object({
  webhook_ips: z.array(z.string()).meta({ description: "Always empty: this server sends no webhooks" }),
});

export function metaOperations() {
  return [
    operation({
      methods: ["GET"],
      path: patterns.meta,
      id: "getMeta",
      tag: "Meta",
      summary: "Facts about the installation",
      success: { status: 200, schema: metaSchema, description: "The facts" },
      run: async () => ({ webhook_ips: [] }),
    }),
  ];
}
