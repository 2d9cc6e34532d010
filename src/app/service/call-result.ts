import type { Fact } from '../../domain/record.ts'
import { readPage, type Page } from '../../service/calls/read-answer.ts'
import type { CallEnd } from './call-session.ts'
import { chargesText } from './own-charges.ts'
import type { PlannedCall } from './plan-call.ts'

/** Reads the page of a search from its answer; undefined for other kinds and for an unreadable answer. */
export function pageOf({ kind, contract }: PlannedCall, { outcome, data }: Fact): Page | undefined {
  return kind === 'search' && outcome === 'found' ? readPage(contract, data) : undefined
}

/**
 * Returns why nothing may be made of a page, in words; none for a usable one. The rows stay in the ledger: they are paid for,
 * and can be read again when the cause is gone.
 */
export function faultsOf({ request, operation, contract }: PlannedCall, page: Page): string[] {
  // The service names a key as it was sent, perhaps with the place in it: `domains[0]`.
  const names = Object.keys(request).flatMap((name) => [name, contract.wireNames[name] ?? name])
  const known = new Set(names.map((name) => name.toLowerCase()))
  const sent = (field: string) => known.has(/^[^.[]*/.exec(field.trim().toLowerCase())?.[0] ?? '')
  const renamed = page.renamed.map(({ field, to }) => (to === undefined ? field : `${field} to ${to}`))
  return [
    ...(page.ignored.some(sent)
      ? [
          `the service ignored ${page.ignored.filter(sent).join(', ')}: its rows are those of a wider search; \`paydirt service show ${operation}\` says what is known of each key`,
        ]
      : []),
    ...(renamed.length > 0
      ? [`the service renames ${renamed.join(', ')}: accept it with \`paydirt service accept ${operation}\``]
      : []),
    ...page.drift.map(
      (problem) =>
        `the answer is not as the catalogue says: ${problem}; \`paydirt service verify\` compares them`,
    ),
  ]
}

/** Returns the rows of a page that the ledger does not keep, in words; nothing where it keeps all. */
export function droppedText({ dropped }: Pick<Page, 'dropped'>): string {
  const counts = Object.entries(dropped).map(([reason, count]) => `${count} ${reason}`)
  return counts.length === 0 ? '' : `, ${counts.join(' and ')} of them not kept`
}

/** Returns what a call has cost, in words. */
export function costText({ charges }: Pick<CallEnd, 'charges'>, isKnown: boolean): string {
  return isKnown ? 'the ledger has this answer: nothing is paid' : chargesText(charges)
}
