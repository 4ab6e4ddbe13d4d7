CREATE TABLE "bulk_rebuilds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"trigger_id" uuid NOT NULL,
	"filter" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"total" integer NOT NULL,
	"last_delivery_id" uuid NOT NULL,
	"position" uuid,
	"built" integer NOT NULL,
	"skipped" integer NOT NULL,
	"failed" integer NOT NULL,
	"canceled_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_trigger" ON "bulk_rebuilds" USING btree ("trigger_id","id");--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_running" ON "bulk_rebuilds" USING btree ("organization_id","trigger_id") WHERE "bulk_rebuilds"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_age" ON "bulk_rebuilds" USING btree ("finished_at");