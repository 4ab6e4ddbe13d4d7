import { z } from "zod";
import { listOf } from "../../collections.ts";
import type { ManualOptions, ManualStep, ManualType } from "../../vocabulary.ts";
import { commonMembers } from "./common.ts";
import { type Members, member, named } from "./declaration.ts";
import { fields } from "./fields.ts";
import { nullable, oneOf, optionalText, text } from "./forms.ts";

// The members of block and input steps.

const maxPromptLength = 10_000;
const maxTextLength = 255;

const teamsError = "Step allowed_teams must be text or a list of text";
const team = text("Step allowed_teams", maxTextLength);
const maxTeams = 100;

/** The members that jobs keep. */
const ownMembers: Members<ManualOptions> = {
  prompt: member({
    given: { prompt: optionalText("Step prompt", maxPromptLength) },
    stored: z.string(),
  }),
  submit: member({
    given: {
      submit: optionalText("Step submit", maxTextLength).meta({
        description: "The text of the button. Default: Continue",
      }),
    },
    stored: z.string(),
  }),
  fields,
  blocked_state: member({
    given: {
      blocked_state: nullable(
        z.enum(["passed", "failed", "running"], {
          error: "Step blocked_state must be passed, failed or running",
        }),
      ).meta({ description: "The state of the build while it waits. Default: passed" }),
    },
    parse: ({ blocked_state }) => (blocked_state === "passed" ? undefined : blocked_state),
    stored: z.enum(["failed", "running"]),
  }),
  allowed_teams: member({
    given: {
      allowed_teams: nullable(
        oneOf(
          {
            text: team,
            list: listOf(team, {
              error: teamsError,
              max: maxTeams,
              tooMany: `Step allowed_teams can be ${maxTeams} at most`,
            }),
          },
          teamsError,
        ).transform((given) => [given].flat()),
      ).meta({ description: "With any value, only admins may unblock it: there are no teams" }),
    },
    parse: ({ allowed_teams }) => (allowed_teams && allowed_teams.length > 0 ? allowed_teams : undefined),
    stored: z.array(z.string()),
    words: () => "(admins only)",
  }),
};

/** The names by which callers give a step of this type. Its text is the label. */
export const namesOfManual: Record<ManualType, [string, ...string[]]> = {
  block: ["block", "manual"],
  input: ["input"],
};

export function manualMembers(type: ManualType): Members<Omit<ManualStep, "type" | "others">> {
  const label = (name: string) => optionalText(name, maxTextLength);
  return {
    ...commonMembers,
    label: member({
      given: { ...named(namesOfManual[type], label), ...named(["label", "name"], label) },
      stored: z.string(),
    }),
    ...ownMembers,
  };
}
