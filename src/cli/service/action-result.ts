import type { ActionEnd } from '../../app/actions/action-end.ts'
import { chargesText } from '../../app/service/own-charges.ts'
import { warningsOf } from '../../service/schema/metadata.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print, printError } from '../terminal/print.ts'

/** Prints the end of an action. Returns the exit status. */
export function reportAction(end: ActionEnd): number {
  const { operation } = end.action
  const say = (text: string) => printError(`paydirt: ${text}\n`)
  const cost = chargesText([...end.charges, ...end.readings])
  switch (end.state) {
    case 'done': {
      print(`${JSON.stringify(end.fact.data, null, 2)}\n`)
      say(
        end.by === 'reading'
          ? `${operation}: ${end.isSentNow ? 'it was sent, its answer was lost, and a reading shows that it is done' : 'an earlier command has sent it, and a reading shows that it is done: it was not sent again'} (${cost})`
          : `${operation}: done (${cost})`,
      )
      const said = warningsOf(end.fact.data)
      const ignored = said.filter(({ kind }) => kind === 'ignored').map(({ field }) => field)
      if (ignored.length > 0)
        say(`the service ignored ${ignored.join(', ')}: what it has made or changed is without them`)
      return ignored.length > 0 ? exitStatus.failed : exitStatus.done
    }
    case 'refused':
      say(`${operation} was refused, and nothing was changed: ${end.reason} (${cost})`)
      return exitStatus.failed
    case 'in_doubt':
      say(`${operation} is in doubt: ${end.reason} (${cost})`)
      say(`${end.advice}; \`paydirt service actions\` lists what is in doubt`)
      return exitStatus.parked
    case 'parked':
      say(
        end.wasRefused
          ? `${operation} was refused, and nothing was changed: ${end.reason} (${cost}). After that the same command sends it once more`
          : `${operation} was not sent: ${end.reason} (${cost}); the same command sends it`,
      )
      return exitStatus.parked
    case 'interrupted':
      say(`stopped (${cost}). The same command continues it, and never sends it blindly`)
      return exitStatus.interrupted
  }
}
