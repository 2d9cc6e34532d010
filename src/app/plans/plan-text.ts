import { leftOutLines } from '../../domain/planning/wanted-fields.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { formatUsd, parseUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import type { PlanCost, PlanStep } from './plan-cost.ts'
import { outcomesText, type PlanOutcomes, type PlanReason } from './plan-outcomes.ts'
import type { LeftOutField } from '../../store/runs/task-progress.ts'

/** The lookups that a run would buy, and the bounds of their cost. Scripts rely on its form. */
export interface RunPlan extends PlanCost {
  plan: true
  object: ObjectKind
  connector: string
  records: number
  lookups: { unique: number; cached: number; duplicates: number; toBuy: number }
  tasks: { skipped: number; rejected: number }
  /** The records read, each counted once. */
  outcomes: PlanOutcomes
  /** The fields of the recipe that could not be written in so many records, and why: nothing would be bought for them. */
  leftOut?: LeftOutField[] | undefined
  /** The reasons why records have nothing to do, are skipped or rejected, the most frequent first. `first` is the first record. */
  reasons?: PlanReason[] | undefined
  /** The id for `paydirt apply`. */
  planId?: string
  /** The command that carries out the plan, where it takes more than the id. */
  apply?: string | undefined
  /** The writes from facts that the ledger already has: counts, and the first records field by field. */
  preview?:
    | {
        records: number
        fields: Record<string, number>
        rows: { record: string; fields: Record<string, { from: FieldValue | null; to: FieldValue }> }[]
      }
    | undefined
}

export function planText(plan: RunPlan): string {
  const { records, lookups, tasks, planId, apply, preview, leftOut } = plan
  return `${counted(records, 'record')}${records > 0 ? `: ${outcomesText(plan.outcomes)}` : ''}
  ${counted(lookups.unique, 'different profile')}, ${counted(lookups.duplicates, 'duplicate')}
  ${lookups.cached} already in the ledger, ${lookups.toBuy} to buy
  ${tasks.rejected} rejected and ${tasks.skipped} skipped, at no cost
${reasonLines(plan)}${leftOutLines(leftOut ?? [], plan.connector)
    .map((line) => `${line}\n`)
    .join(
      '',
    )}${stepsText(plan.steps)}${costText(plan)}${preview ? previewText(preview) : ''}${planId === undefined ? '' : applyText(plan, `plan ${planId}`, apply ?? `paydirt apply ${planId}`)}`
}

/**
 * Returns the cost of several plans of one command. Each one's budgets are what the ones before it leave at most, so the sum
 * keeps within them.
 */
export function totalText(plans: readonly RunPlan[]): string {
  const sum = (of: (plan: RunPlan) => string) =>
    formatUsd(plans.reduce((total, plan) => total + parseUsd(of(plan)), 0n))
  const range = (part: 'cost' | 'uncapped') => {
    const [low, high] = [sum((plan) => plan[part].low), sum((plan) => plan[part].high)]
    return low === high
      ? `${high} USD at most`
      : `${low} to ${high} USD at most, about ${sum((plan) => plan[part].expected)} expected`
  }
  const [within, without] = [range('cost'), range('uncapped')]
  return `all ${plans.length} together: ${within}${within === without ? '' : `; without what stops them: ${without}`}\n`
}

/** Blank for a file: the account of its columns and rows says the reasons, with lines. */
function reasonLines({ connector, reasons = [] }: RunPlan): string {
  if (connector === 'csv') return ''
  return reasons
    .map(
      ({ status, reason, count, first }) =>
        `    ${count} ${status}: ${reason} (${count === 1 ? '' : 'first '}record ${first})\n`,
    )
    .join('')
}

/** A command that would be refused, or has nothing to carry out, is not offered. */
function applyText({ begins, records }: RunPlan, name: string, command: string): string {
  if (records === 0) return `${name}: there is nothing to carry out\n`
  if (!begins)
    return `${name}: it cannot be carried out as it is; mend what is named above, then plan again\n`
  return `${name}: \`${command}\` carries out exactly this, within this cost\n`
}

function costText({ cost, uncapped, limits, wallet, begins, refusals }: RunPlan): string {
  const range = ({ low, expected, high }: PlanCost['uncapped']) =>
    low === high ? `${high} USD at most` : `${low} to ${high} USD at most, about ${expected} expected`
  const isCapped = uncapped.high !== cost.high || uncapped.low !== cost.low
  const stops = limits.filter((limit) => limit.stops)
  const lines = [
    begins
      ? `cost: ${range(cost)}. Nothing was paid.`
      : 'cost: nothing, because a run would not begin. Nothing was paid.',
    ...(isCapped ? [`without what stops it: ${range(uncapped)}`] : []),
    ...(stops.length > 0 && begins
      ? [`stopped by ${stops.map(limitText).join(', ')}: the rest is parked and goes on later`]
      : []),
    `limits: ${limits
      .filter(({ cap }) => cap !== null)
      .map(limitText)
      .join(', ')}`,
    ...(wallet
      ? [`wallet: ${wallet.address}${wallet.balance === null ? ', which could not be read' : ''}`]
      : []),
    ...(begins ? [] : [`a run would not begin:`, ...refusals.map(({ message }) => `  ${message}`)]),
  ]
  return `${lines.join('\n')}\n`
}

const limitNames: Record<PlanCost['limits'][number]['name'], string> = {
  run: 'run',
  day: 'today',
  month: 'this month',
  connector: 'this connector today',
  wallet: 'wallet',
  stopped: 'spending is stopped',
}

function limitText({ name, cap, used, left }: PlanCost['limits'][number]): string {
  if (name === 'stopped') return limitNames.stopped
  if (name === 'wallet') return `wallet ${left ?? 'unknown'}`
  return used === '0.000000'
    ? `${limitNames[name]} ${cap ?? 'no cap'}`
    : `${limitNames[name]} ${left ?? ''} left of ${cap ?? ''}`
}

/** The table of the steps; empty where there is nothing to buy. */
function stepsText(steps: readonly PlanStep[]): string {
  if (steps.length === 0) return ''
  const rows = steps.map(({ step, price, cap, stopped, lookups, cost, seen }) => [
    step,
    price ?? `up to ${cap}`,
    String(lookups.low),
    String(lookups.expected),
    String(lookups.high),
    cost.low,
    cost.expected,
    cost.high,
    stopped
      ? `stopped: the cap is ${cap}`
      : seen.answers > 0
        ? `${seen.found} of the last ${seen.answers} found`
        : 'none seen yet',
  ])
  const head = ['step', 'price', 'low', 'expected', 'high', 'USD low', 'expected', 'high', 'answers']
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [head, ...rows]
    .map(
      (row) =>
        `  ${row
          .map((cell, column) => {
            const width = widths[column] ?? 0
            return column === 0 || column === row.length - 1 ? cell.padEnd(width) : cell.padStart(width)
          })
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

const shownRecords = 5

function previewText({ records, fields, rows }: NonNullable<RunPlan['preview']>): string {
  const counts = Object.entries(fields)
    .sort(([, a], [, b]) => b - a)
    .map(([field, count]) => `${field} ${count}`)
  const lines = rows
    .slice(0, shownRecords)
    .flatMap(({ record, fields: changes }) => [
      `  ${record}`,
      ...Object.entries(changes).map(
        ([field, { from, to }]) =>
          `    ${field}: ${from === null ? '(blank)' : JSON.stringify(from)} → ${JSON.stringify(to)}`,
      ),
    ])
  return `from answers in the ledger, ${counted(records, 'record')} would be written: ${counts.join(', ')}\n${lines.join('\n')}\n`
}
