import { z } from "zod";
import type { Notice } from "../../vocabulary.ts";
import { type Member, member } from "../step/declaration.ts";
import { givenNotices } from "./given.ts";
import { kindOf } from "./kinds.ts";

/** The member of steps that may be heard of: commands and groups. */
export const notify: Member<Notice[]> = member({
  given: { notify: givenNotices("Step notify", "step") },
  parse: ({ notify }) => (notify && notify.known.length > 0 ? notify.known : undefined),
  stored: z.array(
    z.object({
      if: z.string().optional(),
      slack: z
        .union([z.string(), z.object({ channels: z.array(z.string()), message: z.string().optional() })])
        .optional(),
      basecamp_campfire: z.string().optional(),
      github_commit_status: z
        .object({ context: z.string().optional(), blocked_builds_as_pending: z.boolean().optional() })
        .optional(),
      github_check: z
        .object({ name: z.string().optional(), output: z.record(z.string(), z.unknown()).optional() })
        .optional(),
    }),
  ) as z.ZodType<Notice[]>,
  words: (notices) => `notifies ${[...new Set(notices.map(kindOf))].join(", ")}`,
});
