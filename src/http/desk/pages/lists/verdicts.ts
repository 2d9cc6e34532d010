import { verdicts, type Verdict } from '../../../../domain/words.ts'
import { count } from '../../view/format.ts'
import { badge, type Markup } from '../../view/parts.ts'
import { tabs } from '../../view/tabs.ts'

type Counts = Readonly<Partial<Record<Verdict, number>>>

const tones = {
  new: 'accent',
  exists: 'ok',
  ambiguous: 'warn',
  possible: 'warn',
  duplicate: 'quiet',
  suppressed: 'quiet',
  excluded: 'quiet',
  incomplete: 'quiet',
  drifted: 'danger',
} as const satisfies Record<Verdict, string>

export function verdictBadge(verdict: Verdict): Markup {
  return badge(verdict, tones[verdict], verdict)
}

/** "12 new, 3 exists", or that the rows are being compared. */
export function verdictCounts(counts: Counts | undefined): string {
  if (!counts) return 'being compared'
  const texts = ordered(counts).map(([verdict, rows]) => `${count(rows)} ${verdict}`)
  return texts.length > 0 ? texts.join(', ') : '–'
}

/** Returns the rows that wait for a person. Undefined while the rows are compared. */
export function waitingOf(counts: Counts | undefined): number | undefined {
  return counts && (counts.possible ?? 0) + (counts.ambiguous ?? 0)
}

/** Links to the rows with each verdict. */
export function verdictFilter(name: string, counts: Counts, chosen: Verdict | undefined): Markup {
  const total = ordered(counts).reduce((sum, [, rows]) => sum + rows, 0)
  const href = (query: string) => `/lists/${name}${query}#rows-title`
  return tabs('Rows by verdict', [
    { text: 'all', number: total, href: href(''), isChosen: chosen === undefined },
    ...ordered(counts).map(([verdict, rows]) => ({
      text: verdict,
      number: rows,
      href: href(`?verdict=${verdict}`),
      isChosen: verdict === chosen,
    })),
  ])
}

export function readVerdict(text: string | undefined): Verdict | undefined {
  return verdicts.find((each) => each === text)
}

function ordered(counts: Counts): [Verdict, number][] {
  return verdicts.flatMap((verdict) => {
    const rows = counts[verdict] ?? 0
    return rows > 0 ? [[verdict, rows] as [Verdict, number]] : []
  })
}
