CREATE TABLE "search_words" (
	"organization_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"word" text collate "C" NOT NULL,
	"subject_id" uuid NOT NULL,
	CONSTRAINT "search_words_organization_id_kind_word_subject_id_pk" PRIMARY KEY("organization_id","kind","word","subject_id")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "has_shortcuts" boolean DEFAULT true NOT NULL;