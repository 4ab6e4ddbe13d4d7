import { z } from "zod";
import { findMember, listMembersPage } from "../../../shared/accounts/member-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import { readPage } from "../../http/number-pager.ts";
import { operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";

const memberSchema = z
  .object({
    id: field.id.meta({ description: "Of the user" }),
    name: z.string(),
    email: z.string(),
    role: z.enum(["admin", "member"]),
  })
  .meta({ id: "Member" });

const tag = "Organizations";
const scope = "read_organizations" as const;

export function memberOperations({ db, config }: Services) {
  return [
    operation({
      methods: ["GET"],
      path: patterns.members,
      id: "listMembers",
      tag,
      summary: "The members of an organization, in the order in which they joined",
      scope,
      query: pageQuery,
      success: { status: 200, schema: z.array(memberSchema), description: "A page of members" },
      run: async ({ event, caller }) => {
        const page = readPage(event);
        const list = await listMembersPage(db, caller.organization.id, page);
        linkPages(event, { ...list, page }, config.baseUrl);
        return list.rows.map(presentMember);
      },
    }),
    operation({
      methods: ["GET"],
      path: patterns.member,
      id: "getMember",
      tag,
      summary: "A member",
      scope,
      success: { status: 200, schema: memberSchema, description: "The member" },
      run: async ({ caller, parameter }) => {
        const id = parameter("member");
        const member = isId(id) ? await findMember(db, caller.organization.id, id) : undefined;
        if (!member) throw notFound("member");
        return presentMember(member);
      },
    }),
  ];
}

function presentMember({ id, name, email, role }: { id: string; name: string; email: string; role: Role }) {
  return { id, name, email, role };
}
