import type { UnfinishedAction } from '../../app/actions/list-actions.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { print } from '../terminal/print.ts'
import { readConfig } from '../terminal/with-context.ts'

export async function showActions({ json }: { json?: true }): Promise<void> {
  const actions = await queryLedger(await readConfig(), 'serviceActions', {})
  if (json) return print(`${JSON.stringify({ actions }, null, 2)}\n`)
  print(
    actions.length === 0 ? 'no action is in doubt or waits to be sent\n' : actions.map(actionText).join(''),
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
