import { access, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { hashFile, shellQuoted, type OpenedCsv } from '../../connectors/csv/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import { outputsAt } from '../../store/runs/file-outputs.ts'
import type { Context } from '../context/context.ts'

/** The permission to write an output at a path. */
export interface OutputPlace {
  /** True when a file that is there at the end of the run may be replaced. */
  replace: boolean
}

/**
 * Decides whether a run may write its output. A file that is there is replaced with `--force`, or where it is the output of
 * an earlier run of the same input and has not been edited since: so the same command continues a parked run, and a nightly
 * one renews its own file. Called before anything is bought. Throws ConfigError for any other file.
 */
export async function claimOutput(
  { database }: Pick<Context, 'database'>,
  csv: Pick<OpenedCsv, 'path' | 'sha256'>,
  out: string,
  options: { force: boolean },
): Promise<OutputPlace> {
  if (options.force || out === '-') return { replace: true }
  const existing = await stat(out).catch(() => undefined)
  if (!existing) return { replace: false }
  // Nothing is lost in an empty file, and a device keeps nothing.
  if (!existing.isFile() || existing.size === 0) return { replace: true }
  const ours = (await outputsAt(database.db, await realpath(out))).filter(
    ({ input }) => input.path === resolve(csv.path) || input.sha256 === csv.sha256,
  )
  if (ours.length > 0) {
    const sha256 = await hashFile(out)
    if (ours.some((output) => output.sha256 === sha256)) return { replace: true }
  }
  const why = ours[0]
    ? `run ${ours[0].runId} wrote it, and it has been changed since`
    : 'there is a file of this name already'
  throw new ConfigError(
    'csv_out_exists',
    `${out}: ${why}. Name another file with --out, or add --force to replace it`,
  )
}

/** Returns a name for the output of a file that no file has yet: `leads-enriched.csv` beside `leads.csv`. */
export async function freeOutputName(input: string): Promise<string> {
  const extension = extname(input)
  const stem = join(dirname(input), basename(input, extension))
  for (let number = 1; ; number += 1) {
    const name = `${stem}-enriched${number === 1 ? '' : `-${number}`}${extension || '.csv'}`
    const isTaken = await access(name).then(
      () => true,
      () => false,
    )
    if (!isTaken) return name
  }
}

/** Returns the command that carries out the plan of a file, as a shell takes it. */
export function applyCommandOf(planId: string, out: string, options: { force: boolean }): string {
  return `paydirt apply ${planId} --out ${shellQuoted(out)}${options.force ? ' --force' : ''}`
}
