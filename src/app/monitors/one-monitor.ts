import { openActionRun } from '../actions/action-run.ts'
import { InputError } from '../../domain/errors.ts'
import type { LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { valueAt } from '../../service/calls/json-path.ts'
import { withoutSecrets } from '../../service/calls/without-secrets.ts'
import { knownMonitors } from '../../store/monitors/declared-monitors.ts'
import type { Context } from '../context/context.ts'
import { knownOfAccount, withAcceptedNames } from '../service/known-of-account.ts'
import { assertAffordable, planCall } from '../service/plan-call.ts'

/** Returns the id of a monitor that a person names by its name in the settings, or by its id. */
export async function monitorId(
  { database, config }: Pick<Context, 'database' | 'config'>,
  given: string,
): Promise<string> {
  const known = (await knownMonitors(database.db)).find(({ name }) => name === given)
  if (known) return known.monitorId
  if (Object.hasOwn(config.monitors, given))
    throw new InputError(
      'no_monitor',
      `${given} is not at the service as far as the ledger knows: \`paydirt monitors plan\` looks`,
    )
  return given
}

/** Asks the service now, whatever the ledger has, and returns the part of the answer that the catalogue names, without secrets. */
export async function readNow(
  context: Context,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  return withoutSecrets(await readWhole(context, operation, body, signal))
}

/** The same with all that the answer has: only for one that describes kinds of things, and holds nothing of the workspace. */
export async function readWhole(
  context: Context,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  const known = await knownOfAccount(context, { asks: false })
  const config = await withAcceptedNames(context.config, context)
  const call = planCall(config, { operation, body, isUnchecked: true }, known)
  assertAffordable(call)
  const run = await openActionRun(context, call, signal)
  try {
    const name = `now:${context.now().getTime().toString(36)}:${context.randomBytes(4).toString('hex')}`
    const answer = await run.read(operation, { ...call.request } as LookupRequest, name)
    return answer === null ? null : valueAt(answer, call.contract.answer.at.value)
  } finally {
    await run.close('finished')
  }
}
