import { Command, InvalidArgumentError, Option } from 'commander'
import { objectNamed } from '../../domain/entity-names.ts'
import { objectKinds, type ObjectKind } from '../../domain/words.ts'
import { helpEnd, runStatuses } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'
import { recipeNote, recipeOption } from '../terminal/recipe-option.ts'
import { repeatable } from '../terminal/repeatable.ts'

export function csvCommand(): Command {
  return new Command('csv')
    .description(
      'Enrich a CSV file. Answers that the ledger already has are not bought again; an interrupted run continues.',
    )
    .argument('<in>', 'the CSV file; its columns are found by name (profnet_url, domain, email ...)')
    .addOption(
      new Option('--object <kind>', 'what each row is: company or person')
        .choices(objectKinds)
        .argParser(objectKind)
        .makeOptionMandatory(),
    )
    .addOption(recipeOption())
    .addOption(
      repeatable(
        '--map <columns>',
        "which column is what, where names do not say so: 'profile=LinkedIn URL,email=E-Mail' (profile, domain, email, phone, first_name, last_name, company; #3 is the third column, email= none)",
      ),
    )
    .option(
      '--encoding <name>',
      'how the file is encoded, where it is not UTF-8: windows-1252, utf-16 ... (default: by its byte order mark, or utf-8)',
    )
    .option('--out <file>', 'where the enriched CSV goes (- for standard output)')
    .option(
      '--force',
      'replace a file at --out; without it, only an unedited output of the same input is replaced',
    )
    .option(
      '--plan',
      'show a plan and save it: what would be bought, filled and paid; pays nothing (see apply)',
    )
    .option('--json', 'print one JSON document on standard output; progress stays on standard error')
    .addHelpText(
      'after',
      helpEnd({
        examples: [
          'paydirt csv companies.csv --object company --plan',
          'paydirt csv companies.csv --object company --out enriched.csv',
          "paydirt csv export.csv --object person --encoding windows-1252 --map 'profile=LinkedIn URL,email=E-Mail' --plan",
        ],
        notes: [recipeNote],
        statuses: { ...runStatuses, 0: 'every row is final' },
      }),
    )
    .action(lazily(async () => (await import('./csv.ts')).enrichFile))
}

function objectKind(text: string): ObjectKind {
  const object = objectNamed(text)
  if (object) return object
  throw new InvalidArgumentError('must be company or person (or companies, people)')
}
