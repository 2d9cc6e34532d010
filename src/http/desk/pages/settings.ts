import { inlineText } from '../view/foreign-text.ts'
import { html } from 'hono/html'
import { mayAct } from '../access/access.ts'
import type { ScheduleRow, SettingsSection } from '../model/ports.ts'
import { blockText } from '../view/foreign-text.ts'
import { connectorName } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, card, empty, table, instant, type Markup } from '../view/parts.ts'

export function settingsPage(
  sections: SettingsSection[],
  schedules: ScheduleRow[] | undefined,
  shell: Shell,
): Page {
  return {
    title: 'Settings',
    lead: html`Read from <code>paydirt.config.ts</code> and the environment. Change them there; only schedules
      can be paused and run here.`,
    current: '/settings',
    body: html` ${card('schedules', 'Schedules', scheduleTable(schedules, shell))}
    ${sections.map((section, index) =>
      card(
        `section-${index}`,
        section.title,
        section.rows.length > 0
          ? table<string[]>(
              section.title,
              section.columns.map((name, column) => ({
                name,
                isHead: column === 0,
                cell: (row) => blockText(row[column] ?? ''),
              })),
              section.rows,
            )
          : empty('None.'),
        section.note === undefined ? {} : { note: section.note },
      ),
    )}`,
  }
}

function scheduleTable(schedules: ScheduleRow[] | undefined, { visitor, now }: Shell): Markup {
  if (!schedules || schedules.length === 0) return empty('No schedules. Add them to the config.')
  const may = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  return table<ScheduleRow>(
    'Scheduled syncs',
    [
      {
        name: 'Schedule',
        isHead: true,
        cell: (row) => html`${row.name}<small>${workOf(row)}</small>`,
      },
      {
        name: 'When',
        cell: (row) => html`<code>${row.when}</code>${row.window ? html`<small>${row.window}</small>` : ''}`,
      },
      { name: 'State', cell: (row) => (row.isPaused ? badge('paused') : badge('on', 'ok', 'on')) },
      {
        name: 'Next',
        cell: (row) => nextTimes(row, now),
      },
      {
        name: 'Last',
        cell: (row) =>
          html`${instant(row.lastAt, now, { none: 'never', timeZone: row.timeZone })}${row.failed.map(
            ({ entity, reason }) =>
              html`<small>${inlineText(entity)} failed: ${inlineText(reason, 400)}</small>`,
          )}`,
      },
      ...(may
        ? [
            {
              name: 'Action',
              cell: (row: ScheduleRow) =>
                html`<div class="row-actions">
                  <a
                    class="button"
                    href="/schedules/run?name=${encodeURIComponent(row.name)}"
                    aria-label="Run now …: ${row.name}"
                    >Run now …</a
                  >
                  <form method="post" action="/schedules/${row.isPaused ? 'resume' : 'pause'}">
                    ${csrf(visitor)}<input type="hidden" name="name" value="${row.name}" /><button
                      type="submit"
                      aria-label="${row.isPaused ? 'Resume' : 'Pause'} the schedule ${row.name}"
                    >
                      ${row.isPaused ? 'Resume' : 'Pause'}
                    </button>
                  </form>
                </div>`,
            },
          ]
        : []),
    ],
    schedules,
  )
}

/** The coming times in the zone of the schedule, the first of them apart. */
function nextTimes({ next, timeZone }: ScheduleRow, now: Date): Markup {
  const [first, ...others] = next
  if (!first) return html`–`
  return html`${instant(first, now, { timeZone })}${
    others.length === 0
      ? ''
      : html`<ul class="plain-list next-times" aria-label="Then">
          ${others.map((at) => html`<li>${instant(at, now, { timeZone })}</li>`)}
        </ul>`
  }`
}

/** Says in a few words what a schedule does. */
function workOf({ list, signals, champions, report, connector, entity }: ScheduleRow): Markup {
  if (signals !== undefined) return html`signals of ${inlineText(signals)}`
  if (champions !== undefined) return html`champions ${inlineText(champions)}`
  if (report !== undefined) return html`report of ${inlineText(report)} to the alert webhook`
  return html`${list === undefined ? '' : html`list ${inlineText(list)} into `}${connectorName(connector)}
  ${entity}`
}
