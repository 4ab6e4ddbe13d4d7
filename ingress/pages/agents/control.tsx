import { pauseAgent, resumeAgent, stopAgent } from "../../../shared/agents/control.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { pauseNote, problemsOf } from "../../../shared/validation.ts";
import { seeOther } from "../../http/respond.ts";
import { agentPath, loadAgent } from "../address/agent.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { tryForm } from "../ui/problems.ts";
import { type PauseDraft, showAgent } from "./show.tsx";

const maxMinutes = 7 * 24 * 60;

/** POST …/pause {note, minutes} */
export const pauseAgentForm = memberAction(async (services, request, form) => {
  const agent = await loadAgent(services, request);
  const draft = { note: form.get("note") ?? "", minutes: (form.get("minutes") ?? "").trim() };
  const outcome = await tryForm(async () => pauseAgent(services, request.actor, agent, requirePause(draft)), {
    note: "note",
    minutes: "minutes",
  });
  if ("problems" in outcome) return showAgent(services, request, { problems: outcome.problems, draft });
  return withNotice(agentPath(request.organization.slug, agent), "agent_paused");
});

/** @throws Refusal 422 */
function requirePause({ note, minutes }: PauseDraft) {
  const problems = problemsOf(pauseNote, note, "note");
  const isNumber = /^[1-9]\d{0,4}$/.test(minutes) && Number(minutes) <= maxMinutes;
  if (minutes !== "" && !isNumber)
    problems.push({ field: "minutes", message: `Minutes must be a whole number from 1 to ${maxMinutes}` });
  if (problems.length > 0) throw validationFailed(...problems);
  return { note: note || null, minutes: minutes === "" ? null : Number(minutes) };
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
  return seeOther(agentPath(request.organization.slug, agent));
});
