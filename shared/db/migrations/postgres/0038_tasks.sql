CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("kind","subject_id");--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("organization_id","due_at");