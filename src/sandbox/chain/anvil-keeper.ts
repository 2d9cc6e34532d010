// Runs as a process of its own between the sandbox and anvil: `node anvil-keeper.ts <binary> <arguments…>`. Its
// standard input is a pipe that the sandbox keeps open. When the sandbox ends for any reason, including SIGKILL, the
// pipe closes and the keeper stops anvil. No exit handler inside the sandbox could guarantee that.
import { spawn } from 'node:child_process'

const [binary, ...args] = process.argv.slice(2)
if (binary === undefined) throw new Error('anvil-keeper needs the path of the binary')

const anvil = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] })
anvil.on('error', (error) => {
  console.error(`anvil could not be started: ${error.message}`)
  process.exit(1)
})
anvil.on('exit', (code) => process.exit(code ?? 1))

process.stdin.on('close', end).on('error', end).resume()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)

announce()

/** Prints the address once. All other output of anvil is read and dropped, so that its pipe never fills. */
function announce() {
  let printed = ''
  anvil.stdout.setEncoding('utf8').on('data', function look(chunk: string) {
    printed += chunk
    const address = /Listening on (\S+)\n/.exec(printed)?.[1]
    if (address === undefined) return
    process.stdout.write(`${address}\n`)
    anvil.stdout.off('data', look).resume()
  })
}

// Sends a signal that anvil can handle, because only then does anvil write its state file.
function end() {
  anvil.kill('SIGTERM')
  setTimeout(() => anvil.kill('SIGKILL'), 3000)
}
