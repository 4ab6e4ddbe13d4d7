CREATE TABLE "figures" (
	"subject_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"figure" text NOT NULL,
	"minutes" integer NOT NULL,
	"value" integer NOT NULL,
	CONSTRAINT "figures_subject_id_time_figure_minutes_pk" PRIMARY KEY("subject_id","time","figure","minutes")
);
--> statement-breakpoint
CREATE INDEX "figures_age" ON "figures" USING btree ("figure","minutes","time");