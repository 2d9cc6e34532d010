import { userInfo } from 'node:os'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import {
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  type ScheduleView,
} from '../../app/schedules/schedule-commands.ts'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import type { Context } from '../../app/context/context.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { zonedMinute } from '../../domain/values/zoned-minute.ts'

export async function showSchedules(options: { json?: true }): Promise<void> {
  const schedules = await queryLedger(await readConfig(), 'schedules', {})
  if (options.json) print(`${JSON.stringify(schedules.map(toDocument))}\n`)
  else print(schedules.map(toText).join('') || 'no schedules in paydirt.config.ts\n')
}

export function pause(name: string): Promise<void> {
  return runAndNote('pause', name, (context) => pauseSchedule(context, name, userInfo().username))
}

export function resume(name: string): Promise<void> {
  return runAndNote('resume', name, (context) => resumeSchedule(context, name))
}

export function runNow(name: string): Promise<void> {
  return runAndNote('run', name, async (context) => {
    const added = await runScheduleNow(context, name)
    print(
      added > 0
        ? `${name} begins as soon as a scheduler of \`paydirt start\` sees it, within seconds\n`
        : `${name} is about to begin already\n`,
    )
  })
}

function runAndNote(
  change: string,
  name: string,
  work: (context: Context) => Promise<unknown>,
): Promise<void> {
  return withContext(async (context) => {
    await work(context)
    await noteFromCli(context, `schedule.${change}`, { target: name })
  })
}

function toDocument(schedule: ScheduleView) {
  const last = schedule.last.map(({ entity, plannedAt, cause, state, reason, runId, runState }) => ({
    entity,
    plannedAt,
    cause,
    state,
    reason,
    runId,
    runState,
  }))
  return { ...schedule, last }
}

function toText({
  name,
  connector,
  object,
  list,
  signals,
  signalsReport,
  champions,
  cron,
  timeZone,
  isPaused,
  nextAt,
  last,
}: ScheduleView): string {
  const next = isPaused
    ? 'paused'
    : `next ${nextAt ? zonedMinute(nextAt, timeZone) : 'once a scheduler has started'}`
  const occurrences = last.map(
    ({ entity, plannedAt, state, runId, runState, reason }) =>
      `  ${entity.padEnd(12)} ${zonedMinute(plannedAt, timeZone)}  ${(runState ?? state).padEnd(9)} ${runId ?? ''}${reason === null ? '' : ` (${reason})`}\n`,
  )
  const target = `${connector} ${object ?? 'all objects'}`
  const work =
    (signals !== undefined && `the signals of ${signals}`) ||
    (signalsReport !== undefined && `the report of ${signalsReport} to the alert webhook`) ||
    (champions !== undefined && `the champions ${champions}`) ||
    (list !== undefined && `the list ${list} into ${target}`) ||
    target
  return `${name}: ${work}, ${cron} (${timeZone}), ${next}\n${occurrences.join('')}`
}
