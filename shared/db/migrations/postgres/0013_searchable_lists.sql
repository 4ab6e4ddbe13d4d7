DROP INDEX "queues_paused";--> statement-breakpoint
ALTER TABLE "audit_events" ADD COLUMN "changes" json;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "event" text;--> statement-breakpoint
ALTER TABLE "refused_deliveries" ADD COLUMN "organization_id" uuid;--> statement-breakpoint
ALTER TABLE "refused_deliveries" ADD CONSTRAINT "refused_deliveries_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ("organization_id","actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_action" ON "audit_events" USING btree ("organization_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_events_type" ON "audit_events" USING btree ("organization_id","subject_type","id");--> statement-breakpoint
CREATE INDEX "builds_organization_creator" ON "builds" USING btree ("organization_id","creator_id","id") WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX "builds_pipeline_creator" ON "builds" USING btree ("pipeline_id","creator_id","number") WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_status" ON "deliveries" USING btree ("trigger_id","status","id");--> statement-breakpoint
CREATE INDEX "deliveries_event" ON "deliveries" USING btree ("trigger_id","event","id") WHERE "deliveries"."event" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_external_id" ON "deliveries" USING btree ("trigger_id","external_id","id") WHERE "deliveries"."external_id" is not null;--> statement-breakpoint
CREATE INDEX "refused_deliveries_organization" ON "refused_deliveries" USING btree ("organization_id","hour");--> statement-breakpoint
CREATE INDEX "queues_paused" ON "queues" USING btree ("cluster_id","id") WHERE "queues"."dispatch_paused_at" is not null;