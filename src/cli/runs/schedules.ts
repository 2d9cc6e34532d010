import { userInfo } from 'node:os'
import { Command } from 'commander'
import {
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  type ScheduleView,
} from '../../app/schedules/schedule-commands.ts'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import type { Context } from '../../app/context/context.ts'
import { withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

export function schedulesCommand(): Command {
  const command = new Command('schedules')
    .description('List the schedules of the config with their next and last runs; pause, resume or run one.')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true }) => {
      await withContext(async (context) => {
        const schedules = await listSchedules(context)
        if (options.json) print(`${JSON.stringify(schedules.map(toDocument))}\n`)
        else print(schedules.map(toText).join('') || 'no schedules in paydirt.config.ts\n')
      })
    })
  command
    .command('pause')
    .argument('<name>')
    .description(
      'Start no more runs of it until it is resumed, also across restarts. An active run continues.',
    )
    .action((name: string) =>
      runAndNote('pause', name, (context) => pauseSchedule(context, name, userInfo().username)),
    )
  command
    .command('resume')
    .argument('<name>')
    .description('Resume it at its next planned time.')
    .action((name: string) => runAndNote('resume', name, (context) => resumeSchedule(context, name)))
  command
    .command('run')
    .argument('<name>')
    .description('Have the scheduler start it now, outside its times and windows.')
    .action((name: string) => runAndNote('run', name, (context) => runScheduleNow(context, name)))
  return command
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

function toText({ name, connector, object, cron, timeZone, isPaused, nextAt, last }: ScheduleView): string {
  const next = isPaused ? 'paused' : `next ${nextAt?.toISOString() ?? 'once a scheduler has started'}`
  const occurrences = last.map(
    ({ entity, plannedAt, state, runId, runState, reason }) =>
      `  ${entity.padEnd(12)} ${plannedAt.toISOString()}  ${(runState ?? state).padEnd(9)} ${runId ?? ''}${reason === null ? '' : ` (${reason})`}\n`,
  )
  return `${name}: ${connector} ${object ?? 'all objects'}, ${cron} (${timeZone}), ${next}\n${occurrences.join('')}`
}
