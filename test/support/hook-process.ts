// `paydirt start` (role all) in a process of its own, which a test kills. It prints its address when it is ready. With `catchUp` it reads
// the logs of the monitors instead, and prints what it found.
import { catchUp } from '../../src/app/monitors/catch-up.ts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { serveQueries } from '../../src/app/queries/serve-queries.ts'
import { start } from '../../src/app/start.ts'

interface HookOrder {
  env: Record<string, string>
  file: object
  catchUp: boolean
}

const order = JSON.parse(process.argv[2] ?? '') as HookOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

const context = await createContext(resolveConfig(readEnvironment(order.env), fileSchema.parse(order.file)))
const say = (line: string) => process.stdout.write(`${line}\n`)
if (order.catchUp) {
  say('reading')
  const signal = new AbortController().signal
  const read = await catchUp(context, { signal, isForced: true })
  await context.close()
  process.stdout.write(`${JSON.stringify(read)}\n`, () => process.exit(0))
} else {
  await serveQueries(context)
  const running = await start(context, 'all')
  say(/web: (\S+)/.exec(running.parts.join('\n'))?.[1] ?? '')
}
