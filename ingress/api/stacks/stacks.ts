import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { countReserved } from "../../../shared/agents/stacks/job-store.ts";
import { findStack, listStacksPage, type Stack } from "../../../shared/agents/stacks/store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPage } from "../../http/number-pager.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";
import { presentStack, stackSchema } from "./json.ts";

const maxCountedReserved = 1000;
const reading = { tag: "Agents", scope: "read_agents" as const };

/** Stacks, as people and scripts see them. They register themselves (`ingress/agent/stacks`). */
export function stackOperations(services: Services): Operation[] {
  const { db, config } = services;
  const present = async (organization: Organization, stacks: Stack[]) => {
    const queues = await listQueuesById(
      db,
      stacks.map(({ queueId }) => queueId),
    );
    const reserved = await countReserved(
      db,
      stacks.map(({ id }) => id),
      maxCountedReserved,
    );
    return stacks.map((stack) => presentStack({ config, organization, queues, reserved }, stack));
  };
  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.stacks,
      id: "listStacks",
      summary: "The connected and lost stacks of an organization, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(stackSchema), description: "A page of stacks" },
      run: async ({ event, caller: { organization } }) => {
        const page = readPage(event);
        const list = await listStacksPage(db, { organizationId: organization.id }, page);
        linkPages(event, { ...list, page }, config.baseUrl);
        return present(organization, list.rows);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.stack,
      id: "getStack",
      summary: "A stack",
      success: { status: 200, schema: stackSchema, description: "The stack" },
      run: async ({ caller: { organization }, parameter }) => {
        const id = parameter("stack");
        const stack = isId(id) ? await findStack(db, organization.id, id) : undefined;
        if (!stack) throw notFound("stack");
        return (await present(organization, [stack]))[0];
      },
    }),
  ];
}
