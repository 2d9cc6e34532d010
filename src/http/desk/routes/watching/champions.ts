import type { Hono } from 'hono'
import { formatUsd } from '../../../../domain/money.ts'
import { Problem } from '../../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../../access/gate.ts'
import type { WatchAction, WatchView } from '../../model/watching/champions-port.ts'
import { championsPage, noChampionsPage, shownVerdicts } from '../../pages/watching/champions.ts'
import type { Desk } from '../desk.ts'
import { form, pageNumber, readAmount, reloadSeconds } from '../form.ts'

type Refusal = { text: string; status: 400 | 409 }

/** The page of champions, and the actions on their watches. Each action is noted in the audit log. */
export function championRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const operator = () => desk.allowsChange('operator')

  app.get('/champions', desk.requires('viewer'), (context) => show(context, context.req.query('watch')))
  app.post('/champions/:name/plan', ...operator(), (context) => begin(context, { kind: 'plan' }))
  app.post('/champions/:name/run', ...operator(), async (context) => {
    const budgetAtomic = readAmount((await form(context))['budget'])
    if (budgetAtomic === undefined || budgetAtomic === 0n)
      return show(context, context.req.param('name'), {
        text: 'The budget is an amount in USD, such as 2.50.',
        status: 400,
      })
    return begin(context, { kind: 'run', budgetAtomic })
  })

  async function show(context: DeskContext, name: string | undefined, refused?: Refusal): Promise<Response> {
    const port = desk.ports.champions
    const watches = (await port?.watches()) ?? []
    const [first] = watches
    if (!port || !first) {
      if (name !== undefined) throw unknown(name)
      return desk.show(context, noChampionsPage())
    }
    const watch = name === undefined ? first : named(watches, name)
    const verdict = shownVerdicts.find((each) => each === context.req.query('verdict'))
    const people = await port.people(watch.name, { verdict, page: pageNumber(context) })
    const job = port.job(watch.name)
    if (!refused && job && !job.ended) context.header('refresh', String(reloadSeconds))
    const view = { watches, watch, verdict, people, job, refused: refused?.text }
    return desk.show(context, championsPage(view, await desk.shell(context)), refused?.status)
  }

  async function begin(context: DeskContext, action: WatchAction): Promise<Response> {
    const port = desk.ports.champions
    const { name } = named((await port?.watches()) ?? [], context.req.param('name') ?? '')
    const busy: Refusal = { text: 'An action on this watch is at work already.', status: 409 }
    const last = port?.job(name)
    if (!port || (last && !last.ended)) return show(context, name, busy)
    const { kind } = action
    // Noted first: nothing is paid that the audit log does not know.
    await desk.recordAction(
      context,
      `champions.${kind}`,
      name,
      action.kind === 'run' ? { budget: formatUsd(action.budgetAtomic) } : undefined,
    )
    const isStarted = port.start(name, action, context.var.visitor.user ?? 'unknown', (figures) =>
      desk.recordAction(context, 'champions.ended', name, { action: kind, ...figures }),
    )
    if (!isStarted) return show(context, name, busy)
    return context.redirect(`/champions?watch=${encodeURIComponent(name)}&done=started_here`, 303)
  }
}

function named(watches: readonly WatchView[], name: string): WatchView {
  const found = watches.find((each) => each.name === name)
  if (found) return found
  throw unknown(name)
}

function unknown(name: string): Problem {
  return new Problem(404, 'no_such_watch', `Champions ${name.slice(0, 40)} not found.`)
}
