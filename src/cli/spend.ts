import { Command, Option } from 'commander'
import { formatUsd } from '../domain/money.ts'
import { spendBy, spendGroups, type SpendGroup } from '../store/spend.ts'
import { withContext } from './with-context.ts'

export function spendCommand(): Command {
  return new Command('spend')
    .description('Show what was spent, from the ledger.')
    .addOption(new Option('--by <group>', 'group by').choices(spendGroups).default('day'))
    .option('--json', 'print one JSON document')
    .action(async (options: { by: SpendGroup; json?: true }) => {
      await withContext(async ({ database }) => {
        const rows = (await spendBy(database.db, options.by)).map((row) => ({
          [options.by]: row.name,
          charges: row.charges,
          settled: formatUsd(row.settledAtomic),
          inDoubt: formatUsd(row.inDoubtAtomic),
          lost: formatUsd(row.lostAtomic),
        }))
        if (options.json) process.stdout.write(`${JSON.stringify({ currency: 'USD', rows })}\n`)
        else if (rows.length === 0) process.stdout.write('nothing was spent yet\n')
        else {
          process.stdout.write(
            `${options.by.padEnd(24)} ${'charges'.padStart(8)} ${'settled USD'.padStart(14)} ${'in doubt'.padStart(12)} ${'lost'.padStart(12)}\n`,
          )
          for (const row of rows) {
            process.stdout.write(
              `${String(row[options.by]).padEnd(24)} ${String(row.charges).padStart(8)} ${row.settled.padStart(14)} ${row.inDoubt.padStart(12)} ${row.lost.padStart(12)}\n`,
            )
          }
        }
      })
    })
}
