import { sql } from "drizzle-orm";
import type { DeviceCodeState } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { OauthTables } from "./oauth.ts";

export function defineDeviceTables(
  kit: Kit,
  { users, applications }: Pick<AccountsTables, "users"> & Pick<OauthTables, "applications">,
) {
  const { table, index, uniqueIndex, uuid, text, boolean, time, json } = kit;

  /** A device that asks to be signed in (RFC 8628). The states and their transitions: `device/store.ts`. */
  const deviceCodes = table(
    "device_codes",
    {
      id: uuid().primaryKey(),
      deviceCodeHash: text("device_code_hash").notNull().unique(),
      /** HMAC under SECRET_KEY: a user code has too few values for a plain hash to hide it. */
      userCodeMac: text("user_code_mac").notNull(),
      applicationId: uuid("application_id")
        .notNull()
        .references(() => applications.id),
      scopes: json<string[]>().notNull(),
      state: text().$type<DeviceCodeState>().notNull(),
      /** The organization to preselect, as the client asked. */
      preselectedOrganizationId: uuid("hinted_organization_id"),
      requestIp: text("request_ip").notNull(),
      requestUserAgent: text("request_user_agent"),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
      /** Who entered the code: the only one who may decide. */
      claimedById: uuid("claimed_by_id").references(() => users.id),
      /** Whether the code was in the address and not typed, so that the user has to say whose device it is. */
      cameByLink: boolean("came_by_link").notNull(),
      decidedAt: time("decided_at"),
      organizationId: uuid("organization_id"),
      grantedScopes: json<string[]>("granted_scopes"),
      approvedUserAgent: text("approved_user_agent"),
      approvedIp: text("approved_ip"),
    },
    (t) => [
      uniqueIndex("device_codes_user_code").on(t.userCodeMac).where(sql`${t.state} = 'pending'`),
      index("device_codes_claim").on(t.userCodeMac, t.claimedById),
      index("device_codes_expiry").on(t.expiresAt),
    ],
  );

  return { deviceCodes };
}

export type DeviceTables = ReturnType<typeof defineDeviceTables>;
