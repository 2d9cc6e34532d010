import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

/**
 * Returns the type errors of the project in `folder`. Throws if the type checker did not run.
 *
 * @param {string} folder
 * @returns {{ file: string, line: number, message: string }[]}
 */
export function typeCheck(folder) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const found = [...stdout.matchAll(/^(\S.*?)\((\d+),\d+\): error (.*(?:\n .*)*)$/gm)].map(
    ([, file = '', line, message = '']) => ({
      file: resolve(folder, file),
      line: Number(line),
      message: message.replaceAll(/\n\s+/g, ' '),
    }),
  )
  if (status !== 0 && found.length === 0) throw new Error(`tsc -p ${folder}: ${stdout}${stderr}`)
  return found
}
