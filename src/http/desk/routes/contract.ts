import type { Hono } from 'hono'
import { operationRow } from '../../../domain/operations.ts'
import { operations, type Operation } from '../../../domain/words.ts'
import { resumeOperation } from '../../../store/contract/operation-states.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskEnv } from '../access/gate.ts'
import { contractOperationPage } from '../pages/contract-operation.ts'
import { contractPage } from '../pages/contract.ts'
import type { Desk } from './desk.ts'
import { form } from './form.ts'

/** The pages of the service's operations, and the end of a stop of one of them. */
export function contractRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { contract } = desk.ports
  const viewer = desk.requires('viewer')

  app.get('/contract', viewer, async (context) => {
    const [known, words] = await Promise.all([contract?.list() ?? [], contract?.words() ?? []])
    return desk.show(context, contractPage({ operations: known, words }, await desk.shell(context)))
  })

  app.get('/contract/:operation', viewer, async (context) => {
    const name = named(context.req.param('operation'))
    const found = (await contract?.list())?.find(({ operation }) => operation === name)
    if (!found) throw missing()
    return desk.show(context, contractOperationPage(found, await desk.shell(context)))
  })

  app.post('/contract/retry', ...desk.allowsChange('operator'), async (context) => {
    const operation = named((await form(context))['operation'])
    const lookups = await resumeOperation(desk.db, operation, desk.now())
    if (lookups !== undefined) await desk.recordAction(context, 'service.retry', operation, { lookups })
    // No worker sends an action (docs/decisions/0025-actions.md).
    const done = operationRow(operation).kind === 'action' ? 'stop_lifted' : 'asked_again'
    return context.redirect(`/contract?done=${lookups === undefined ? 'nothing' : done}`, 303)
  })
}

function named(name: string | undefined): Operation {
  const found = operations.find((operation) => operation === name)
  if (!found) throw missing()
  return found
}

function missing(): Problem {
  return new Problem(404, 'no_such_operation', 'Operation not found.')
}
