import { createHash } from 'node:crypto'
import { z } from 'zod'
import { atomicCredits } from '../../domain/credits.ts'
import { PaydirtError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { readMeta, writeMeta } from '../../store/database/meta.ts'
import { creditsBooked, type CreditsBooked } from '../../store/ledger/paid-charges.ts'
import { automaticMonitors } from '../config/watching/match-lists.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { moduleLog } from '../context/log.ts'

/** The workspace of the API key, as the service reports it, beside what the ledger has booked with the key. */
export interface AccountCount {
  /** Credits used with the key in all; null when the service does not say. */
  used: string | null
  left: string | null
  /** Since when both are compared; null when this is the first count, which later ones are compared with. */
  since: string | null
  /** Credits used since then by the account's count, and by the ledger. */
  usedSince: string | null
  bookedSince: string | null
  /** The credits that the account has used and the ledger has not booked: charges in doubt, failed requests, others with the same key. */
  unexplained: string | null
  /**
   * `agree`: no request in doubt was charged. `unexplained`: up to that much was. `behind`: the account's count is below the
   * ledger, so it says nothing. `under_way`: requests are out. `unknown`: there is nothing to compare.
   */
  verdict: 'agree' | 'unexplained' | 'behind' | 'under_way' | 'unknown'
  /** Monitors for which the service enriches people by itself: it spends credits that no charge of the ledger explains. */
  automaticMonitors: string[]
  /** Charges in doubt, and their credits. */
  inDoubt: { charges: number; credits: string }
  /** The reason why the service could not be asked. */
  problem?: string | undefined
}

const baselineSchema = z.object({
  at: z.iso.datetime(),
  counter: z.enum(['used', 'left']),
  count: z.string().transform(BigInt),
  paid: z.string().transform(BigInt),
})
type Baseline = z.output<typeof baselineSchema>

/** An answer, and the account's count of it, may be on its way for this long. */
const settledAfterMs = 10 * 60_000

type CountContext = Pick<Context, 'database' | 'config' | 'now'>

/** The ledger, as far as a count needs it. */
interface CountLedger {
  /** Returns the credits booked in all; a charge in doubt sent before `settledBefore` is no longer under way. */
  booked(settledBefore: Date): Promise<CreditsBooked>
  read(name: string): Promise<string | undefined>
  write(name: string, value: string): Promise<void>
}

function ledgerOf({ db }: Context['database']): CountLedger {
  return {
    booked: (settledBefore) => creditsBooked(db, settledBefore),
    read: (name) => readMeta(db, name),
    write: (name, value) => writeMeta(db, name, value),
  }
}

/**
 * Compares the account's own count of credits with the ledger's, from a first count on. Returns undefined without an API
 * key, because there is no workspace to ask about.
 *
 * The ledger is read before and after the account: when a charge was settled in between, nothing is compared. The count moves
 * on only when both agree and nothing is in doubt, so that a later disagreement is never older than the last agreement.
 */
export async function accountCount(
  context: CountContext,
  engine: Pick<Engine, 'askAccount'>,
  ledger: CountLedger = ledgerOf(context.database),
): Promise<AccountCount | undefined> {
  const { apiKey } = context.config
  if (!apiKey) return undefined
  const name = nameOf(apiKey.key)
  const at = context.now()
  const booked = () => ledger.booked(new Date(at.getTime() - settledAfterMs))
  const before = await booked()
  const known = {
    ...nothing,
    automaticMonitors: automaticMonitors(context.config),
    inDoubt: { charges: before.inDoubt, credits: formatUsd(before.inDoubtAtomic) },
  }
  const account = await ask(engine)
  if ('problem' in account) return { ...known, problem: account.problem }
  const after = await booked()
  const shown = { ...known, used: text(account.used), left: text(account.left) }
  const baseline = await readBaseline(ledger, name)
  const count = baseline ? account[baseline.counter] : (account.used ?? account.left)
  if (count === undefined) return shown
  const isQuiet = after.underWay === 0 && after.paidAtomic === before.paidAtomic
  const counter = baseline?.counter ?? (account.used === undefined ? 'left' : 'used')
  const next: Baseline = { at: at.toISOString(), counter, count, paid: after.paidAtomic }
  if (!baseline) {
    if (isQuiet && after.inDoubt === 0) await writeBaseline(ledger, name, next)
    return isQuiet ? shown : { ...shown, verdict: 'under_way' }
  }
  const usedAtomic = counter === 'used' ? count - baseline.count : baseline.count - count
  const paidAtomic = after.paidAtomic - baseline.paid
  const since = {
    since: baseline.at,
    usedSince: signed(usedAtomic),
    bookedSince: signed(paidAtomic),
  }
  if (!isQuiet) return { ...shown, ...since, verdict: 'under_way' }
  const unexplained = usedAtomic - paidAtomic
  const verdict = unexplained === 0n ? 'agree' : unexplained > 0n ? 'unexplained' : 'behind'
  if (verdict === 'agree' && after.inDoubt === 0) await writeBaseline(ledger, name, next)
  return { ...shown, ...since, unexplained: signed(unexplained), verdict }
}

/**
 * Takes the first count before anything is bought, so that a later comparison has something to begin with. One free request,
 * once for each key. When the service does not answer it, the work goes on without.
 */
export async function takeFirstCount(
  context: CountContext & Pick<Context, 'log'>,
  engine: Pick<Engine, 'askAccount'>,
): Promise<void> {
  const { apiKey } = context.config
  if (!apiKey || (await readBaseline(ledgerOf(context.database), nameOf(apiKey.key)))) return
  const count = await accountCount(context, engine)
  if (count?.problem)
    moduleLog(context.log, 'pay').warn({ problem: count.problem }, "the account's count cannot be read")
}

/** The key itself is never stored. */
function nameOf(key: string): string {
  return `account_count:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`
}

const nothing = {
  used: null,
  left: null,
  since: null,
  usedSince: null,
  bookedSince: null,
  unexplained: null,
  verdict: 'unknown' as const,
}

/** Credits in millionths. */
interface Account {
  used: bigint | undefined
  left: bigint | undefined
}

async function ask(engine: Pick<Engine, 'askAccount'>): Promise<Account | { problem: string }> {
  try {
    const data = (await engine.askAccount()) ?? {}
    const credits = (name: string) => {
      const value = data[name]
      return typeof value === 'number' && Number.isFinite(value) ? atomicCredits(value) : undefined
    }
    const [credit, topup] = [credits('credit'), credits('topup_credit')]
    const left = credit === undefined && topup === undefined ? undefined : (credit ?? 0n) + (topup ?? 0n)
    return { used: credits('total_credit_used') ?? credits('total_credit_cost'), left }
  } catch (error) {
    if (error instanceof PaydirtError) return { problem: error.message }
    throw error
  }
}

async function readBaseline(ledger: CountLedger, name: string): Promise<Baseline | undefined> {
  const value = await ledger.read(name)
  return value === undefined ? undefined : baselineSchema.parse(JSON.parse(value))
}

async function writeBaseline(
  ledger: CountLedger,
  name: string,
  { at, counter, count, paid }: Baseline,
): Promise<void> {
  await ledger.write(name, JSON.stringify({ at, counter, count: String(count), paid: String(paid) }))
}

/** Published as the service wrote it: whole credits without places. */
function text(atomic: bigint | undefined): string | null {
  return atomic === undefined ? null : String(Number(atomic) / 1e6)
}

function signed(atomic: bigint): string {
  return formatUsd(atomic)
}
