CREATE TABLE "record_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "record_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "stored_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "record_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "record_totals" ADD CONSTRAINT "record_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "record_totals_hour" ON "record_totals" USING btree ("hour");--> statement-breakpoint
INSERT INTO "settings" ("name", "value") VALUES ('records_counted_below', '00000000-0000-0000-0000-000000000000');
