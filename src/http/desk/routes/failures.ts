import type { Hono } from 'hono'
import { retryGroup, skipGroup } from '../../../store/runs/retry-and-skip.ts'
import { failureGroups, failureRecords, type FailureGroup } from '../../../store/views/desk-failures.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import { failureGroupPage } from '../pages/failure-group.ts'
import { failuresPage } from '../pages/failures.ts'
import type { Desk } from './desk.ts'
import { form } from './form.ts'
import { failureDays } from './pages.ts'

const recordsPerPage = 50

/** Failures by cause, the records of one cause, and what can be done about them. */
export function failureRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, ports } = desk

  app.get('/failures', desk.requires('viewer'), async (context) => {
    const found = await desk.read(context, (reads) => groups(reads))
    return desk.show(context, failuresPage(found, failureDays, await desk.shell(context)))
  })

  app.get('/failures/:group', desk.requires('viewer'), async (context) => {
    const group = await groupOf(context.req.param('group'))
    if (!group)
      throw new Problem(
        404,
        'no_such_group',
        'There are no failures of this cause any more. They may have been retried.',
      )
    const given = context.req.query('after') ?? ''
    const after = /^\d{1,18}$/.test(given) ? BigInt(given) : 0n
    const found = await failureRecords(db, group, { since: since(), after, limit: recordsPerPage + 1 })
    const records = found.slice(0, recordsPerPage)
    const next = found.length > recordsPerPage ? records.at(-1)?.task : undefined
    return desk.show(context, failureGroupPage({ group, records, next }, await desk.shell(context)))
  })

  app.post('/failures/retry', ...desk.allowsChange('operator'), async (context) => {
    const { group: id = '' } = await form(context)
    const group = await groupOf(id)
    if (!group) return nothing(context)
    const options = { now: desk.now(), since: since(), connectors: background() }
    const result = await retryGroup(db, group, options)
    await desk.recordAction(context, 'failures.retry', nameOf(group), { ...result })
    return context.redirect(`/failures?done=${result.records > 0 ? 'retried' : 'nothing'}`, 303)
  })

  app.post('/failures/skip', ...desk.allowsChange('operator'), async (context) => {
    const { group: id = '' } = await form(context)
    const group = await groupOf(id)
    if (!group || group.status !== 'parked') return nothing(context)
    const by = context.var.visitor.user ?? 'unknown'
    const records = await skipGroup(db, group, { now: desk.now(), by })
    await desk.recordAction(context, 'failures.skip', nameOf(group), { records })
    return context.redirect(`/failures?done=${records > 0 ? 'skipped' : 'nothing'}`, 303)
  })

  function groups(from = db): Promise<FailureGroup[]> {
    return failureGroups(from, { since: since(), connectors: background() })
  }

  /** Returns the group's current state; undefined when it was retried or skipped in the meantime. */
  async function groupOf(id: string): Promise<FailureGroup | undefined> {
    return (await groups()).find((group) => group.id === id)
  }

  function background(): string[] {
    return ports.syncable().map(({ connector }) => connector)
  }

  function since(): Date {
    return new Date(desk.now().getTime() - failureDays * 86_400_000)
  }
}

function nothing(context: DeskContext): Response {
  return context.redirect('/failures?done=nothing', 303)
}

function nameOf({ status, code, id }: FailureGroup): string {
  return `${status}: ${code ?? id}`
}
