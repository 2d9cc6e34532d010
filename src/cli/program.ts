import { Command, CommanderError } from 'commander'
import { version } from '../app/config/version.ts'
import { applyCommand } from './runs/apply.ts'
import { csvCommand } from './runs/csv.ts'
import { demoCommand } from './demo/demo.ts'
import { doctorCommand } from './setup/doctor.ts'
import { explainCommand } from './records/explain.ts'
import { enrichCommand } from './runs/enrich.ts'
import { exitStatus, reportError } from './terminal/exit.ts'
import { forgetCommand } from './records/forget.ts'
import { initCommand } from './setup/init.ts'
import { historyCommand } from './records/history.ts'
import { optionsCommand } from './setup/options.ts'
import { passwordCommand } from './setup/password.ts'
import { reconcileCommand } from './money/reconcile.ts'
import { reportCommand } from './runs/report.ts'
import { runsCommand } from './runs/runs.ts'
import { sandboxCommand } from './demo/sandbox.ts'
import { schedulesCommand } from './runs/schedules.ts'
import { spendCommand } from './money/spend.ts'
import { print, printError } from './terminal/print.ts'
import { startCommand } from './runs/start.ts'
import { suppressCommand } from './records/suppress.ts'
import { syncCommand } from './runs/sync.ts'
import { tokenCommand } from './setup/token.ts'
import { undoCommand } from './records/undo.ts'
import { walletCommand } from './money/wallet.ts'

/** Runs one command line. The exit status is in `process.exitCode` afterwards, and errors are on standard error. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitStatus.usage
    else process.exitCode = reportError(error)
  }
}

/** Returns the command line with all its commands. Parsing throws CommanderError instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('paydirt')
    .description(
      'Enriches CRM records, one paid lookup at a time. No lookup is paid twice, no paid answer is lost, no good value is overwritten, and every cent can be shown.',
    )
    .version(version)
    .configureOutput({ writeOut: print, writeErr: printError })
    .showHelpAfterError('(`paydirt --help` lists the commands)')
    .configureHelp({ sortSubcommands: false, subcommandTerm: (command) => command.name() })

  for (const command of [
    demoCommand(),
    initCommand(),
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
    optionsCommand(),
    sandboxCommand(),
  ]) {
    program.addCommand(command)
  }
  for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
    command.exitOverride().showHelpAfterError().configureOutput({ writeOut: print, writeErr: printError })
  return program.exitOverride()
}
