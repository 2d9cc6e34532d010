import { defaultDays } from '../../../domain/signals/due.ts'
import { defaultScore } from '../../../domain/signals/score.ts'
import { signalTypes } from '../../../domain/signals/signal.ts'
import type { PipelineSettings } from '../../config/watching/signals.ts'
import { openConnector } from '../../context/connectors.ts'
import type { Context } from '../../context/context.ts'
import type { WrittenValues } from '../../writing/write-values.ts'
import { companyEntity, pipelineNamed } from '../accounts.ts'
import { noteAccounts, type NotedAccounts, type NotingPipeline } from '../noting/note-accounts.ts'
import { runSignals, type RunSignalsOptions, type SignalRun } from '../run-signals.ts'
import { writeSignals, type WritingPipeline } from './write-signals.ts'

export interface PipelineRun extends SignalRun {
  /** The outcome of the write into the records. Undefined for a run that was interrupted before: the next one writes it. */
  records: WrittenValues | undefined
  /** The notes and tasks. Undefined where the pipeline has none, or the run was interrupted before. */
  noted: NotedAccounts | undefined
}

export interface RunPipelineOptions extends RunSignalsOptions {
  onWriting?: ((records: number) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

/**
 * Asks for what is due of a pipeline's accounts, computes their scores, and writes what was observed into their records, then notes and
 * tasks.
 */
export async function runPipeline(
  context: Context,
  pipeline: string,
  { onWriting, onNotice, ...options }: RunPipelineOptions,
): Promise<PipelineRun> {
  const settings = pipelineNamed(context.config, pipeline)
  const run = await runSignals(context, pipeline, options)
  if (options.signal.aborted) return { ...run, records: undefined, noted: undefined }
  const target = await openTarget(context, pipeline, settings)
  try {
    const records = await writeSignals(
      context,
      writingOf(pipeline, settings),
      run.accounts.map(({ id }) => id),
      {
        target,
        signal: options.signal,
        onNotice,
        onProgress: ({ counts }) => onWriting?.(counts.written + counts.unchanged),
      },
    )
    const { signal } = options
    const noted =
      target && !signal.aborted
        ? await noteAccounts(context, notingOf(pipeline, settings), run.accounts, {
            ...target,
            runId: records.runId,
            signal,
          })
        : undefined
    return { ...run, records, noted }
  } finally {
    await target?.connector.close()
  }
}

function notingOf(name: string, { types, score, note, task }: PipelineSettings): NotingPipeline {
  return { name, types: types ?? signalTypes, rules: score ?? defaultScore, note, task }
}

/** Returns how a pipeline is written, with what holds where its settings say nothing. */
function writingOf(name: string, { types, days, score, write, accounts }: PipelineSettings): WritingPipeline {
  return {
    name,
    types: types ?? signalTypes,
    days: { ...defaultDays, ...definedOf(days ?? {}) },
    score: score ?? defaultScore,
    // Rows of a list have no record.
    write: 'list' in accounts ? false : (write ?? true),
  }
}

async function openTarget(context: Context, name: string, { accounts }: PipelineSettings) {
  if ('list' in accounts) return undefined
  const connector = await openConnector(context.config, accounts.connector, await context.openEngine())
  return { connector, entity: companyEntity(connector, accounts.entity, `signals.${name}.accounts`) }
}

function definedOf<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
