import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { DescribedOperation } from '../../app/service/describe-operations.ts'
import { operationNamed } from '../../app/service/plan-call.ts'
import { formatUsd } from '../../domain/money.ts'
import { claimParts, provenanceText, type ClaimPart } from '../../service/catalogue/provenance.ts'
import { print } from '../terminal/print.ts'
import { bad, bold } from '../terminal/style.ts'
import { readConfig } from '../terminal/with-context.ts'
import { asJson } from './list.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

export async function showOperation(name: string, options: { json?: true }): Promise<void> {
  const only = operationNamed(name)
  const config = await readConfig()
  const [operation] = await queryLedger(config, 'operations', { only })
  if (!operation) return
  for (const list of operation.wordLists)
    list.words = [...new Set([...list.words, ...(config.vocabularies[list.vocabulary] ?? [])])]
  print(options.json ? `${JSON.stringify(asJson(operation))}\n` : operationText(operation))
}

const titles: Readonly<Record<ClaimPart, string>> = {
  path: '',
  access: '',
  price: '',
  request: 'request',
  answer: 'answer',
}

export function operationText(operation: DescribedOperation): string {
  const { claims, summary, kind, family, state, since, lastAnswerAt, stops, prices } = operation
  const widths = [0, 1].map((column) =>
    Math.min(44, Math.max(...claims.map(({ name, value }) => [name, value][column]?.length ?? 0))),
  )
  const parts = claimParts.map((part) => {
    const lines = claims
      .filter((claim) => claim.part === part)
      .map(({ name, value, published, provenance }) => {
        const text = provenanceText(provenance)
        const wasToo = text === published || published === 'assumed' ? '' : ` (published: ${published})`
        const source = provenance.state === 'contradicted' ? bad(text) : text
        return `  ${name.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${source}${wasToo}\n`
      })
    const title = titles[part]
    return lines.length > 0 && title !== '' ? `${bold(title)}\n${lines.join('')}` : lines.join('')
  })
  const head = [
    `${bold(operation.operation)} (${kind}, ${family}): ${summary}`,
    state === 'unasked'
      ? 'no answer has confirmed it yet'
      : `${state}${since ? ` since ${utcMinute(since)}` : ''}${lastAnswerAt ? `, last answer ${utcMinute(lastAnswerAt)}` : ''}`,
    ...stops.map(({ part, reason }) => `${bad('stopped')}${part === '' ? '' : ` (${part})`}: ${reason}`),
    ...prices.map(
      ({ currency, amountAtomic, detail, seenAt }) =>
        `last price ${formatUsd(amountAtomic)} ${currency === 'credit' ? 'credits' : 'USD'}${detail === '' ? '' : ` for ${detail}`}, seen ${utcMinute(seenAt)}`,
    ),
  ]
  return `${head.join('\n')}\n${parts.join('')}${wordsText(operation)}`
}

const mostWords = 40

/** Says which keys take words of a list alone, and which words. All other texts are sent as they are. */
function wordsText({ wordLists, claims }: DescribedOperation): string {
  if (!claims.some(({ part }) => part === 'request')) return ''
  const lines = wordLists.map(({ keys, vocabulary, isClosed, words }) => {
    const more = words.length - mostWords
    const known = `${words.slice(0, mostWords).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    return isClosed
      ? `  ${keys.join(', ')}: one of ${known}`
      : `  ${keys.join(', ')}: words that answers have held or service.vocabularies.${vocabulary} names (${known || 'none yet'}); --unchecked sends others`
  })
  return `${bold('words')}\n${lines.map((line) => `${line}\n`).join('')}  other texts have no list: they are sent as they are, and one with a typing error finds nothing and is paid for\n`
}
