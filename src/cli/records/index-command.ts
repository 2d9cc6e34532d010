import { Argument, Command } from 'commander'
import { crmNames } from '../terminal/choices.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function indexCommand(): Command {
  return new Command('index')
    .description(
      'Read what identifies the records of a CRM (profiles, domains, e-mails, phones, names) into the ledger, so that each is found again under every spelling. The first time all records are read, later only those that changed. Buys nothing and writes nothing into the CRM. Ctrl-C loses nothing: the same command goes on.',
    )
    .addArgument(new Argument('<connector>', 'the CRM').choices(crmNames))
    .option('--object <object>', "only this object: company, person, or the CRM's own name")
    .option('--rebuild', 'read all records again, and drop those that are gone', false)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt index hubspot', 'paydirt index salesforce --object Account --rebuild'],
        statuses: {},
      }),
    )
    .action(lazily(async () => (await import('./build-index.ts')).buildIndex))
}
