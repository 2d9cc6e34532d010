/**
 * The names that answers have taught: which of them stand for one subject. Lookups keep their keys. A process of an older
 * version neither reads nor fills the table: what it buys is found under the names that are known, and teaches none.
 */
export const subjectNames = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table subject_names (
  -- A canonical profile, \`id:\` and an id of searches, \`uid:\` and the service's number, or a company's domain.
  name text primary key,
  -- The profile under which the service answers, the same for all names of a subject. Null: answers disagree about the name.
  subject text,
  learned_at timestamptz not null
);
create index subject_names_subject on subject_names (subject) where subject is not null;
`
