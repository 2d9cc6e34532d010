import type { JudgedStoredRow } from '../judging/judged-rows.ts'
import type { Exclusions } from './read-exclusions.ts'

/** A record of a filter leaves a row out, whatever else the row may be; one that is suppressed or has no id stays that. */
export async function withoutExcluded(
  judged: JudgedStoredRow[],
  exclusions: Exclusions | undefined,
): Promise<JudgedStoredRow[]> {
  const excluded = await exclusions?.among(judged.map(({ row }) => row))
  if (!excluded || excluded.size === 0) return judged
  return judged.map((each, at) =>
    excluded.has(at) && each.verdict !== 'suppressed' && each.verdict !== 'drifted'
      ? { ...each, verdict: 'excluded', reason: 'a filter of the list leaves it out', records: [] }
      : each,
  )
}
