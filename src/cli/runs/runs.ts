import { userInfo } from 'node:os'
import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { describeRun } from '../../app/runs/run-detail.ts'
import type { ListedRun } from '../../app/runs/run-list.ts'
import { resumeOneRun, stopOneRun } from '../../app/runs/stop-run.ts'
import { ConfigError } from '../../domain/errors.ts'
import { counted } from '../../domain/values/counted.ts'
import type { RunResumed } from '../../store/runs/run-stops.ts'
import { runText } from './print-run.ts'
import { readConfig, withContext, withPaydirt } from '../terminal/with-context.ts'
import { warning } from '../terminal/style.ts'
import type { ScheduleView } from '../../app/schedules/schedule-commands.ts'
import { print } from '../terminal/print.ts'
import { spentText } from '../terminal/spent-text.ts'
import { undoneAmount, undoneWord } from '../../domain/values/undone-text.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  limit: number
  json?: true
  stop?: string | true
  resume?: true
}

export async function showRuns(id: string | undefined, options: Options): Promise<void> {
  if (options.stop !== undefined || options.resume) return stopOrResume(id, options)
  const config = await readConfig()
  await withPaydirt(async (paydirt) => {
    if (id !== undefined) {
      const run = await paydirt.run(id)
      print(options.json ? `${JSON.stringify(run)}\n` : runText(run))
      return
    }
    const runs = await paydirt.runs({ limit: options.limit })
    if (options.json) return print(`${JSON.stringify(runs)}\n`)
    const failed = (await queryLedger(config, 'schedules', {})).flatMap(failedLines)
    print(`${runs.map(listLine).join('') || 'no runs yet\n'}${failed.join('')}`)
  }, config)
}

/** A run that did not begin is in no list of runs. */
function failedLines({ name, last }: ScheduleView): string[] {
  return last
    .filter(({ state, runId }) => state === 'failed' && runId === null)
    .map(
      ({ entity, plannedAt, reason }) =>
        `${warning('failed')}: the run of the schedule ${name} (${entity}) of ${utcMinute(plannedAt)} did not begin${reason === null ? '' : `: ${reason}`}\n`,
    )
}

function listLine(run: ListedRun): string {
  return `${run.runId.padEnd(18)} ${utcMinute(run.startedAt)}  ${run.connector.padEnd(11)} ${(run.connector === 'csv' ? run.object : run.entity).padEnd(9)} ${run.state.padEnd(9)} ${counted(run.records, 'record').padStart(16)}  ${spentText(run.settled, run.credits)}${run.file === undefined ? '' : `  ${run.file}`}${watchedText(run)}${madeText(run)}${undoneText(run)}\n`
}

function watchedText({ list, signals, champions }: ListedRun): string {
  const named = Object.entries({ list, signals, champions }).find(([, name]) => name !== undefined)
  return named ? `  ${named.join(' ')}` : ''
}

function madeText({ made }: ListedRun): string {
  return made === undefined
    ? ''
    : `  ${made.created} created, ${made.exists} existed${made.ambiguous > 0 ? `, ${made.ambiguous} ambiguous` : ''}`
}

function undoneText({ undone }: ListedRun): string {
  return undone === null ? '' : `  ${undoneWord(undone)}: ${undoneAmount(undone)}, ${utcMinute(undone.at)}`
}

async function stopOrResume(id: string | undefined, { stop, resume, json }: Options): Promise<void> {
  if (id === undefined || (stop !== undefined && resume))
    throw new ConfigError(
      'which_run',
      'name one run and one of --stop and --resume: `paydirt runs RUN --stop`',
    )
  await withContext(async (context) => {
    // The stop comes before its note: an audit log that cannot be written must not prevent it.
    if (stop !== undefined) {
      const reason = stop === true ? '' : stop
      await stopOneRun(context, id, { by: userInfo().username, reason })
      await noteFromCli(context, 'run.stop', { target: id })
      print(
        json
          ? `${JSON.stringify({ runId: id, state: 'stopped' })}\n`
          : `run ${id} is stopped: nothing more is bought for it. \`paydirt runs ${id} --resume\` lets it continue\n`,
      )
      return
    }
    const by = await resumeOneRun(context, id)
    await noteFromCli(context, 'run.resume', { target: id })
    const { next } = await describeRun(context, id)
    print(
      json
        ? `${JSON.stringify({ runId: id, continuedBy: by, next })}\n`
        : `run ${id} is resumed: ${by === 'command' ? next.join('\n') : continuedBy[by]}\n`,
    )
  })
}

const continuedBy: Record<Exclude<RunResumed, 'command'>, string> = {
  workers: 'the workers of `paydirt start` continue it',
  scheduler: 'a scheduler of `paydirt start` reads the rest of its source, and the workers continue it',
}
