import { z } from "zod";
import { pauseNote, text } from "../validation.ts";

// The members of agents and of their tokens as callers send them, by REST, pages and the operator's command alike.

/** A week. */
const maxPauseMinutes = 7 * 24 * 60;
const notMinutes = { error: `Timeout in minutes must be a whole number from 1 to ${maxPauseMinutes}` };
const pauseMinutes = z.int(notMinutes).min(1, notMinutes).max(maxPauseMinutes, notMinutes);

export const agentPause = z.object({
  note: pauseNote.nullish(),
  timeout_in_minutes: pauseMinutes
    .nullish()
    .meta({ description: "Resume after this time; absent: until somebody resumes it" }),
});

/** The purpose of a token that registers agents. */
export const tokenDescription = text("Description", 255);
