import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** A file that a run wrote, by its path and the SHA-256 of its bytes in hex. */
export interface FileOutput {
  path: string
  sha256: string
}

/** A file that a run wrote, with the input that it was made of. */
export interface WrittenOutput extends FileOutput {
  runId: string
  input: { path: string; sha256: string }
}

/** The number of remembered outputs of a run: the one that stands, and those that an interrupted write may have left. */
const mostRemembered = 3

/** Notes the file that a run is about to write. Called before the file takes its name. */
export async function noteOutput(db: Database, runId: string, output: FileOutput): Promise<void> {
  await sql`
    update runs set source = source || jsonb_build_object('outputs', (
      select jsonb_agg(each) from (
        select each from jsonb_array_elements(
          jsonb_build_array(${JSON.stringify(output)}::jsonb) || coalesce(source->'outputs', '[]'::jsonb)
        ) with ordinality as noted (each, place) order by place limit ${mostRemembered}
      ) as latest))
    where id = ${runId}`.execute(db)
}

/** Returns what runs wrote at a path, the latest run first. */
export async function outputsAt(db: Database, path: string): Promise<WrittenOutput[]> {
  const { rows } = await sql<{ runId: string; sha256: string; inputPath: string; inputSha256: string }>`
    select id as "runId", noted->>'sha256' as sha256, source->>'path' as "inputPath", source->>'sha256' as "inputSha256"
    from runs cross join lateral jsonb_array_elements(coalesce(source->'outputs', '[]'::jsonb)) as noted
    where connector = 'csv' and noted->>'path' = ${path} order by started_at desc limit 100`.execute(db)
  return rows.map(({ runId, sha256, inputPath, inputSha256 }) => ({
    runId,
    path,
    sha256,
    input: { path: inputPath, sha256: inputSha256 },
  }))
}
