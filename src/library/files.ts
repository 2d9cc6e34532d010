import type { Config } from '../app/config/config.ts'
import type { Context } from '../app/context/context.ts'
import { newPlanId } from '../app/context/new-id.ts'
import { claimOutput } from '../app/runs/csv-output.ts'
import { enrichCsv, openInput, planCsv, readingOf, type CsvPlan } from '../app/runs/enrich-csv.ts'
import { assertWritableOutput, type OpenedCsv } from '../connectors/csv/index.ts'
import { ConfigError } from '../domain/errors.ts'
import { endedEvent, progressEvent, type Work } from './work.ts'
import type { EndedRun, FileWork } from './types.ts'

/** Opens and checks the file and the place of its output, before a ledger is opened. */
export async function openFile(config: Config, job: FileWork, { emit }: Work): Promise<OpenedCsv> {
  const { file: input, object, map, encoding, out } = job
  const csv = await openInput(config, { input, object, map, encoding })
  for (const text of csv.warnings) emit({ type: 'notice', text })
  if (out !== undefined) await assertWritableOutput(input, out)
  return csv
}

export async function planFile(context: Context, csv: OpenedCsv, job: FileWork): Promise<CsvPlan> {
  const { recipe, out, force = false } = job
  if (out !== undefined) await claimOutput(context, csv, out, { force })
  return planCsv(context, csv, { planId: newPlanId(context), recipe, out, force })
}

export async function enrichFile(
  context: Context,
  csv: OpenedCsv,
  { recipe, out, force = false }: FileWork,
  { emit, signal }: Work,
): Promise<EndedRun> {
  if (out === undefined) throw new ConfigError('no_out', '`out` is needed: where the enriched CSV goes')
  const { replace } = await claimOutput(context, csv, out, { force })
  emit({ type: 'file', reading: readingOf(csv) })
  const ended = await enrichCsv(context, csv, {
    out,
    replace,
    recipe,
    signal,
    onProgress: (progress) => emit(progressEvent(progress)),
    onNotice: (text) => emit({ type: 'notice', text }),
    onResumed: ({ id, startedAt }) => emit({ type: 'resumed', runId: id, startedAt }),
  })
  emit(endedEvent(ended))
  return ended
}
