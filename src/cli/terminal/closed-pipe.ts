import { describeError } from '../../domain/errors.ts'
import { exitStatus } from './exit.ts'
import { printError } from './print.ts'

/**
 * Lets a command go on when the reader of its output has seen enough (`| head`). What would still be printed is dropped,
 * the work goes on to its end, and the exit status is that of the work. Output that cannot be written for another reason,
 * such as a full disk, makes the command fail. Called once, at the start of the process.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (isClosedPipe(error)) return
      // Behind everything else that sets the status.
      process.on('exit', () => (process.exitCode = exitStatus.failed))
      if (stream === process.stdout)
        printError(`paydirt: the output cannot be written: ${describeError(error)}\n`)
    })
  }
}

/** Every further write to a closed pipe fails too, and by then the stream may count as destroyed. */
function isClosedPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}
