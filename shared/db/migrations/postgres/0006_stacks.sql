CREATE TABLE "stacks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"queue_id" uuid NOT NULL,
	"key" text NOT NULL,
	"type" text NOT NULL,
	"metadata" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"lost_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "stack_notifications" (
	"id" uuid PRIMARY KEY NOT NULL,
	"job_id" uuid NOT NULL,
	"detail" text NOT NULL,
	"notified_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "stack_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "reserved_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_queue_id_queues_id_fk" FOREIGN KEY ("queue_id") REFERENCES "public"."queues"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stack_notifications" ADD CONSTRAINT "stack_notifications_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "stacks_key" ON "stacks" USING btree ("cluster_id","key");--> statement-breakpoint
CREATE INDEX "stacks_organization" ON "stacks" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "stacks_seen" ON "stacks" USING btree ("lost_at","seen_at");--> statement-breakpoint
CREATE INDEX "stack_notifications_job" ON "stack_notifications" USING btree ("job_id","notified_at","id");--> statement-breakpoint
CREATE INDEX "jobs_scheduled" ON "jobs" USING btree ("queue_id","scheduled_at","id") WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX "jobs_reserved" ON "jobs" USING btree ("reserved_until") WHERE "jobs"."state" = 'reserved';--> statement-breakpoint
CREATE INDEX "jobs_reserved_by" ON "jobs" USING btree ("stack_id","id") WHERE "jobs"."state" = 'reserved';