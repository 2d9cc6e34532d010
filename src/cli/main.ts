import { CommanderError } from 'commander'
import { limitHeap } from '../app/context/heap-limits.ts'
import { createProgram } from './program.ts'
import { exitStatus, reportError } from './terminal/exit.ts'

limitHeap()

try {
  await createProgram().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitStatus.usage
  else process.exitCode = reportError(error)
}
