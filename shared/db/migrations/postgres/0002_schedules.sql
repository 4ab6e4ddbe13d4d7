CREATE TABLE "schedules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"label" text,
	"cronline" text NOT NULL,
	"message" text,
	"commit" text DEFAULT 'HEAD' NOT NULL,
	"branch" text,
	"environment_sealed" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"next_build_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"failed_message" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "schedule_id" uuid;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "scheduled_for" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_pipeline_id_pipelines_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipelines"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "schedules_pipeline" ON "schedules" USING btree ("pipeline_id","id");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("organization_id","next_build_at") WHERE "schedules"."next_build_at" is not null;--> statement-breakpoint
CREATE INDEX "schedules_environment_key" ON "schedules" USING btree (substr("environment_sealed", length("environment_sealed") - 8),"id") WHERE "schedules"."environment_sealed" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "builds_schedule" ON "builds" USING btree ("schedule_id","scheduled_for") WHERE "builds"."schedule_id" is not null;