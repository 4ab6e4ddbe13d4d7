import { z } from "zod";
import { isOfFork } from "../../shared/builds/rows/facts.ts";
import {
  allNames,
  isClaim,
  isOptionalClaim,
  optionalNames,
  subjectClaims,
} from "../../shared/identity/claims.ts";
import type { SigningKeys } from "../../shared/identity/keys.ts";
import {
  defaultLifetimeSeconds,
  maxLifetimeSeconds,
  openIdentityTokens,
} from "../../shared/identity/token.ts";
import { patterns } from "../../shared/paths.ts";
import { notFound, Refusal, unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { answer, tag } from "../agent/answers.ts";
import { limitJob } from "../http/limits/limits.ts";
import { type Operation, operation } from "../operations/operation.ts";

const maxAudienceLength = 2048;
const audienceError = `audience must be text of at most ${maxAudienceLength} characters`;
const lifetimeError = `lifetime must be a whole number from 1 to ${maxLifetimeSeconds}`;
const maxNames = 50;
const maxNameLength = 256;

function names(member: string, isKnown: (name: string) => boolean, known: string) {
  return z
    .array(
      z
        .string({ error: `${member} must be a list of names` })
        .refine((name) => name.length <= maxNameLength && isKnown(name), `${member} can have ${known}`),
      { error: `${member} must be a list of names` },
    )
    .max(maxNames, `${member} can have ${maxNames} names at most`)
    .nullish()
    .meta({ description: `${known}` });
}

// Agents may send what was not given as an empty text or 0.
const request = z.object({
  audience: z
    .string({ error: audienceError })
    .max(maxAudienceLength, audienceError)
    .nullish()
    .meta({ description: "Default: the address of the organization's page" }),
  lifetime: z
    .int({ error: lifetimeError })
    .min(0, lifetimeError)
    .max(maxLifetimeSeconds, lifetimeError)
    .nullish()
    .meta({ description: `Seconds. Default: ${defaultLifetimeSeconds}` }),
  claims: names("claims", isOptionalClaim, optionalNames),
  aws_session_tags: names("aws_session_tags", isClaim, allNames),
  subject_claim: z
    .enum(["", ...subjectClaims], { error: `subject_claim must be one of ${subjectClaims.join(", ")}` })
    .nullish()
    .meta({ description: "Its value is the subject of the token" }),
});

/** The call of programs in jobs for an identity token. */
export function identityTokenOperations(services: Services, keys: SigningKeys): Operation[] {
  const issue = openIdentityTokens(services, keys);
  return [
    operation({
      tag,
      caller: "lease",
      methods: ["POST"],
      path: patterns.identityTokens,
      id: "issueIdentityToken",
      summary: "Get a token by which others know the job",
      description:
        "A signed JWT (RFC 7519). Others check it by the key set, to which `/v3/.well-known/openid-configuration` leads.",
      body: { schema: request, isOptional: true, refuse: unprocessable },
      success: answer(z.object({ token: z.string() })),
      refusals: { 403: ["the build comes from a fork"], 429: ["The job asks for too many tokens"] },
      run: async ({ job, build, agent, event, readBody }) => {
        await limitJob(services, "identity-tokens", job.id);
        const { audience, lifetime, claims, aws_session_tags, subject_claim } = await readBody();
        if (!agent) throw notFound("job");
        if (isOfFork(build))
          throw new Refusal(403, "The build comes from a fork: its jobs get no identity tokens");
        const wanted = {
          audience: audience || undefined,
          lifetimeSeconds: lifetime || defaultLifetimeSeconds,
          claims: claims ?? [],
          awsSessionTags: aws_session_tags ?? [],
          subjectClaim: subject_claim || undefined,
        };
        return { token: await issue({ jobId: job.id, build, agent }, wanted, event.req.signal) };
      },
    }),
  ];
}
