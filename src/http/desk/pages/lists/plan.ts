import { html } from 'hono/html'
import { mayAct } from '../../access/access.ts'
import type { ListJob } from '../../model/lists/list-actions.ts'
import type { PlanFigures, PlannedList } from '../../model/lists/lists-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { ago, connectorName, count, counted, usd, words } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { card, empty, facts, type Markup } from '../../view/parts.ts'
import { jobCard } from './actions.ts'
import { verdictCounts } from './verdicts.ts'

interface PlanDetail {
  plan: PlannedList
  job: ListJob | undefined
  refused?: string | undefined
}

/** The records that a plan makes, and the button that makes exactly these. */
export function listPlanPage({ plan, job, refused }: PlanDetail, shell: Shell): Page {
  const { list, connector, entity, figures } = plan
  return {
    title: `Plan: ${list}`,
    lead: html`Records for ${connectorName(connector)} ${inlineText(entity)}, planned
      ${ago(plan.madeAt, shell.now)}. <a href="/lists/${list}">Back to the list</a>`,
    current: '/lists',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
    ${job?.planId === plan.id && job.kind === 'apply' ? jobCard(list, job, shell) : ''}
    ${
      figures
        ? html`${confirmation(plan, figures, job, shell)} ${figureCard(figures)} ${firstCard(plan)}`
        : card(
            'progress',
            'Planning',
            html`<p role="status">
              The plan is being made, or its making has ended without one.
              <a href="/lists/${list}">The list</a> says which.
            </p>`,
          )
    }`,
  }
}

function confirmation(
  plan: PlannedList,
  figures: PlanFigures,
  job: ListJob | undefined,
  shell: Shell,
): Markup {
  const { creates, refusals } = figures
  const companies = figures.association?.creates ?? 0
  const most = usd(plan.mostAtomic)
  return card(
    'confirm',
    plan.isDone
      ? 'These records were made'
      : `Make ${counted(creates, 'record')}${companies > 0 ? ` and ${counted(companies, 'company')}` : ''}?`,
    html`<p class="plan-cost">
        ${
          plan.mostAtomic === 0n
            ? html`It costs <strong>${most}</strong>: the pages are paid for.`
            : html`It costs <strong>${most}</strong> at most.`
        }
      </p>
      <p class="note">
        Each row is judged again first: a record that has appeared since is left as it is. New records may
        start workflows, assignments and mails of the CRM, which Paydirt cannot see.
        <code>paydirt undo RUN</code> takes back those that nobody touched.
      </p>
      ${
        refusals.length === 0
          ? ''
          : html`<div class="problem below">
              It would be refused:
              <ul class="plain-list">
                ${refusals.map((refusal) => html`<li>${blockText(refusal, 400)}</li>`)}
              </ul>
            </div>`
      }
      <div class="plan-actions below">${action()}</div>`,
  )

  function action(): Markup {
    const isOperator = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
    const run = plan.runId === undefined ? '' : html`<a href="/runs/${plan.runId}">Open its run</a>`
    if (plan.isDone) return html`${run}`
    if (job && !job.ended) return html`<p class="note">An action on this list is at work.</p>`
    if (creates === 0) return html`<p>Nothing is to be made.</p>`
    if (!isOperator) return html`<p class="note">An operator can make them.</p>`
    return html`<form method="post" action="/lists/${plan.list}/plans/${plan.id}/apply">
        ${csrf(shell.visitor)}<input type="hidden" name="most" value="${String(plan.mostAtomic)}" /><button
          class="primary"
          type="submit"
        >
          ${
            plan.runId === undefined
              ? `Yes, make ${counted(creates, 'record')}${companies > 0 ? ` and ${counted(companies, 'company')}` : ''}${plan.mostAtomic === 0n ? ' at no cost' : ` and spend up to ${most}`}`
              : 'Continue'
          }
        </button>
      </form>
      ${run}`
  }
}

function figureCard(figures: PlanFigures): Markup {
  const { rows, reachable, isComplete, verdicts, creates, crmCalls, into } = figures
  const set = Object.entries(into.set ?? {})
  return card(
    'figures',
    'What is planned',
    facts([
      [
        'Rows',
        isComplete
          ? `${count(rows)}, the whole list`
          : `${count(rows)} of ${reachable === null ? '?' : count(reachable)}`,
      ],
      ['Verdicts', verdictCounts(verdicts)],
      ['Records to be made', count(creates)],
      [
        'Constants',
        set.length === 0
          ? 'none'
          : html`${set.map(([name, value], at) => html`${at > 0 ? ', ' : ''}${inlineText(`${name} = ${String(value)}`)}`)}`,
      ],
      ['Owner', ownersText(figures)],
      ['Tied to', tiedText(figures.association)],
      ['CRM calls', `about ${count(crmCalls)}`],
    ]),
  )
}

function ownersText({ owners = [], into }: PlanFigures): Markup | string {
  if (owners.length === 0)
    return typeof into.owner === 'string' ? inlineText(into.owner) : 'as the CRM decides'
  return html`<ul class="plain-list">
    ${owners.map(({ owner, name, records }) => {
      const who = owner === null ? 'as the CRM decides' : name === null ? owner : `${name} (${owner})`
      return html`<li>${inlineText(who)}${owners.length === 1 ? '' : `: ${counted(records, 'record')}`}</li>`
    })}
  </ul>`
}

function tiedText(association: PlanFigures['association']): Markup | string {
  if (!association) return 'nothing'
  const { entity, existing, made, creates, none } = association
  return html`<ul class="plain-list">
    <li>
      ${inlineText(entity)}: ${count(existing)} to one that is there, ${count(made)} to
      ${counted(creates, 'company', 'companies')} made first
    </li>
    ${Object.entries(none).map(([reason, number]) => html`<li>${count(number)} to none: ${inlineText(reason, 200)}</li>`)}
  </ul>`
}

function firstCard({ first }: PlannedList): Markup {
  return card(
    'first',
    'First records',
    first.length === 0
      ? empty('No record is to be made.')
      : html`<ul class="groups">
          ${first.map(
            (values) =>
              html`<li>
                <span class="group-text"
                  >${Object.entries(values).map(([field, value]) => html`<span class="pair">${words(field)}: ${blockText(String(value), 80)}</span> `)}</span
                >
              </li>`,
          )}
        </ul>`,
  )
}
