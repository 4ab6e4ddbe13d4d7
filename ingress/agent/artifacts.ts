import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, tag } from "./answers.ts";

const unread = z.string().optional().meta({ description: "Makes no difference" });

/** There are no artifacts of any build. Agents would repeat a refusal for 45 seconds. */
export const artifactOperations: Operation[] = [
  operation({
    tag,
    caller: "agentOrJob",
    methods: ["GET"],
    path: patterns.searchArtifacts,
    id: "searchArtifacts",
    summary: "Search the artifacts of a build, of which there are none",
    query: { query: unread, scope: unread, state: unread },
    success: answer(z.array(z.object({})).max(0)),
    run: async () => [],
  }),
];
