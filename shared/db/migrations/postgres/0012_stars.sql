CREATE TABLE "stars" (
	"organization_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "stars_organization_id_user_id_pipeline_id_pk" PRIMARY KEY("organization_id","user_id","pipeline_id")
);
--> statement-breakpoint
ALTER TABLE "stars" ADD CONSTRAINT "stars_pipeline_id_pipelines_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipelines"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stars" ADD CONSTRAINT "stars_member" FOREIGN KEY ("organization_id","user_id") REFERENCES "public"."members"("organization_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stars_pipeline" ON "stars" USING btree ("pipeline_id");