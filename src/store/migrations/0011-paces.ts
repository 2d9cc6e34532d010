/** What the pacers have learned, by host, access and path; as text, since only the pacer reads it. */
export const paces = `
create table paces (
  name text primary key,
  learned text not null,
  saved_at timestamptz not null
);
`
