import { unfinishedActions, type ServiceAction } from '../../store/contract/service-actions.ts'
import type { Context } from '../context/context.ts'
import { adviceFor } from './action-advice.ts'

/** An action that is not finished, as plain data. */
export interface UnfinishedAction extends Pick<
  ServiceAction,
  'id' | 'operation' | 'place' | 'state' | 'body'
> {
  since: string
  sentAt: string | null
  problem: string | null
  todo: string
}

/** Returns the actions that are in doubt, or were not sent yet, oldest first. */
export async function listActions({ database }: Pick<Context, 'database'>): Promise<UnfinishedAction[]> {
  return (await unfinishedActions(database.db)).map((action) => {
    const { id, operation, place, state, body, createdAt, sentAt, problem } = action
    return {
      id,
      operation,
      place,
      state,
      body,
      since: createdAt.toISOString(),
      sentAt: sentAt?.toISOString() ?? null,
      problem,
      todo: adviceFor(action),
    }
  })
}
