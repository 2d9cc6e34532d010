import { html } from 'hono/html'
import { mayAct } from '../access/access.ts'
import type { ContractFact, ContractOperation } from '../model/contract.ts'
import { inlineText, wholeText } from '../view/foreign-text.ts'
import { counted } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, card, empty, instant, table, type Markup } from '../view/parts.ts'

interface ContractModel {
  operations: readonly ContractOperation[]
  words: readonly { list: string; words: string[] }[]
}

/** The operations by family, with the source of path, access and price, the last answer, and what is not as expected. */
export function contractPage({ operations, words }: ContractModel, shell: Shell): Page {
  const confirmed = operations.filter(({ state }) => state === 'confirmed').length
  const troubled = operations.filter(({ stops, facts }) => stops.length > 0 || facts.some(isDrift))
  const families = [...new Set(operations.map(({ family }) => family))]
  return {
    title: 'Contract',
    lead: html`${confirmed} of ${counted(operations.length, 'operation')} of the service are confirmed by an
      answer. A source is a section of the service's description, or <code>assumed</code>.`,
    current: '/contract',
    body: html`${troubled.length > 0 ? card('trouble', 'Needs action', troubleList(troubled, shell)) : ''}
    ${families.map((family) =>
      card(
        `family-${family}`,
        family.charAt(0).toUpperCase() + family.slice(1),
        familyTable(
          family,
          operations.filter((each) => each.family === family),
          shell,
        ),
      ),
    )}
    ${card('words', 'Words that answers have held', wordTable(words), {
      note: 'Filters with a list accept these.',
    })}`,
  }
}

const isDrift = (fact: ContractFact) => fact.isDrift
/** A reason ends in the command that helps, which is to be copied whole. */
const reasonShown = 600

function troubleList(operations: readonly ContractOperation[], shell: Shell): Markup {
  return html`<ul class="plain-list trouble">
    ${operations.map(
      (each) =>
        html`<li>
          <h3><a href="/contract/${each.operation}">${each.operation}</a> ${stateBadge(each)}</h3>
          ${trouble(each)} ${each.stops.length > 0 ? retryForm(each, shell) : ''}
        </li>`,
    )}
  </ul>`
}

/** Why an operation is stopped, and which facts its answers contradict. */
export function trouble({ stops, facts }: ContractOperation): Markup {
  return html`${stops.map(
    ({ reason }) =>
      html`<p>${inlineText(reason, reasonShown)}</p>
        ${wholeText(reason, reasonShown)}`,
  )}
  ${facts.filter(isDrift).map(
    ({ name, source }) =>
      html`<p><code>${inlineText(name, 80)}</code> ${inlineText(source, reasonShown)}</p>
        ${wholeText(source, reasonShown)}`,
  )}`
}

export function retryForm({ operation, kind }: ContractOperation, { visitor }: Shell): Markup {
  if (visitor.role === undefined || !mayAct(visitor.role, 'operator')) return html``
  const [button, note] =
    kind === 'action'
      ? [
          'Lift the stop',
          'Nothing is sent from here: an action is sent by the command that orders it, once more.',
        ]
      : ['Ask again', 'One request is sent; the parked ones follow when its answer can be read.']
  return html`<form method="post" action="/contract/retry">
    ${csrf(visitor)}<input type="hidden" name="operation" value="${operation}" />
    <button type="submit" aria-label="${button}: ${operation}">${button}</button>
    <p class="note">${note}</p>
  </form>`
}

export function stateBadge({ state, stops, facts }: ContractOperation): Markup {
  if (stops.length > 0) return badge('stopped', 'danger', 'stopped')
  if (facts.some(isDrift)) return badge('drift', 'warn', 'drift')
  return state === 'confirmed'
    ? badge('confirmed', 'ok', 'confirmed')
    : badge('unasked', 'quiet', 'no answer yet')
}

function familyTable(family: string, operations: readonly ContractOperation[], { now }: Shell): Markup {
  const fact = (each: ContractOperation, part: ContractFact['part']) => {
    const found = each.facts.find((claim) => claim.part === part)
    if (!found) return html`–`
    const value = inlineText(found.value, 120)
    return html`<div>${part === 'path' ? html`<code class="path">${value}</code>` : value}</div>
      <small>${inlineText(found.source, 120)}</small>`
  }
  return table<ContractOperation>(
    `Operations of ${family}`,
    [
      {
        name: 'Operation',
        isHead: true,
        cell: (each) =>
          html`<a href="/contract/${each.operation}">${each.operation}</a><small>${each.kind}</small>`,
      },
      { name: 'Path', cell: (each) => fact(each, 'path') },
      { name: 'Access', cell: (each) => fact(each, 'access') },
      {
        name: 'Price',
        cell: (each) =>
          each.prices.length === 0
            ? fact(each, 'price')
            : html`${each.prices.slice(0, 3).map((price) => priceLine(price, now))}`,
      },
      { name: 'State', cell: stateBadge },
      { name: 'Last answer', cell: (each) => instant(each.lastAnswerAt, now, { none: 'never' }) },
    ],
    operations,
  )
}

export function priceLine({ text, detail, seenAt }: ContractOperation['prices'][number], now: Date): Markup {
  return html`<div>
    <div>${text}${detail === '' ? '' : html` ${inlineText(detail, 60)}`}</div>
    <small>seen ${instant(seenAt, now)}</small>
  </div>`
}

const mostWords = 40

function wordTable(lists: ContractModel['words']): Markup {
  if (lists.length === 0) return empty('None yet.')
  return table<ContractModel['words'][number]>(
    'Words by list',
    [
      { name: 'List', isHead: true, cell: ({ list }) => inlineText(list, 60) },
      {
        name: 'Words',
        cell: ({ words }) =>
          html`${words.slice(0, mostWords).map((word, index) => html`${index > 0 ? ', ' : ''}${inlineText(word, 60)}`)}${
            words.length > mostWords ? ` and ${words.length - mostWords} more` : ''
          }`,
      },
    ],
    lists,
  )
}
