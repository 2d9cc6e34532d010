/** The limits that the pacers have learned, by host, access and path; as text, because only the pacer reads them. */
export const paces = `
create table paces (
  name text primary key,
  learned text not null,
  saved_at timestamptz not null
);
`
