import { z } from "zod";
import { findBuildMails } from "../../../shared/accounts/member-store.ts";
import { chooseBuildMails } from "../../../shared/accounts/members.ts";
import { patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { buildMails } from "../../../shared/vocabulary.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";

const tag = "User";
const choice = z.enum(buildMails, { error: `Build mails must be one of ${buildMails.join(", ")}` });

const mailsSchema = z
  .object({
    build_mails: choice.meta({
      description: "The user's own builds of which they get mail: those that fail, all, none",
    }),
    email: z.string().meta({ description: "The address that mails go to" }),
  })
  .meta({ id: "Mails" });

/** The mails that the token's user gets from an organization. */
export function mailOperations(services: Services): Operation[] {
  const present = async ({ caller: { organization, user } }: Pick<Call<unknown>, "caller">) => {
    const chosen = await findBuildMails(services.db, organization.id, user.id);
    if (!chosen) throw notFound("member");
    return { build_mails: chosen, email: user.email };
  };
  return [
    operation({
      methods: ["GET"],
      path: patterns.mails,
      id: "getMails",
      tag,
      summary: "The mails that the user of the token gets from an organization",
      scope: "read_user",
      success: { status: 200, schema: mailsSchema, description: "The choice" },
      run: present,
    }),
    operation({
      methods: ["PATCH"],
      path: patterns.mails,
      id: "updateMails",
      tag,
      summary: "Choose which mails the user of the token gets from an organization; an absent member stays",
      scope: "write_user",
      body: { schema: z.object({ build_mails: choice.optional() }) },
      refusals: { 422: ["Validation failed: …"] },
      success: { status: 200, schema: mailsSchema, description: "The changed choice" },
      run: async (call) => {
        const { organization, user } = call.caller;
        const before = await present(call);
        const { build_mails = before.build_mails } = await call.readBody();
        await chooseBuildMails(services, { organizationId: organization.id, userId: user.id }, build_mails);
        return { ...before, build_mails };
      },
    }),
  ];
}
