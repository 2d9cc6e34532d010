import { html } from 'hono/html'
import type { Patch } from '../../../domain/record.ts'
import { recordName } from '../../../domain/search/record-name.ts'
import type { TaskAction } from '../../../store/failures/retry-one.ts'
import type { TaskDetail, TaskWrite } from '../../../store/views/one-task.ts'
import { mayAct } from '../access/access.ts'
import type { RecordLinks } from '../model/record-links.ts'
import type { TimelineLookup } from '../model/record-timeline.ts'
import { codeMeaning } from '../view/code-words.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { connectorName, money, runName, words } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { pager } from '../view/pager.ts'
import { badge, card, empty, facts, instant, resumesWhen, table, type Markup } from '../view/parts.ts'
import { recordLink } from './find.ts'
import { lookupsCard, valueText, writtenText } from './lookups.ts'
import { writeState } from './record.ts'
import { refusalWords } from '../../../domain/mapping/refusal-words.ts'

export interface TaskView {
  task: TaskDetail
  writes: TaskWrite[]
  lookups: TimelineLookup[]
  actions: readonly TaskAction[]
  /** The address of its record in the CRM. */
  url: string | undefined
  links: Pick<RecordLinks, 'transactionUrl'>
}

/** One record in one run: what it asked for, what that cost, what was written, and why it ended as it did. */
export function taskPage(view: TaskView, shell: Shell): Page {
  const { task, lookups, links } = view
  const { now } = shell
  return {
    title: 'Task',
    lead: html`One record in the run <a href="/runs/${task.run}">${inlineText(runName(task))}</a>`,
    current: '/records',
    body: html`${actionsCard(view, shell)}
      <div class="columns even">
        ${card('state', 'State', stateList(view, now))} ${card('asked', 'Asked with', askedList(task))}
      </div>
      ${lookupsCard({ lookups, emptyText: 'Nothing was looked up.', links, now })} ${writesCard(view, now)}
      ${pager('Tasks of the run', {
        previous:
          task.previous === null
            ? undefined
            : { href: `/tasks/${task.previous}`, text: 'Previous record of the run' },
        next:
          task.next === null ? undefined : { href: `/tasks/${task.next}`, text: 'Next record of the run' },
      })}`,
  }
}

function stateList({ task, url }: TaskView, now: Date): Markup {
  const { status, reason, code, resumesAt, duplicateOf, trigger } = task
  return facts([
    ['State', badge(status)],
    ...(reason === null ? [] : [['Reason', blockText(reason)] as const]),
    ...(code === null ? [] : [['Cause', html`<code>${code}</code>`] as const]),
    ...(status === 'parked' ? [['Resumes', resumesWhen(resumesAt, now)] as const] : []),
    [
      'Record',
      html`${recordLink(task, task.recordId)}${
        url === undefined
          ? ''
          : html` · <a href="${url}" rel="noreferrer">open in ${connectorName(task.connector)}</a>`
      }`,
    ],
    ...(duplicateOf === null
      ? []
      : [
          [
            'Same subject as',
            html`<a href="/tasks/${String(duplicateOf.id)}">${inlineText(duplicateOf.recordId)}</a>`,
          ] as const,
        ]),
    ['Run', html`${badge(task.runState)} ${words(trigger)}`],
    ['Run started', instant(task.runStartedAt, now)],
    ['Last changed', instant(task.at, now)],
  ])
}

const identityNames = {
  firstName: 'First name',
  lastName: 'Last name',
  company: 'Company',
  email: 'E-mail',
  phone: 'Phone',
  domain: 'Domain',
  profileUrl: 'Profile',
  companyId: 'Company id',
  tiktokUrl: 'TikTok',
  wantedlyUrl: 'Wantedly',
  tw104Url: '104',
  rocketpunchUrl: 'RocketPunch',
  rememberUrl: 'Remember',
  youtrustUrl: 'YOUTRUST',
} as const

function askedList({ identity, recipe }: TaskDetail): Markup {
  const given = Object.entries(identityNames).flatMap(([field, name]) => {
    const value = identity[field as keyof typeof identityNames]
    return value === undefined ? [] : [[name, blockText(value)] as const]
  })
  return html`${facts([...given, ['Recipe', inlineText(recipe)]])}
  ${given.length > 0 ? '' : empty('Nothing by which it could be looked up is known.')}`
}

