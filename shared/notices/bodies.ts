import { escapeHtml } from "../messages/html.ts";
import { firstLine, shortCommit, type Told, verbOf } from "../messages/told.ts";

// Bodies for Basecamp and PagerDuty, as their pages for developers describe them.

/** A line of a chat bot of Basecamp, which is HTML. */
export function campfireBody(told: Told): { content: string } {
  const { build, step } = told;
  const link = (url: string, text: string) => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
  const name = link(build.url, `${firstLine(build.pipeline, 100)} #${build.number}`);
  const subject = step ? `${link(step.url, firstLine(step.name, 100))} of ${name}` : name;
  const facts = [firstLine(build.branch, 100), shortCommit(build.commit), firstLine(build.message)];
  return { content: `<b>${subject}</b> ${verbOf(told)}<br>${facts.map(escapeHtml).join(" · ")}` };
}

export const changeEventsUrl = "https://events.pagerduty.com/v2/change/enqueue";
const maxSummaryLength = 1024;

/** A change event of PagerDuty's Events API v2. */
export function changeEventBody(told: Told, { key, source }: { key: string; source: string }): object {
  const { build } = told;
  const { number, branch, commit, message, state, author, finishedAt } = build;
  const summary = `${firstLine(build.pipeline, 100)} #${number} ${verbOf(told)} (${firstLine(branch, 100)})`;
  return {
    routing_key: key,
    payload: {
      summary: firstLine(summary, maxSummaryLength),
      timestamp: (finishedAt ?? new Date(0)).toISOString(),
      source,
      custom_details: {
        state,
        branch: firstLine(branch),
        commit,
        message: firstLine(message),
        ...(author !== null && { author: firstLine(author) }),
      },
    },
    links: [{ href: build.url, text: `Build ${number}` }],
  };
}
