import type { Fact } from '../../domain/record.ts'
import { endAsCarriedOut } from '../../store/actions/action-outcomes.ts'
import {
  actionsOf,
  endAction,
  markInDoubt,
  type ServiceAction,
} from '../../store/contract/service-actions.ts'
import type { Context } from '../context/context.ts'
import type { OwnCharge } from '../service/own-charges.ts'
import type { PlannedCall } from '../service/plan-call.ts'
import { adviceFor } from './action-advice.ts'
import type { ActionRun } from './action-run.ts'

export type ActionEnd = {
  action: ServiceAction
  /** Charges of this command: for the action itself, and for the readings that show what became of it. */
  charges: OwnCharge[]
  readings: OwnCharge[]
} & (
  | { state: 'done'; fact: Fact; by: 'answer' }
  /** Its answer was lost, and a reading shows it. `isSentNow`: this command has sent it, and no earlier one. */
  | { state: 'done'; fact: Fact; by: 'reading'; isSentNow: boolean }
  /** The service refused it, and did nothing. */
  | { state: 'refused'; reason: string }
  /** It was sent, and nobody can tell whether it was carried out. `again` finishes it where a reading can. */
  | { state: 'in_doubt'; reason: string; advice: string }
  /** Nothing was done. `wasRefused`: it was sent, and the service took it for nobody's; otherwise nothing was sent. */
  | { state: 'parked'; reason: string; until: Date | null; wasRefused: boolean }
  | { state: 'interrupted' }
)

/** The parts that a step of one action works with. */
export interface Stage {
  context: Context
  run: ActionRun
  call: PlannedCall
  signal: AbortSignal
  settleMs: number | undefined
  /** Returns what this command has paid for, the readings included. */
  chargesOf: () => Promise<OwnCharge[]>
}

/** Crash window: answer and charge were stored, and the process died before the action was done. */
export async function endByAnswer(stage: Stage, action: ServiceAction): Promise<ActionEnd | undefined> {
  const fact = (await stage.context.lookups.facts([action.lookupKey])).get(action.lookupKey)
  return fact?.outcome === 'found' || fact?.outcome === 'not_found'
    ? endByFact(stage, action, fact)
    : undefined
}

export async function endByFact(stage: Stage, action: ServiceAction, fact: Fact): Promise<ActionEnd> {
  const { context } = stage
  await endAction(context.database.db, action.id, {
    answer: fact.data ?? {},
    problem: null,
    at: context.now(),
  })
  return { state: 'done', fact, by: 'answer', ...(await withCharges(stage, action)) }
}

export async function endByReading(
  stage: Stage,
  action: ServiceAction,
  found: Record<string, unknown>,
  { isSentNow }: { isSentNow: boolean },
): Promise<ActionEnd> {
  await endAsCarriedOut(stage.context.database.db, action, { found, at: stage.context.now() })
  const fact: Fact = { outcome: 'found', data: found }
  const { charges, ...rest } = await withCharges(stage, action)
  // No answer has told its price: it is booked with the most that it may cost (docs/decisions/0025-actions.md).
  const atMost = charges.map((charge) => ({ ...charge, isAtMost: true }))
  return { state: 'done', fact, by: 'reading', isSentNow, ...rest, charges: atMost }
}

/** Another process has ended it. */
export async function endOf(stage: Stage, action: ServiceAction): Promise<ActionEnd> {
  const rest = await withCharges(stage, action)
  return action.answer === null
    ? { state: 'refused', reason: action.problem ?? 'it was refused', ...rest }
    : { state: 'done', fact: { outcome: 'found', data: action.answer }, by: 'answer', ...rest }
}

export async function doubtful(stage: Stage, action: ServiceAction, reason: string): Promise<ActionEnd> {
  await markInDoubt(stage.context.database.db, action.id, reason)
  const doubted = await current(stage, action)
  if (doubted.state === 'done') return endOf(stage, doubted)
  return { state: 'in_doubt', reason, advice: adviceFor(doubted), ...(await withCharges(stage, doubted)) }
}

export async function current(
  { context }: Stage,
  { operation, digest, place }: ServiceAction,
): Promise<ServiceAction> {
  const rows = await actionsOf(context.database.db, operation, digest)
  return rows.find((each) => each.place === place)!
}

export async function withCharges(stage: Stage, action: ServiceAction) {
  const paid = (await stage.chargesOf()).sort((one, other) => one.at.getTime() - other.at.getTime())
  const isOwn = ({ operation }: OwnCharge) => operation === action.operation
  return {
    action: await current(stage, action),
    charges: paid.filter(isOwn),
    readings: paid.filter((charge) => !isOwn(charge)),
  }
}
