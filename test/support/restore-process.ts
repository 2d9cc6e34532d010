// `paydirt restore` in a process of its own, which kills itself after the statement of its order. It prints how many it ran.
import { restore } from '../../src/app/backup/restore.ts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'

export interface RestoreOrder {
  env: Record<string, string | undefined>
  file: string
  /** The number of the statement after which it dies. */
  killAfter?: number
}

const { env, file, killAfter } = JSON.parse(process.argv[2] ?? '') as RestoreOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

let statements = 0
await restore(resolveConfig(readEnvironment(env), fileSchema.parse({})), file, {
  now: () => new Date(),
  onTable: () => {},
  onQuery() {
    statements += 1
    if (statements === killAfter) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write(`${JSON.stringify({ statements })}\n`, () => process.exit(0))
