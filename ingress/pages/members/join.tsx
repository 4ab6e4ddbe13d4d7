import {
  acceptInvitation,
  registerByInvitation,
  requireOpenInvitation,
} from "../../../shared/accounts/invitations.ts";
import { maxNameLength } from "../../../shared/accounts/organizations.ts";
import { startSession } from "../../../shared/accounts/sessions.ts";
import { minPasswordLength, type NewUser } from "../../../shared/accounts/users.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { setSignInCookies, type Visitor } from "../../auth/session.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitSignInFailures } from "../../http/limits/limits.ts";
import { pathParameter } from "../../http/routing.ts";
import { Field, FormError, LinkButton, PostButton, PostForm } from "../ui/form.tsx";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { action, type PageContent, type PageRequest, page, signInAndReturnTo } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";

type Open = Awaited<ReturnType<typeof requireOpenInvitation>>;

interface Refused {
  name: string;
  email: string;
  problems: FormProblems;
}

/** GET /invitations/:token */
export const joinPage = page(async (services, request) => {
  const token = tokenOf(request);
  return show(request.visitor, token, await requireOpenInvitation(services, token));
});

/** POST /invitations/:token {name, email, password}, or nothing by a user who is signed in. */
export const joinForm = action(async (services, request, form) => {
  const { user } = request.visitor;
  const token = tokenOf(request);
  const open = await requireOpenInvitation(services, token);
  const field = (name: string) => (form.get(name) ?? "").trim();
  const given = { name: field("name"), email: field("email"), password: form.get("password") ?? "" };
  const outcome = await tryForm(
    () => (user ? acceptInvitation(services, token, user) : register(services, request, token, given)),
    { name: "name", email: "email", password: "password" },
  );
  if ("problems" in outcome)
    return show(request.visitor, token, open, { ...given, problems: outcome.problems });
  return withNotice(pathTo(patterns.pipelinesPage, { org: open.organization.slug }), "joined");
});

/**
 * Registers a user, and signs in as it. A taken address counts as a failed sign-in: the answer says that it exists.
 * @throws Refusal 404, 422, 429, 503
 */
async function register(
  services: Services,
  { event, visitor }: PageRequest,
  token: string,
  given: NewUser,
): Promise<void> {
  const user = await limitSignInFailures(services, given.email, clientIp(event), (caller) =>
    registerByInvitation(services, token, given, caller),
  );
  if (!user) throw unprocessable({ field: "email", message: "This address has an account: sign in with it" });
  const session = await startSession(services, user, visitor.token);
  if (session) setSignInCookies(services, event, { token: session, user });
}

function tokenOf({ event }: PageRequest): string {
  return pathParameter(event, "token") ?? "";
}

function show(
  visitor: Visitor,
  token: string,
  { organization, invitation, inviter }: Open,
  refused?: Refused,
): PageContent {
  const path = pathTo(patterns.invitation, { token });
  return narrowPage({
    title: `Join ${organization.name}`,
    problems: refused?.problems,
    script: "once.js",
    content: (
      <>
        <p>
          {inviter} invites you to be {invitation.role === "admin" ? "an admin" : "a member"} of{" "}
          <code>{organization.slug}</code>. This link works once.
        </p>
        {visitor.user ? (
          <JoinAs visitor={visitor} path={path} refused={refused} />
        ) : (
          <Register visitor={visitor} path={path} refused={refused} />
        )}
      </>
    ),
  });
}

interface FormProps {
  visitor: Visitor;
  path: string;
  refused: Refused | undefined;
}

function JoinAs({ visitor, path, refused }: FormProps) {
  return (
    <>
      <FormError problems={refused?.problems} />
      <p>
        You are signed in as {visitor.user?.name} ({visitor.user?.email}). To join as somebody else, sign out
        first and open the link again.
      </p>
      <PostButton path={path}>Join</PostButton>
    </>
  );
}

function Register({ path, refused }: FormProps) {
  const { name, email, problems } = refused ?? {};
  return (
    <>
      <p>
        <LinkButton kind="secondary" href={signInAndReturnTo(path)} text="I have an account" />
      </p>
      <h2>New account</h2>
      <PostForm path={path} problems={problems} button="Create account and join">
        <Field
          label="Your name"
          name="name"
          value={name}
          maxLength={maxNameLength}
          autocomplete="name"
          required
          problems={problems}
        />
        <Field
          label="Email address"
          name="email"
          type="email"
          value={email}
          autocomplete="username"
          required
          problems={problems}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={minPasswordLength}
          required
          hint={`At least ${minPasswordLength} characters.`}
          problems={problems}
        />
      </PostForm>
    </>
  );
}
