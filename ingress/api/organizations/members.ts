import { z } from "zod";
import { findMember, listMembersPage } from "../../../shared/accounts/member-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import type { Operation } from "../../operations/operation.ts";
import { answerOf } from "../resources/answer.ts";
import { resourceOperations } from "../resources/operations.ts";

interface Member {
  id: string;
  name: string;
  email: string;
  role: Role;
}

const memberAnswer = answerOf<Member>("Member", {
  id: [field.id.meta({ description: "Of the user" }), ({ id }) => id],
  name: [z.string(), ({ name }) => name],
  email: [z.string(), ({ email }) => email],
  role: [z.enum(["admin", "member"]), ({ role }) => role],
});

export function memberOperations(services: Services): Operation[] {
  const { db } = services;
  return resourceOperations(services, {
    tag: "Organizations",
    scopes: { reading: "read_organizations" },
    paths: { list: patterns.members, one: patterns.member },
    json: memberAnswer,
    ownerOf: async ({ caller }) => caller.organization,
    find: async (organization, { parameter }): Promise<Member> => {
      const id = parameter("member");
      const member = isId(id) ? await findMember(db, organization.id, id) : undefined;
      if (!member) throw notFound("member");
      return member;
    },
    list: {
      id: "listMembers",
      summary: "The members of an organization, in the order in which they joined",
      answer: "A page of members",
      read: ({ id }, page) => listMembersPage(db, id, page),
    },
    get: { id: "getMember", summary: "A member", answer: "The member" },
  }).operations;
}
