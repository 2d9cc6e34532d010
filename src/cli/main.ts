import { Command, CommanderError } from 'commander'
import { keepHeapLean } from '../app/lean-heap.ts'
import { version } from '../app/version.ts'
import { applyCommand } from './apply.ts'
import { csvCommand } from './csv.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { explainCommand } from './explain.ts'
import { enrichCommand } from './enrich.ts'
import { exitStatus, reportError } from './exit.ts'
import { forgetCommand } from './forget.ts'
import { historyCommand } from './history.ts'
import { passwordCommand } from './password.ts'
import { reconcileCommand } from './reconcile.ts'
import { reportCommand } from './report.ts'
import { runsCommand } from './runs.ts'
import { sandboxCommand } from './sandbox.ts'
import { schedulesCommand } from './schedules.ts'
import { spendCommand } from './spend.ts'
import { startCommand } from './start.ts'
import { suppressCommand } from './suppress.ts'
import { syncCommand } from './sync.ts'
import { tokenCommand } from './token.ts'
import { undoCommand } from './undo.ts'
import { walletCommand } from './wallet.ts'

keepHeapLean()
const program = new Command('paydirt')
  .description(
    'Enriches CRM records, one paid lookup at a time. No lookup is paid twice, no paid answer is lost,\nno good value is overwritten, and every cent can be shown.',
  )
  .version(version)
  .showHelpAfterError('(`paydirt --help` lists the commands)')
  .configureHelp({ sortSubcommands: false })

for (const command of [
  demoCommand(),
  csvCommand(),
  syncCommand(),
  enrichCommand(),
  startCommand(),
  schedulesCommand(),
  applyCommand(),
  runsCommand(),
  spendCommand(),
  reportCommand(),
  reconcileCommand(),
  explainCommand(),
  historyCommand(),
  undoCommand(),
  suppressCommand(),
  forgetCommand(),
  tokenCommand(),
  walletCommand(),
  passwordCommand(),
  doctorCommand(),
  sandboxCommand(),
]) {
  program.addCommand(command)
}
for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
  command.exitOverride().showHelpAfterError()

try {
  await program.exitOverride().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitStatus.usage
  else process.exitCode = reportError(error)
}
