import { closeByVerdict } from '../../app/actions/close-action.ts'
import type { UnfinishedAction } from '../../app/actions/list-actions.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { InputError } from '../../domain/errors.ts'
import type { ActionVerdict } from '../../store/contract/service-actions.ts'
import { print } from '../terminal/print.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'

interface Options {
  json?: true
  close?: string
  as?: ActionVerdict
}

export async function showActions({ json, close, as }: Options): Promise<void> {
  if (close !== undefined || as !== undefined) return closeOne(close, as, json)
  const actions = await queryLedger(await readConfig(), 'serviceActions', {})
  if (json) return print(`${JSON.stringify({ actions }, null, 2)}\n`)
  print(
    actions.length === 0 ? 'no action is in doubt or waits to be sent\n' : actions.map(actionText).join(''),
  )
}

async function closeOne(id: string | undefined, as: ActionVerdict | undefined, json?: true): Promise<void> {
  if (id === undefined || as === undefined)
    throw new InputError('bad_close', 'name both: --close ID --as done|not-done')
  if (!/^\d{1,18}$/.test(id)) throw new InputError('bad_close', '--close takes the id of the list, a number')
  await withContext(
    async (context) => {
      const closed = await closeByVerdict(context, id, as)
      if (json) return print(`${JSON.stringify({ closed })}\n`)
      print(
        `${closed.operation} counts as ${as === 'done' ? 'done' : 'not done'}; a charge in doubt stays so: \`paydirt reconcile\`\n`,
      )
    },
    await readConfig(),
  )
}

const stateText: Readonly<Record<UnfinishedAction['state'], string>> = {
  intent: 'not sent',
  sent: 'in doubt',
  in_doubt: 'in doubt',
  done: 'done',
}

function actionText({ id, operation, place, state, since, problem, body, todo }: UnfinishedAction): string {
  const name = body['name'] ?? body['monitor_id']
  return [
    `${id}  ${operation}${typeof name === 'string' ? ` ${JSON.stringify(name)}` : ''}${place > 1 ? ` (the ${place}th of its kind)` : ''}  ${stateText[state]} since ${since}`,
    ...(problem === null ? [] : [`    ${problem}`]),
    `    ${todo}`,
    '',
  ].join('\n')
}
