import { timeOf, pointsText, type Addend, type SeenSignal } from './score.ts'
import type { SignalType } from './signal.ts'
import { utcDay } from './change.ts'

/** A text property of a CRM takes so many characters. */
const longest = 255
const longestTitle = 80
const mostNamed = 3

/** The names of the types, as people read them. */
export const typeNames: Readonly<Record<SignalType, string>> = {
  job: 'Job',
  news: 'News',
  advertisement: 'Advertisement',
  cloud: 'Cloud',
  expansion: 'Expansion',
}

/**
 * Returns the strongest addends in at most 255 characters, as a CRM shows them: `+20 Job: Head of Sales (2026-11-20); +5 News: Opens in
 * Madrid (seen first 2026-11-21); and 4 more`. Null where nothing counts.
 */
export function reasonOf(addends: readonly Addend[]): string | null {
  const counting = addends.filter(({ hundredths }) => hundredths !== 0)
  if (counting.length === 0) return null
  for (let named = Math.min(mostNamed, counting.length); named > 1; named--) {
    const text = textOf(counting, named)
    if (text.length <= longest) return text
  }
  return textOf(counting, 1)
}

/** Returns the day of a signal: the one on which it happened, or else which it was seen first, and says so. */
export function dayText(signal: Pick<SeenSignal, 'happenedAt' | 'firstSeenAt'>): string {
  const day = utcDay(timeOf(signal))
  return signal.happenedAt === null ? `seen first ${day}` : day
}

function textOf(addends: readonly Addend[], named: number): string {
  const parts = addends.slice(0, named).map(({ signal, hundredths }) => {
    const sign = hundredths > 0 ? '+' : ''
    const title = oneLine(signal.title ?? signal.place ?? '')
    return `${sign}${pointsText(hundredths)} ${typeNames[signal.type]}${title === '' ? '' : `: ${title}`} (${dayText(signal)})`
  })
  const rest = addends.length - named
  return [...parts, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ')
}

/** A title comes from the open web: in one line, without what turns the direction of text, and cut. */
function oneLine(title: string): string {
  const text = title.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim()
  const characters = [...text]
  return characters.length <= longestTitle
    ? text
    : `${characters
        .slice(0, longestTitle - 1)
        .join('')
        .trimEnd()}…`
}
