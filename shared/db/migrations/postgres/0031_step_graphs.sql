CREATE TABLE "build_graphs" (
	"build_id" uuid PRIMARY KEY NOT NULL,
	"tree" json,
	"warnings" json
);
--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "options" json;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "uploaded_environment_sealed" text;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "has_graph" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "failing_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "broken_reason" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "priority" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "agent_rules" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "arrived_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "configuration" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "document" json;--> statement-breakpoint
ALTER TABLE "build_graphs" ADD CONSTRAINT "build_graphs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_preferred" ON "agents" USING btree ("queue_id","priority","id") WHERE "agents"."priority" is not null and "agents"."state" = 'connected' and "agents"."job_id" is null;--> statement-breakpoint
CREATE INDEX "builds_uploaded_sealing_key" ON "builds" USING btree (substr("uploaded_environment_sealed", length("uploaded_environment_sealed") - 8),"id") WHERE "builds"."uploaded_environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("queue_id","agent_rules","priority" desc,coalesce("arrived_at", "scheduled_at"),"id") WHERE "jobs"."state" = 'scheduled';