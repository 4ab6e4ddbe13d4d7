import { isNotNull, sql } from "drizzle-orm";
import type { DeviceCodeState } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";
import type { AccountsTables } from "./accounts.ts";
import type { OauthTables } from "./oauth.ts";

export function defineDeviceTables(
  kit: Kit,
  { users, applications }: Pick<AccountsTables, "users"> & Pick<OauthTables, "applications">,
) {
  const { table, index, uniqueIndex, uuid, text, boolean, time, json } = kit;

  /** RFC 8628. `device/store.ts` lists the states. */
  const deviceCodes = table(
    "device_codes",
    {
      id: uuid().primaryKey(),
      deviceCodeHash: text("device_code_hash").notNull().unique(),
      /** HMAC under SECRET_KEY: user codes are too few for a plain hash. */
      userCodeMac: text("user_code_mac").notNull(),
      applicationId: uuid("application_id")
        .notNull()
        .references(() => applications.id),
      scopes: json<string[]>().notNull(),
      state: text().$type<DeviceCodeState>().notNull(),
      /** At the client's request. */
      preselectedOrganizationId: uuid("hinted_organization_id"),
      requestIp: text("request_ip").notNull(),
      requestUserAgent: text("request_user_agent"),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
      /** Only this user may decide. */
      claimedById: uuid("claimed_by_id").references(() => users.id),
      /** The code came in the address: the user must confirm the device. */
      cameByLink: boolean("came_by_link").notNull(),
      decidedAt: time("decided_at"),
      organizationId: uuid("organization_id"),
      grantedScopes: json<string[]>("granted_scopes"),
      approvedUserAgent: text("approved_user_agent"),
      approvedIp: text("approved_ip"),
    },
    (t) => [
      uniqueIndex("device_codes_user_code").on(t.userCodeMac).where(sql`${t.state} = 'pending'`),
      // An index of all codes would cost each new one a page, because their order is random. Few are claimed.
      index("device_codes_claimed").on(t.userCodeMac, t.claimedById).where(isNotNull(t.claimedById)),
      index("device_codes_approved").on(t.claimedById, t.organizationId).where(sql`${t.state} = 'approved'`),
      index("device_codes_expiry").on(t.expiresAt),
    ],
  );

  return { deviceCodes };
}
