CREATE TABLE "annotations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"build_id" uuid NOT NULL,
	"job_id" uuid,
	"scope" text NOT NULL,
	"scope_id" uuid NOT NULL,
	"context" text NOT NULL,
	"style" text,
	"priority" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"body" text NOT NULL,
	"html" text
);
--> statement-breakpoint
CREATE TABLE "artifact_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "artifact_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"build_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"batch_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"path" text NOT NULL,
	"absolute_path" text NOT NULL,
	"glob_path" text,
	"size" bigint NOT NULL,
	"sha1" text NOT NULL,
	"sha256" text,
	"content_type" text NOT NULL,
	"upload_destination" text,
	"url" text,
	"state" text NOT NULL,
	"upload_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"stored_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"is_counted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"key" text NOT NULL,
	"description" text,
	"policy" text,
	"value_sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by_id" uuid NOT NULL,
	"last_read_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" json NOT NULL,
	"private_key_sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"active_at" timestamp (3) with time zone NOT NULL,
	"is_newest" boolean NOT NULL,
	"retires_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifact_totals" ADD CONSTRAINT "artifact_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_updated_by_id_users_id_fk" FOREIGN KEY ("updated_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "annotations_context" ON "annotations" USING btree ("scope_id","context");--> statement-breakpoint
CREATE INDEX "annotations_build" ON "annotations" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "annotations_job" ON "annotations" USING btree ("job_id");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_batch" ON "artifacts" USING btree ("job_id","batch_id","position");--> statement-breakpoint
CREATE INDEX "artifacts_build" ON "artifacts" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "artifacts_job" ON "artifacts" USING btree ("job_id","id");--> statement-breakpoint
CREATE INDEX "artifacts_counted" ON "artifacts" USING btree ("organization_id","created_at") WHERE "artifacts"."is_counted";--> statement-breakpoint
CREATE INDEX "artifacts_open" ON "artifacts" USING btree ("created_at") WHERE "artifacts"."state" = 'new';--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_key" ON "secrets" USING btree ("cluster_id",lower("key"));--> statement-breakpoint
CREATE INDEX "secrets_list" ON "secrets" USING btree ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "secrets_sealing_key" ON "secrets" USING btree (substr("value_sealed", length("value_sealed") - 8),"id");--> statement-breakpoint
CREATE UNIQUE INDEX "signing_keys_newest" ON "signing_keys" USING btree ("is_newest") WHERE "signing_keys"."is_newest";--> statement-breakpoint
CREATE INDEX "signing_keys_sealing_key" ON "signing_keys" USING btree (substr("private_key_sealed", length("private_key_sealed") - 8),"id");