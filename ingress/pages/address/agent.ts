import { requireAgent } from "../../../shared/agents/control.ts";
import type { Agent } from "../../../shared/agents/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";

/** @throws Refusal 404 */
export function loadAgent({ db }: Services, { organization, parameter }: MemberRequest): Promise<Agent> {
  return requireAgent(db, organization.id, parameter("agent"));
}

/** The agent's page, or one below it. */
export function agentPath(
  org: string,
  { id }: Pick<Agent, "id">,
  pattern: PatternWith<"org" | "agent"> = patterns.agentPage,
): string {
  return pathTo(pattern, { org, agent: id });
}
