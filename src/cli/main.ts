import { Command, CommanderError } from 'commander'
import { version } from '../app/version.ts'
import { csvCommand } from './csv.ts'
import { demoCommand } from './demo.ts'
import { exitStatus, reportError } from './exit.ts'
import { runsCommand } from './runs.ts'
import { sandboxCommand } from './sandbox.ts'
import { spendCommand } from './spend.ts'

const program = new Command('paydirt')
  .description(
    'Enriches CRM records, one paid lookup at a time. No lookup is paid twice, no paid answer is lost,\nno good value is overwritten, and every cent can be shown.',
  )
  .version(version)
  .showHelpAfterError('(`paydirt --help` lists the commands)')
  .configureHelp({ sortSubcommands: false })

for (const command of [demoCommand(), csvCommand(), runsCommand(), spendCommand(), sandboxCommand()]) {
  program.addCommand(command)
}
program.commands.forEach((command) => command.exitOverride().showHelpAfterError())

try {
  await program.exitOverride().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitStatus.usage
  else process.exitCode = reportError(error)
}
