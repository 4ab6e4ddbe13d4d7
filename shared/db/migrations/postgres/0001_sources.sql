CREATE TABLE "open_requests" (
	"pipeline_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"branch" text NOT NULL,
	"facts" json NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "open_requests_pipeline_id_number_pk" PRIMARY KEY("pipeline_id","number")
);
--> statement-breakpoint
CREATE TABLE "repository_connections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"type" text NOT NULL,
	"host" text NOT NULL,
	"url" text NOT NULL,
	"api_url" text,
	"token_sealed" text,
	"publish_statuses" boolean DEFAULT true NOT NULL,
	"webhook_allowed_addresses" json,
	"failing_since" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by_id" uuid NOT NULL
);
--> statement-breakpoint
DROP INDEX "builds_delivery";--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "position" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "pull_request_number" integer;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "provider_settings" json;--> statement-breakpoint
ALTER TABLE "triggers" ADD COLUMN "token_sealed" text;--> statement-breakpoint
ALTER TABLE "triggers" ADD COLUMN "is_provider" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "open_requests" ADD CONSTRAINT "open_requests_pipeline_id_pipelines_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipelines"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_connections" ADD CONSTRAINT "repository_connections_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_connections" ADD CONSTRAINT "repository_connections_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_connections" ADD CONSTRAINT "repository_connections_updated_by_id_users_id_fk" FOREIGN KEY ("updated_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "open_requests_branch" ON "open_requests" USING btree ("pipeline_id","branch","number");--> statement-breakpoint
CREATE INDEX "open_requests_age" ON "open_requests" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "repository_connections_host" ON "repository_connections" USING btree ("organization_id","host");--> statement-breakpoint
CREATE INDEX "repository_connections_list" ON "repository_connections" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "repository_connections_token_key" ON "repository_connections" USING btree (substr("token_sealed", length("token_sealed") - 8),"id") WHERE "repository_connections"."token_sealed" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "builds_delivery_position" ON "builds" USING btree ("delivery_id","rebuild","position");--> statement-breakpoint
CREATE INDEX "builds_pipeline_request" ON "builds" USING btree ("pipeline_id","pull_request_number","number") WHERE "builds"."pull_request_number" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "triggers_provider" ON "triggers" USING btree ("pipeline_id") WHERE "triggers"."is_provider" and "triggers"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "triggers_token_key" ON "triggers" USING btree (substr("token_sealed", length("token_sealed") - 8),"id") WHERE "triggers"."token_sealed" is not null;