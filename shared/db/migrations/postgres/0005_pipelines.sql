ALTER TABLE "pipelines" ADD COLUMN "allow_rebuilds" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "clone_mirror_url" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "tags" json;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "emoji" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "color" text;