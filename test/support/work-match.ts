// A process of its own that works one match, as `paydirt start` does, so that it can be killed at any point.
import { onMatchSchema } from '../../src/app/config/watching/on-match.ts'
import { openConnector } from '../../src/app/context/connectors.ts'
import { workMatch } from '../../src/app/matches/work-match.ts'
import { readConfig, withContext } from '../../src/cli/terminal/with-context.ts'

const [declared = '', source = ''] = process.argv.slice(2)
const config = {
  ...(await readConfig()),
  monitors: {
    dach: {
      detection_mode: 'signal_first',
      signal_types: ['expansions'],
      onMatch: onMatchSchema.parse(JSON.parse(declared)),
    },
  },
}
await withContext(async (context) => {
  // A process that was killed holds its lease for minutes.
  await context.database.db
    .updateTable('matches')
    .set({ due_at: new Date(0) })
    .execute()
  const match = await workMatch(context, 'dach', JSON.parse(source), {
    signal: new AbortController().signal,
    connectorOf: async (name) => openConnector(config, name, await context.openEngine()),
  })
  process.stdout.write(JSON.stringify(match))
}, config)
process.exit(0)
