import { html } from 'hono/html'
import type { LiveRun } from '../../../store/views/desk-now.ts'
import { progressOf, type NowModel } from '../model/now.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { ago, connectorName, cost, runName, count, counted, duration, perSecond } from '../view/format.ts'
import { badge, empty, resumesWhen, stackedBar, type Markup } from '../view/parts.ts'

export function activeRuns({ runs, ended, at }: NowModel): Markup {
  return html`${
    runs.length > 0
      ? html`<ul class="runs">
          ${runs.map((run) => runItem(run, at))}
        </ul>`
      : empty('No open runs. Start a sync, or wait for the next scheduled one.')
  }
  ${
    ended.length > 0
      ? html`<h3>Recent runs</h3>
          <ul class="ended">
            ${ended.map(
              (run) =>
                html`<li>
                  <a href="/runs/${run.id}">${inlineText(runName(run))}</a>
                  ${badge(run.state)}
                  <span>${counted(run.records, 'record')}, ${ago(run.finishedAt ?? at, at)}</span>
                </li>`,
            )}
          </ul>`
      : ''
  }`
}

export const barLegend = [
  ['written', 'written'],
  ['unchanged', 'unchanged'],
  ['skipped', 'skipped'],
  ['rejected', 'rejected'],
  ['parked', 'parked'],
] as const

function runItem(run: LiveRun, now: Date): Markup {
  const { ended, open, perSecond: rate, leftMs } = progressOf(run, now)
  const total = Math.max(run.records, ended + open + run.counts.parked)
  const parts = barLegend.map(([name, className]) => ({ name, className, value: run.counts[name] }))
  const shown = parts.filter(({ value }) => value > 0)
  const timeLeft =
    leftMs === undefined ? (run.scanned ? '' : 'still scanning the source') : `about ${duration(leftMs)} left`
  return html`<li class="run" data-run="${run.id}">
    <div class="run-head">
      <a href="/runs/${run.id}"
        ><strong>${connectorName(run.connector)}</strong> ${inlineText(run.file ?? run.entity)}${
          run.schedule === null ? '' : html` <small>${inlineText(run.schedule, 40)}</small>`
        }</a
      >
      ${badge(run.state)} <span class="run-cost">${cost(run.settledAtomic, run.creditsAtomic)}</span>
    </div>
    ${stackedBar(parts, total, `${count(ended)} of ${count(total)} records ended`)}
    <p class="run-foot">
      <span class="run-count"><strong>${count(ended)}</strong> of ${counted(total, 'record')}</span
      >${rate > 0 ? html`<span>${perSecond(rate)}/s</span>` : ''}${timeLeft ? html`<span>${timeLeft}</span>` : ''}<span
        >started ${ago(run.startedAt, now)}</span
      >
    </p>
    ${
      shown.length > 0
        ? html`<ul class="legend">
            ${shown.map(({ name, className, value }) => html`<li><span class="dot ${className}"></span>${count(value)} ${name}</li>`)}
          </ul>`
        : ''
    }
  </li>`
}

export function parkedGroups({ parked: groups, at }: NowModel): Markup {
  if (groups.length === 0) return empty('Nothing is parked.')
  return html`<ul class="groups">
    ${groups.map(
      ({ reason, records, resumesAt }) =>
        html`<li>
          <span class="group-count">${count(records)}</span
          ><span class="group-text">${blockText(reason)}<small>${resumesWhen(resumesAt, at)}</small></span>
        </li>`,
    )}
  </ul>`
}
