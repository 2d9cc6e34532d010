import { InputError } from '../../domain/errors.ts'
import { closeAction, unfinishedActions, type ActionVerdict } from '../../store/contract/service-actions.ts'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Context } from '../context/context.ts'
import { settleMarginMs } from './perform-action.ts'

/**
 * Ends an unfinished action by a person's verdict. Its charge is left as it is: money in doubt has a verdict of its own (`paydirt
 * reconcile --close`). Throws InputError for one that is not listed, that may still be on its way, or that cannot have that verdict.
 *
 * Crash windows. The verdict and its line in the audit log are one transaction: killed before its commit, the action is in
 * doubt as before. A process that is about to send takes its permission from the same row, and finds that there is none.
 */
export async function closeByVerdict(
  context: Pick<Context, 'database' | 'config' | 'now'>,
  id: string,
  as: ActionVerdict,
): Promise<{ id: string; operation: string; as: ActionVerdict }> {
  const { database, config, now } = context
  const action = (await unfinishedActions(database.db)).find((each) => each.id === id)
  if (!action)
    throw new InputError(
      'no_action',
      `no unfinished action has the id ${id}; \`paydirt service actions\` lists them`,
    )
  const { operation, state } = action
  if (state === 'intent' && as === 'done')
    throw new InputError('not_sent', `action ${id} was never sent, and cannot be done: close it as not-done`)
  const { timeoutMs } = config.catalogue.of(operation)
  const settledBefore = new Date(now().getTime() - timeoutMs - settleMarginMs)
  await database.db.transaction().execute(async (tx) => {
    if (!(await closeAction(tx, id, { as, at: now(), settledBefore })))
      throw new InputError(
        'action_on_its_way',
        `action ${id} may still be on its way: close it ${Math.ceil((timeoutMs + settleMarginMs) / 1000)} seconds after it was sent`,
      )
    await noteFromCli({ ...context, database: { ...database, db: tx } }, 'service.action.close', {
      target: operation,
      details: { action: id, as },
    })
  })
  return { id, operation, as }
}
