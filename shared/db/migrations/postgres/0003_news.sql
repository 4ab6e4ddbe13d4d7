CREATE TABLE "news" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"event" text NOT NULL,
	"build_id" uuid,
	"job_id" uuid,
	"agent_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"receiver" text NOT NULL,
	"service_id" uuid,
	"connection_id" uuid,
	"build_id" uuid,
	"job_id" uuid,
	"agent_id" uuid,
	"event" text NOT NULL,
	"topic" text,
	"target" json,
	"state" text DEFAULT 'waiting' NOT NULL,
	"revision" integer DEFAULT 0 NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"answer_status" integer,
	"answer" text,
	"duration_ms" integer,
	"request" json
);
--> statement-breakpoint
CREATE TABLE "outbox_receivers" (
	"organization_id" uuid NOT NULL,
	"receiver" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"problem" text,
	CONSTRAINT "outbox_receivers_organization_id_receiver_pk" PRIMARY KEY("organization_id","receiver")
);
--> statement-breakpoint
CREATE TABLE "notification_services" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"description" text NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"scope" text DEFAULT 'all' NOT NULL,
	"scope_ids" json,
	"branch_configuration" text,
	"build_states" json,
	"events" json,
	"settings" json,
	"secret_sealed" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "notify" json;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "tells_of_jobs" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "build_mails" text DEFAULT 'failed' NOT NULL;--> statement-breakpoint
ALTER TABLE "notification_services" ADD CONSTRAINT "notification_services_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_services" ADD CONSTRAINT "notification_services_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_services" ADD CONSTRAINT "notification_services_updated_by_id_users_id_fk" FOREIGN KEY ("updated_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "news_order" ON "news" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox" USING btree ("organization_id","receiver","due_at","id") WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE UNIQUE INDEX "outbox_topic" ON "outbox" USING btree ("organization_id","receiver","topic") WHERE "outbox"."state" = 'waiting' and "outbox"."topic" is not null;--> statement-breakpoint
CREATE INDEX "outbox_waiting" ON "outbox" USING btree ("organization_id","id") WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "outbox_failed" ON "outbox" USING btree ("organization_id","id") WHERE "outbox"."state" = 'failed';--> statement-breakpoint
CREATE INDEX "outbox_age" ON "outbox" USING btree ("kind","created_at") WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "outbox_service" ON "outbox" USING btree ("service_id","id") WHERE "outbox"."service_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_build" ON "outbox" USING btree ("build_id","id") WHERE "outbox"."build_id" is not null;--> statement-breakpoint
CREATE INDEX "outbox_ended" ON "outbox" USING btree ("ended_at") WHERE "outbox"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "outbox_receivers_due" ON "outbox_receivers" USING btree ("organization_id","due_at");--> statement-breakpoint
CREATE INDEX "notification_services_list" ON "notification_services" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "notification_services_key" ON "notification_services" USING btree (substr("secret_sealed", length("secret_sealed") - 8),"id") WHERE "notification_services"."secret_sealed" is not null;