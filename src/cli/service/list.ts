import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { DescribedOperation } from '../../app/service/describe-operations.ts'
import { countsText } from '../../app/service/summarise-claims.ts'
import { provenanceText, type ClaimRow } from '../../service/catalogue/provenance.ts'
import { print } from '../terminal/print.ts'
import { bad, bold, dim } from '../terminal/style.ts'
import { readConfig } from '../terminal/with-context.ts'

export async function listOperations(options: { json?: true }): Promise<void> {
  const operations = await queryLedger(await readConfig(), 'operations', {})
  print(options.json ? `${JSON.stringify(operations.map(asJson))}\n` : listText(operations))
}

/** Returns what JSON can hold: amounts are texts. */
export function asJson({ prices, ...operation }: DescribedOperation): object {
  return {
    ...operation,
    prices: prices.map((price) => ({ ...price, amountAtomic: String(price.amountAtomic) })),
  }
}

export function listText(operations: readonly DescribedOperation[]): string {
  const families = [...new Set(operations.map(({ family }) => family))]
  return families
    .map(
      (family) =>
        `${bold(family)}\n${operations
          .filter((each) => each.family === family)
          .map(lineOf)
          .join('')}`,
    )
    .join('\n')
}

function lineOf({ operation, kind, claims, state, stops, lastAnswerAt }: DescribedOperation): string {
  const of = (part: ClaimRow['part']) => claims.filter((claim) => claim.part === part)
  const facts = (['path', 'access', 'price'] as const).flatMap((part) =>
    of(part).map(({ value, provenance }) => `${value} (${provenanceText(provenance)})`),
  )
  const answered = lastAnswerAt ? `, last answer ${lastAnswerAt.toISOString().slice(0, 10)}` : ''
  const stopped = stops.map(({ reason }) => `    ${bad('stopped')}  ${reason}\n`)
  return `  ${operation.padEnd(22)} ${kind.padEnd(7)} ${facts.join('; ')}\n${dim(
    `    ${state === 'unasked' ? 'no answer yet' : state}${answered}. keys: ${countsText(of('request'))}. fields: ${countsText(of('answer'))}`,
  )}\n${stopped.join('')}`
}
