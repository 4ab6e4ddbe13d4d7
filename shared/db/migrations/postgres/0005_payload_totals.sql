CREATE TABLE "payload_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "payload_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
ALTER TABLE "payload_totals" ADD CONSTRAINT "payload_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
INSERT INTO "settings" ("name", "value") VALUES ('payloads_counted_below', '00000000-0000-0000-0000-000000000000');
