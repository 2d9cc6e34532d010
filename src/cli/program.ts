import { Command, CommanderError } from 'commander'
import { version } from '../app/config/version.ts'
import { applyCommand } from './runs/apply-command.ts'
import { backupCommand } from './backup/backup-command.ts'
import { restoreCommand } from './backup/restore-command.ts'
import { completionCommand } from './completion/completion-command.ts'
import { csvCommand } from './runs/csv-command.ts'
import { demoCommand } from './demo/demo-command.ts'
import { doctorCommand } from './setup/doctor-command.ts'
import { explainCommand } from './records/explain-command.ts'
import { enrichCommand } from './runs/enrich-command.ts'
import { exitStatus, reportError } from './terminal/exit.ts'
import { forgetCommand } from './records/forget-command.ts'
import { indexCommand } from './records/index-command.ts'
import { initCommand } from './setup/init-command.ts'
import { historyCommand } from './records/history-command.ts'
import { optionsCommand } from './setup/options-command.ts'
import { passwordCommand } from './setup/password-command.ts'
import { migrateCommand } from './setup/migrate-command.ts'
import { retentionCommand } from './setup/retention-command.ts'
import { listsCommand } from './lists/lists-command.ts'
import { monitorsCommand } from './monitors/monitors-command.ts'
import { championsCommand } from './champions/champions-command.ts'
import { signalsCommand } from './signals/signals-command.ts'
import { reconcileCommand } from './money/reconcile-command.ts'
import { reportCommand } from './runs/report-command.ts'
import { runsCommand } from './runs/runs-command.ts'
import { serviceCommand } from './service/service-command.ts'
import { sandboxCommand } from './demo/sandbox-command.ts'
import { schedulesCommand } from './runs/schedules-command.ts'
import { spendCommand } from './money/spend-command.ts'
import { helpEnd } from './terminal/help-end.ts'
import { print, printError } from './terminal/print.ts'
import { bad, bold } from './terminal/style.ts'
import { startCommand } from './runs/start-command.ts'
import { suppressCommand } from './records/suppress-command.ts'
import { syncCommand } from './runs/sync-command.ts'
import { tokenCommand } from './setup/token-command.ts'
import { undoCommand } from './records/undo-command.ts'
import { walletCommand } from './money/wallet-command.ts'

/** Runs one command line. The exit status is in `process.exitCode` afterwards, and errors are on standard error. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitStatus.usage
    else {
      const { besideHolder } = await import('./terminal/beside-holder.ts')
      process.exitCode = reportError(await besideHolder(error, args))
    }
  }
}

const output = {
  writeOut: print,
  writeErr: printError,
  outputError: (text: string, write: (text: string) => void) => write(text.replace(/^error:/, bad('error:'))),
}

/** Returns the command line with all its commands. Parsing throws CommanderError instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('paydirt')
    .description(
      'Enriches CRM records, one paid lookup at a time. No lookup is paid twice, no paid answer is lost, no good value is overwritten, and every cent can be shown.',
    )
    .version(version)
    .configureOutput(output)
    .showHelpAfterError('(`paydirt --help` lists the commands)')
    .configureHelp({ sortSubcommands: false, subcommandTerm: (command) => command.name(), styleTitle: bold })
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt demo', 'paydirt csv companies.csv --object company --plan', 'paydirt doctor'],
        notes: ['`paydirt COMMAND --help` shows the options, examples and exit statuses of a command.'],
      }),
    )

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
    serviceCommand(),
    doctorCommand(),
    migrateCommand(),
    retentionCommand(),
    backupCommand(),
    restoreCommand(),
    optionsCommand(),
    indexCommand(),
    listsCommand(),
    signalsCommand(),
    championsCommand(),
    monitorsCommand(),
    sandboxCommand(),
    completionCommand(),
  ]) {
    program.addCommand(command)
  }
  for (const command of commandsBelow(program))
    command
      .exitOverride()
      // The whole help would push the error off the screen.
      .showHelpAfterError(`(\`${fullName(command)} --help\` shows how it is used)`)
      .configureHelp({ styleTitle: bold })
      .configureOutput(output)
  return program.exitOverride()
}

function commandsBelow(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...commandsBelow(each)])
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}
