import { pauseAgent, resumeAgent, stopAgent } from "../../../shared/agents/control.ts";
import { agentPause } from "../../../shared/agents/members.ts";
import { agentPath, loadAgent } from "../address/agent.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { requireValid, tryForm } from "../ui/problems.ts";
import { type PauseDraft, showAgent } from "./show.tsx";

/** POST …/pause {note, minutes} */
export const pauseAgentForm = memberAction(async (services, request, form) => {
  const agent = await loadAgent(services, request);
  const draft = { note: form.get("note") ?? "", minutes: (form.get("minutes") ?? "").trim() };
  const outcome = await tryForm(async () => pauseAgent(services, request.actor, agent, requirePause(draft)), {
    note: "note",
    timeout_in_minutes: "minutes",
  });
  if ("problems" in outcome) return showAgent(services, request, { problems: outcome.problems, draft });
  return withNotice(agentPath(request.organization.slug, agent), "agent_paused");
});

/** @throws Refusal 422 */
function requirePause({ note, minutes }: PauseDraft) {
  const given = minutes === "" ? null : /^[1-9]\d*$/.test(minutes) ? Number(minutes) : Number.NaN;
  requireValid(agentPause, { note, timeout_in_minutes: given });
  return { note: note || null, minutes: given };
}

/** POST …/resume. After a double click the agent is resumed already. */
export const resumeAgentForm = memberAction(async (services, request) => {
  const agent = await loadAgent(services, request);
  const outcome = await tryForm(() => resumeAgent(services, request.actor, agent));
  const path = agentPath(request.organization.slug, agent);
  return "done" in outcome ? withNotice(path, "agent_resumed") : path;
});

/** POST …/stop {force} */
export const stopAgentForm = memberAction(async (services, request, form) => {
  const agent = await loadAgent(services, request);
  const outcome = await tryForm(() => stopAgent(services, request.actor, agent, form.get("force") === "1"));
  const path = agentPath(request.organization.slug, agent);
  return "done" in outcome ? withNotice(path, "agent_stopped") : path;
});

/** GET of a form-only address: a visitor whose session ended returns here after signing in. */
export const redirectToAgent = memberPage(async (services, request) => {
  const agent = await loadAgent(services, request);
  return agentPath(request.organization.slug, agent);
});
