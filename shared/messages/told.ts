import { type BuildState, isBlocked } from "../vocabulary.ts";

// Plain facts of a build or a step, of which chats and mails make their texts.

/** A build that waits for a person is blocked, whatever it would end as. */
export type ToldState = "scheduled" | "running" | "failing" | "blocked" | "canceled" | "canceling" | EndState;
type EndState = "passed" | "failed" | "skipped" | "not_run";

export interface ToldBuild {
  /** Its page. */
  url: string;
  number: number;
  state: ToldState;
  branch: string;
  commit: string;
  message: string;
  /** The name of its pipeline. */
  pipeline: string;
  /** The name of its organization. */
  organization: string;
  /** The name of its author, else of its creator. */
  author: string | null;
  finishedAt: Date | null;
  /** Its work. Null: it has not finished, or never ran. */
  workMs: number | null;
}

export interface ToldStep {
  /** Its label, key or command. */
  name: string;
  /** Its page. */
  url: string;
  outcome: "failing" | "unblocked" | "passed" | "soft_failed" | "hard_failed" | "errored" | "neutral";
}

export interface Told {
  build: ToldBuild;
  /** Absent: the message is about the build. */
  step?: ToldStep | undefined;
}

/** The state as messages tell it. */
export function toldState(state: BuildState): ToldState {
  return isBlocked(state) ? "blocked" : state;
}

export type Tone = "good" | "bad" | "neutral";

const buildWords: Record<ToldState, [word: string, tone: Tone]> = {
  scheduled: ["is scheduled", "neutral"],
  running: ["is running", "neutral"],
  failing: ["is failing", "bad"],
  blocked: ["waits for somebody to unblock it", "neutral"],
  canceling: ["is being canceled", "neutral"],
  canceled: ["was canceled", "neutral"],
  passed: ["passed", "good"],
  failed: ["failed", "bad"],
  skipped: ["was skipped", "neutral"],
  not_run: ["had no step to run", "neutral"],
};

const stepWords: Record<ToldStep["outcome"], [word: string, tone: Tone]> = {
  failing: ["is failing", "bad"],
  unblocked: ["was unblocked", "neutral"],
  passed: ["passed", "good"],
  soft_failed: ["failed softly", "neutral"],
  hard_failed: ["failed", "bad"],
  errored: ["was ended: canceled, timed out or expired", "bad"],
  neutral: ["has ended", "neutral"],
};

/** The outcome as a verb: `failed`. */
export function verbOf({ build, step }: Told): string {
  return (step ? stepWords[step.outcome] : buildWords[build.state])[0];
}

export function toneOf({ build, step }: Told): Tone {
  return (step ? stepWords[step.outcome] : buildWords[build.state])[1];
}

/** The first line of a text, with at most so many characters. */
export function firstLine(text: string, maxLength = 150): string {
  const [line = ""] = text.trim().split(/[\r\n\u2028\u2029]/, 1);
  const clean = line.replace(/\p{Cc}+/gu, " ").trim();
  const characters = [...clean];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : clean;
}

/** A full sha in seven characters; others as they are. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 7) : firstLine(commit, 40);
}

/** `1 m 5 s`. */
export function durationOf({ workMs }: ToldBuild): string | null {
  if (workMs === null) return null;
  const seconds = Math.round(workMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours && `${hours} h`, minutes && `${minutes} m`, hours === 0 && `${seconds % 60} s`];
  return parts.filter(Boolean).join(" ");
}
