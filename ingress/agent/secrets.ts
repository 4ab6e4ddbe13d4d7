import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { readSecret } from "../../shared/secrets/read.ts";
import type { Services } from "../../shared/services/services.ts";
import { setHeader } from "../http/respond.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, tag } from "./answers.ts";

const secret = z.object({ key: z.string(), value: z.string(), uuid: field.id });

/** The call by which agents fetch the secrets of a job. */
export function secretOperations(services: Services): Operation[] {
  return [
    operation({
      tag,
      caller: "lease",
      methods: ["GET"],
      path: patterns.secretOfJob,
      id: "getSecretOfJob",
      summary: "Read a secret of the job's cluster",
      description: "Agents keep the value out of the log of the job. The server does not look for it there.",
      query: { key: z.string().meta({ description: "In any case" }) },
      success: answer(secret, "The secret"),
      refusals: {
        403: ["its policy does not let the job read it", "the build comes from a fork"],
        404: ["no such secret"],
      },
      run: async ({ job, build, event }) => {
        const named = event.url.searchParams.get("key") ?? "";
        const { id, key, value } = await readSecret(services, { queueId: job.queueId, build }, named);
        setHeader(event, "Cache-Control", "private, no-store");
        return { key, value, uuid: id };
      },
    }),
  ];
}
