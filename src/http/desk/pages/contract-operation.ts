import { html } from 'hono/html'
import type { ContractFact, ContractOperation } from '../model/contract.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, facts, instant, table, type Markup } from '../view/parts.ts'
import { priceLine, retryForm, stateBadge, trouble } from './contract.ts'

/** One operation: each key of its request and each field of its answer with the source of what is known. */
export function contractOperationPage(operation: ContractOperation, shell: Shell): Page {
  const { now } = shell
  const { lastAnswerAt, prices, counts, stops } = operation
  const of = (...parts: ContractFact['part'][]) => operation.facts.filter(({ part }) => parts.includes(part))
  const isTroubled = stops.length > 0 || operation.facts.some(({ isDrift }) => isDrift)
  return {
    title: operation.operation,
    lead: html`${operation.kind}, ${operation.family}: ${operation.summary}`,
    current: '/contract',
    body: html`${
        isTroubled
          ? card(
              'trouble',
              'Needs action',
              html`${trouble(operation)}${stops.length > 0 ? retryForm(operation, shell) : ''}`,
            )
          : ''
      }
      ${card(
        'state',
        'State',
        facts([
          ['State', stateBadge(operation)],
          ['Last answer', instant(lastAnswerAt, now, { none: 'never' })],
          ['Facts', counts],
          ...(prices.length === 0
            ? []
            : [['Last price', html`${prices.map((price) => priceLine(price, now))}`] as const]),
        ]),
      )}
      ${card('wire', 'Path, access, price', factTable('Path, access and price', of('path', 'access', 'price')))}
      ${card('request', 'Request', factTable('Keys of the request', of('request')))}
      ${card('answer', 'Answer', factTable('Fields of the answer', of('answer')))}
      <p class="note"><a href="/contract">All operations</a></p>`,
  }
}

function factTable(caption: string, rows: readonly ContractFact[]): Markup {
  if (rows.length === 0) return empty('None.')
  return table<ContractFact>(
    caption,
    [
      {
        name: 'Name',
        isHead: true,
        cell: ({ name }) => html`<code class="path">${inlineText(name, 80)}</code>`,
      },
      { name: 'Value', cell: ({ value }) => blockText(value, 120) },
      {
        name: 'Source',
        cell: ({ source, isDrift }) =>
          html`${isDrift ? html`${badge('drift', 'warn', 'drift')} ` : ''}${blockText(source, 120)}`,
      },
    ],
    rows,
  )
}
