import { html } from 'hono/html'
import { mayAct } from '../../access/access.ts'
import type { RunChoices, RunControl } from '../../model/run-control.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { counted, usd } from '../../view/format.ts'
import { icon } from '../../view/icons.ts'
import { csrf, type Shell } from '../../view/layout.ts'
import { instant, type Markup } from '../../view/parts.ts'
import { stopForm } from '../../view/stop-form.ts'

type Viewer = Pick<Shell, 'visitor' | 'now'>

/** The actions on a run besides stopping it. They update live, because the run may end or be stopped meanwhile. */
export function runChoices(id: string, { retryable, isUndoable }: RunChoices, viewer: Viewer): Markup {
  const may = mayOperate(viewer)
  return html`<div class="run-actions">
    ${
      may && retryable > 0
        ? html`<details class="ask">
            <summary>Retry ${counted(retryable, 'failed record')}</summary>
            <form method="post" action="/runs/${id}/retry">
              ${csrf(viewer.visitor)}
              <p>
                Lookups that failed are made again and may cost money, within the caps. What was answered is
                not paid again.
              </p>
              <button class="primary" type="submit">Yes, retry them</button>
            </form>
          </details>`
        : ''
    }
    ${may && isUndoable ? html`<a class="button" href="/runs/${id}/undo">Undo …</a>` : ''}
    <a class="button" href="/runs/${id}/compare">Compare with the last run</a>
    <a class="button" href="/runs/${id}/records.csv" download>Export as CSV</a>
  </div>`
}

/** Stops a run that is active, and resumes one that is stopped. */
export function runControl(control: RunControl, viewer: Viewer): Markup {
  const { id, state, stop, isUnderWay } = control
  const may = mayOperate(viewer)
  if (stop)
    return html`<div class="run-stopped">
      <div>
        <p>
          <strong>Stopped</strong> by ${inlineText(stop.by)}, ${instant(stop.at, viewer.now)}.
          ${isUnderWay ? 'What is on its way is waited for.' : 'Nothing is on its way.'}
        </p>
        ${stop.reason === '' ? '' : html`<div>${blockText(stop.reason)}</div>`}
      </div>
      ${may ? resumeForm(control, viewer) : ''}
    </div>`
  if (!may) return html``
  if (state === 'stopped') return resumeForm(control, viewer)
  if (!['scanning', 'working', 'parked'].includes(state)) return html``
  return stopForm(
    {
      action: `/runs/${id}/stop`,
      ask: 'Stop this run',
      confirm: 'Yes, stop this run',
      effect:
        'Nothing new is bought for it until it is resumed, also after a restart. Requests on their way are waited for, and records that were paid for are still written, unless a further lookup would have to be bought for them. A schedule starts its next run as planned.',
    },
    csrf(viewer.visitor),
  )
}

/** A recipe of several steps may want more lookups after those that its records wait for. */
function waitsText(waits: RunControl['waits']): string {
  if (!waits) return ''
  if (waits.lookups === 0) return ' No record waits for a lookup that costs money.'
  return ` ${counted(waits.lookups, 'lookup')} to be bought for what waits now: at most ${usd(waits.atMostAtomic)}. Later steps of the recipe may follow.`
}

function resumeForm({ id, needsCommand, waits }: RunControl, { visitor }: Viewer): Markup {
  return html`<details class="ask">
    <summary>${icon('go')}Resume this run</summary>
    <form method="post" action="/runs/${id}/resume">
      ${csrf(visitor)}
      <p>
        ${
          needsCommand
            ? 'It may go on buying when the command that began it is run again.'
            : `It goes on buying lookups for its records, within the caps.${waitsText(waits)}`
        }
      </p>
      <button class="primary" type="submit">Yes, resume</button>
    </form>
  </details>`
}

function mayOperate({ visitor }: Viewer): boolean {
  return visitor.role !== undefined && mayAct(visitor.role, 'operator')
}