function writesCard({ task, writes, lookups }: TaskView, now: Date): Markup {
  const numbers = new Map(lookups.map(({ key }, index) => [key, index + 1]))
  if (writes.length > 0) {
    return card(
      'writes',
      'Fields written',
      table<TaskWrite>(
        'Fields in the order written',
        [
          { name: 'Field', isHead: true, cell: ({ field }) => words(field) },
          { name: 'Before', cell: ({ old }) => valueText(old, 'blank') },
          { name: 'After', cell: (write) => writtenText(write.new) },
          {
            name: 'Lookup',
            cell: ({ lookup }) =>
              lookup !== null && numbers.has(lookup) ? `no. ${numbers.get(lookup)}` : '–',
          },
          { name: 'Price', isNumber: true, cell: (write) => money(write.priceAtomic, write.currency) },
          {
            name: 'State',
            cell: (write) =>
              html`${writeState(write, now)}${write.code ? html` <small title="${codeMeaning(write.code)}">${refusalWords(write.code)}</small>` : ''}`,
          },
          { name: 'When', cell: ({ at }) => instant(at, now) },
        ],
        writes,
      ),
    )
  }
  const set = setFields(task.patch)
  return card(
    'writes',
    task.status === 'written' ? 'Fields written' : 'Fields to write',
    set.length > 0
      ? table<(typeof set)[number]>(
          'Fields by name',
          [
            { name: 'Field', isHead: true, cell: ([field]) => words(field) },
            { name: 'Value', cell: ([, value]) => valueText(value, 'cleared') },
          ],
          set,
        )
      : empty('No field was written.'),
  )
}

function setFields(patch: Patch | null) {
  return Object.entries(patch ?? {}).map(
    ([field, change]) => [field, 'set' in change ? change.set : null] as const,
  )
}

/** Retry and skip, each with a question first: a retry may buy, and a skipped record is not enriched. */
function actionsCard({ task, actions }: TaskView, { visitor, stopped }: Shell): Markup {
  const name = recordName(task.identity) ?? task.recordId
  const title = html`<h2 class="task-name">${inlineText(name)}</h2>`
  const may = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  if (!may) return html`<div class="task-head">${title}</div>`
  const canRetry = actions.includes('retry_parked') || actions.includes('retry_rejected')
  const why = canRetry ? undefined : whyNoRetry(task)
  return html`<div class="task-head">
    ${title}
    <div class="task-actions">
      ${
        canRetry
          ? html`<details class="ask">
              <summary>Retry</summary>
              <form method="post" action="/tasks/${String(task.id)}/retry">
                ${csrf(visitor)}
                <p>${retryText(actions, stopped !== undefined)}</p>
                <button class="primary" type="submit">Yes, retry</button>
              </form>
            </details>`
          : ''
      }${
        actions.includes('skip')
          ? html`<details class="ask">
              <summary>Skip</summary>
              <form method="post" action="/tasks/${String(task.id)}/skip">
                ${csrf(visitor)}
                <p>The record ends as skipped in this run. A later run can enrich it again.</p>
                <label
                  >Why <input name="why" maxlength="200" autocomplete="off" placeholder="shown as the reason"
                /></label>
                <button class="danger" type="submit">Yes, skip it</button>
              </form>
            </details>`
          : ''
      }
    </div>
    ${why === undefined ? '' : html`<p class="note">${why}</p>`}
  </div>`
}

function whyNoRetry({ status, runState }: TaskDetail): string | undefined {
  if (status === 'parked' && runState === 'stopped')
    return 'Its run is stopped. Resume the run to continue with this record.'
  return status === 'rejected'
    ? 'Start a new run to try it again: it is of a file or of an earlier run, was not looked up, or is too old.'
    : undefined
}

function retryText(actions: readonly TaskAction[], isStopped: boolean): string {
  if (actions.includes('retry_parked')) {
    return isStopped
      ? 'Spending is stopped: a lookup that has to be paid for is parked again.'
      : 'Its lookup is asked for at once, within the budgets. What is paid already is not paid again.'
  }
  return 'A failed lookup is asked for again. A known answer is not bought again: the record is evaluated and written once more.'
}
