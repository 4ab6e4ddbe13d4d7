import { type Link, layOut, type MailText } from "./mail-layout.ts";
import { durationOf, firstLine, shortCommit, type Told, toneOf, verbOf } from "./told.ts";

// Mails about builds.

interface Around {
  /** Why its reader gets it, as a sentence. */
  reason: string;
  /** Where its reader changes that. */
  ways?: Link[];
}

export function mailOf(told: Told, around: Around): MailText {
  const { build } = told;
  const name = `${firstLine(build.pipeline, 100)} #${build.number}`;
  return layOut({
    subject: `${stateOf(told)}: ${name} (${firstLine(build.branch, 80)})`,
    headline: `${name} ${verbOf(told)}`,
    tone: toneOf(told),
    facts: [
      ["Branch", firstLine(build.branch)],
      ["Commit", shortCommit(build.commit)],
      ["Message", firstLine(build.message)],
      ["Author", build.author && firstLine(build.author)],
      ["Took", durationOf(build)],
      ["In", firstLine(build.organization)],
    ],
    link: { words: "Show the build", url: build.url },
    ...around,
  });
}

/** `Failed`, `Blocked` */
function stateOf({ build: { state } }: Told): string {
  const words = state === "not_run" ? "not run" : state;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
