import { constants } from 'node:os'
import type { Ended } from './cli.ts'
import { keepingLedgers } from './kept-ledgers.ts'

/** One after the other: environment, directory, streams and exit status belong to the whole process. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command line in this process and returns what a process of its own would have printed and ended with. Starting
 * Node, loading the sources and compiling the database takes two seconds of a processor, and a test that looks at output
 * alone learns nothing from them.
 */
export function runInProcess(
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<Ended> {
  const run = last.then(() => runAlone(args, options))
  last = run.catch(() => {})
  return run
}

async function runAlone(
  args: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<Ended> {
  // Not at the top: it is large, and most test files do not need it.
  const { runProgram } = await import('../../src/cli/program.ts')
  const restore = [replaceEnvironment(env), replaceDirectory(cwd), keepSignalListeners()]
  const stdout = capture(process.stdout, restore)
  const stderr = capture(process.stderr, restore)
  const { exitCode } = process
  process.exitCode = undefined
  try {
    await keepingLedgers(() => runProgram(args))
    const status = Number(process.exitCode ?? 0)
    const text = stdout.text()
    return {
      status,
      signal: null,
      stdout: text,
      stderr: stderr.text(),
      json: () => JSON.parse(text) as never,
    }
  } finally {
    process.exitCode = exitCode
    for (const undo of restore.reverse()) undo()
  }
}

/** The object stays the one that it is: `process.loadEnvFile` writes into the real environment and into no other. */
function replaceEnvironment(env: NodeJS.ProcessEnv): () => void {
  const before = { ...process.env }
  function put(wanted: NodeJS.ProcessEnv): void {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, wanted)
  }
  put(env)
  return () => put(before)
}

function replaceDirectory(cwd: string): () => void {
  const before = process.cwd()
  process.chdir(cwd)
  return () => process.chdir(before)
}

/** A command that can be stopped listens for signals until its process ends, which here it does not. */
function keepSignalListeners(): () => void {
  const names = Object.keys(constants.signals) as NodeJS.Signals[]
  const before = new Map(names.map((name) => [name, process.listeners(name)]))
  return () => {
    for (const [name, kept] of before)
      for (const listener of process.listeners(name))
        if (!kept.includes(listener)) process.removeListener(name, listener)
  }
}

function capture(stream: NodeJS.WriteStream, restore: (() => void)[]): { text(): string } {
  const parts: Buffer[] = []
  const { write } = stream
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    parts.push(Buffer.from(chunk as string))
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined
    if (done) queueMicrotask(done)
    return true
  }) as typeof stream.write
  restore.push(() => void (stream.write = write))
  return { text: () => Buffer.concat(parts).toString() }
}
