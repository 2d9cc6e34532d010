import { sql, type Kysely } from 'kysely'
import type { PageFile } from './file/page-file-type.ts'
import type { PagedFiles } from './paged-files.ts'

/** The migration after which a program reads files that are kept in pages. */
export const pagedFiles = '0045-paged-files'

/** Pages that Postgres has not written for so long are compressed: one that it writes again costs the work twice. */
const restingMs = 60_000
/** Pages that have rested for so much longer are late: more are written than are compressed. */
const lateMs = 15_000
/**
 * Once more pages than these wait (128 MB), so much rest is enough: a file keeps the room of all that have waited in it at a time.
 * To compress a page once more takes less than a tenth of a millisecond.
 */
const mostWaiting = 16_384
const shortRestMs = 5_000
/** Other work has the thread in between. */
const stretchMs = 10
/** The same at the end of a command, when nobody waits: a flush to the disk is taken after each. */
const settlingStretchMs = 50

/** The files of an embedded ledger that are kept in pages. */
export interface LedgerPages {
  /** Compresses for some milliseconds pages that rest. Returns whether others are late. Where none are, files are tightened. */
  compress(): Promise<boolean>
  /**
   * Compresses all pages and writes the files without free room in them, for the end of a command. Returns how many it has
   * looked at.
   */
  settle(signal?: AbortSignal): Promise<number>
}

/** Returns true where every program that opens the ledger reads such files. */
export async function keepsPages<T>(db: Kysely<T>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('schema_changes') is not null as there`.execute(db)
  if (!rows[0]?.there) return false
  const { rows: marks } = await sql`
    select from schema_changes where name = ${pagedFiles} and oldest_program is not null`.execute(db)
  return marks.length > 0
}

export function createLedgerPages(
  paged: PagedFiles,
  { nowMs = () => performance.now() }: { nowMs?: () => number } = {},
): LedgerPages {
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: a file that is written anew must not have compressed pages on their way. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }

  /** One file at a time, that whose pages have rested longest: each flush to the disk is one more. */
  async function compressOne(writtenBeforeMs: number, forMs: number): Promise<number> {
    const [file] = [...paged.all()].toSorted((a, b) => since(a) - since(b))
    return file && since(file) < writtenBeforeMs ? file.compress(writtenBeforeMs, nowMs() + forMs) : 0
  }

  /** The file with the most free room. */
  async function tightenOne(forMs: number): Promise<number> {
    const [file] = [...paged.all()].toSorted((a, b) => b.loose - a.loose)
    return file && file.loose > 0 ? file.tighten(nowMs() + forMs) : 0
  }

  function waitMany(): boolean {
    return [...paged.all()].reduce((sum, { waiting }) => sum + waiting, 0) > mostWaiting
  }

  return {
    compress: () =>
      alone(async () => {
        await compressOne(nowMs() - (waitMany() ? shortRestMs : restingMs), stretchMs)
        const lateBeforeMs = nowMs() - (waitMany() ? shortRestMs : restingMs + lateMs)
        const isLate = [...paged.all()].some((file) => since(file) < lateBeforeMs)
        if (!isLate) await tightenOne(stretchMs)
        return isLate
      }),
    settle: (signal) =>
      alone(async () => {
        let all = 0
        for (const beforeMs = nowMs(); !signal?.aborted;) {
          const pages = await compressOne(beforeMs, settlingStretchMs)
          if (pages === 0) break
          all += pages
        }
        for (const file of paged.all()) {
          if (signal?.aborted) break
          file.shrink()
          await new Promise((resolve) => setImmediate(resolve))
        }
        while (!signal?.aborted && (await tightenOne(settlingStretchMs)) > 0);
        return all
      }),
  }
}

function since({ restingSinceMs = Infinity }: PageFile): number {
  return restingSinceMs
}
