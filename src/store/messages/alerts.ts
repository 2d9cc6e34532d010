import { sql } from 'kysely'
import type { AlertCondition, AlertDecision, AlertState, Severity, Standing } from '../../domain/alerts.ts'
import type { reportCondition } from '../../domain/signals/scheduled-report.ts'
import type { Database } from '../database/database.ts'
import { readAlertState } from './alert-state.ts'

interface Alert {
  id: bigint
  /** A report is sent like an alert, and never stands. */
  condition: AlertCondition | typeof reportCondition
  subject: string
  severity: Severity
  message: string
  raisedAt: Date
  endedAt: Date | null
  endedMessage: string | null
}

/** A message that the webhook has not received yet. */
export interface Delivery {
  id: bigint
  kind: 'raised' | 'ended'
  tries: number
  alert: Alert
}

export interface AlertLedger {
  /** Runs of `foreground` connectors are left out: the command that began one is watched by the person who started it. */
  state(options: {
    schedules: readonly string[]
    foreground: readonly string[]
  }): Promise<Omit<AlertState, 'wallet' | 'contract' | 'monitors'>>
  active(): Promise<(Standing & Omit<Alert, 'condition'>)[]>
  /**
   * Stores a decision and its messages in one transaction. Returns only the alerts that this call raised or ended: when two
   * processes decide the same, only one of them reports it.
   */
  apply(decision: AlertDecision, options: { deliver: boolean }): Promise<{ raised: Alert[]; ended: Alert[] }>
  /** Leases up to `limit` due messages. The end of an alert is leased only after its beginning was delivered. */
  lease(limit: number, leaseMs: number): Promise<Delivery[]>
  delivered(id: bigint): Promise<void>
  failed(id: bigint, problem: string, againAt: Date): Promise<void>
}

export function createAlertLedger(db: Database, { now }: { now: () => Date }): AlertLedger {
  return {
    state: (options) => readAlertState(db, options, now()),

    async active() {
      const rows = await db
        .selectFrom('alerts')
        .selectAll()
        .where('ended_at', 'is', null)
        .orderBy('raised_at')
        .execute()
      return rows.map((row) => ({ ...toAlert(row), condition: row.condition as AlertCondition }))
    },

    apply: (decision, { deliver }) => storeDecision(db, decision, deliver, now()),

    async lease(limit, leaseMs) {
      const at = now()
      const { rows } = await sql<{ id: bigint; alert_id: bigint; kind: 'raised' | 'ended'; tries: number }>`
        with due as (
          select id from alert_deliveries as message
          where delivered_at is null and due_at <= ${at} and (lease_until is null or lease_until <= ${at})
            and not exists (
              select 1 from alert_deliveries as earlier
              where earlier.alert_id = message.alert_id and earlier.id < message.id and earlier.delivered_at is null)
          order by id limit ${limit} for update skip locked
        )
        update alert_deliveries set lease_until = ${new Date(at.getTime() + leaseMs)}, tries = tries + 1
        from due where alert_deliveries.id = due.id
        returning alert_deliveries.id, alert_id, kind, tries`.execute(db)
      if (rows.length === 0) return []
      const alerts = await db
        .selectFrom('alerts')
        .selectAll()
        .where(
          'id',
          'in',
          rows.map((row) => row.alert_id),
        )
        .execute()
      const byId = new Map(alerts.map((row) => [row.id, toAlert(row)]))
      return rows.flatMap(({ id, alert_id: alertId, kind, tries }) => {
        const alert = byId.get(alertId)
        return alert ? [{ id, kind, tries, alert }] : []
      })
    },

    async delivered(id) {
      await db
        .updateTable('alert_deliveries')
        .set({ delivered_at: now(), lease_until: null, problem: null })
        .where('id', '=', id)
        .execute()
    },

    async failed(id, problem, againAt) {
      await db
        .updateTable('alert_deliveries')
        .set({ problem, due_at: againAt, lease_until: null })
        .where('id', '=', id)
        .where('delivered_at', 'is', null)
        .execute()
    },
  }
}

async function storeDecision(
  db: Database,
  { raise, end }: AlertDecision,
  deliver: boolean,
  at: Date,
): Promise<{ raised: Alert[]; ended: Alert[] }> {
  if (raise.length === 0 && end.length === 0) return { raised: [], ended: [] }
  return db.transaction().execute(async (tx) => {
    const raised: Alert[] = []
    for (const finding of raise) {
      const row = await tx
        .insertInto('alerts')
        .values({ ...finding, raised_at: at })
        .onConflict((conflict) =>
          conflict.columns(['condition', 'subject']).where('ended_at', 'is', null).doNothing(),
        )
        .returningAll()
        .executeTakeFirst()
      if (row) raised.push(toAlert(row))
    }
    const ended: Alert[] = []
    for (const { id, message } of end) {
      const row = await tx
        .updateTable('alerts')
        .set({ ended_at: at, ended_message: message })
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .returningAll()
        .executeTakeFirst()
      if (row) ended.push(toAlert(row))
    }
    const deliveries = [
      ...raised.map(({ id }) => ({ alert_id: id, kind: 'raised' as const, due_at: at })),
      ...ended.map(({ id }) => ({ alert_id: id, kind: 'ended' as const, due_at: at })),
    ]
    if (deliver && deliveries.length > 0) await tx.insertInto('alert_deliveries').values(deliveries).execute()
    return { raised, ended }
  })
}

function toAlert(row: {
  id: bigint
  condition: string
  subject: string
  severity: Severity
  message: string
  raised_at: Date
  ended_at: Date | null
  ended_message: string | null
}): Alert {
  return {
    id: row.id,
    condition: row.condition as Alert['condition'],
    subject: row.subject,
    severity: row.severity,
    message: row.message,
    raisedAt: row.raised_at,
    endedAt: row.ended_at,
    endedMessage: row.ended_message,
  }
}
