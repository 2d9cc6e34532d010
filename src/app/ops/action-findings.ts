import { counted } from '../../domain/values/counted.ts'
import type { UnfinishedAction } from '../actions/list-actions.ts'
import type { Finding } from './finding.ts'

/** Names the actions at the service that are not finished; nothing where there are none. */
export function actionFindings(actions: readonly UnfinishedAction[]): Finding[] {
  if (actions.length === 0) return []
  const doubtful = actions.filter(({ state }) => state !== 'intent')
  const oldest = (doubtful[0] ?? actions[0]!).since
  return [
    {
      name: 'actions',
      status: 'warning',
      message:
        doubtful.length > 0
          ? `${counted(doubtful.length, 'action')} at the service in doubt, the oldest since ${oldest}`
          : `${counted(actions.length, 'action')} not sent yet, the oldest since ${oldest}`,
      todo: '`paydirt service actions` lists them with what to do',
    },
  ]
}
