import { Command, InvalidArgumentError } from 'commander'
import { helpEnd } from '../terminal/help-end.ts'
import { lazily } from '../terminal/lazily.ts'

export function templatesCommand(): Command {
  return new Command('templates')
    .description('Channel templates of the workspace: their types, a new one, and the removal of versions.')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt monitors templates types'],
        statuses: {},
        notes: ['The service lists types and no templates: keep the number that `create` prints.'],
      }),
    )
    .addCommand(
      new Command('types')
        .description('Show the types of channel templates, with node, channel and parameters.')
        .option('--json', 'print one JSON document')
        .addHelpText('after', helpEnd({ examples: ['paydirt monitors templates types'], statuses: {} }))
        .action(lazily(async () => (await import('./templates.ts')).listTemplateTypes)),
    )
    .addCommand(
      new Command('create')
        .description('Make a channel template, after its parameters were held against its type.')
        .requiredOption('--node <uuid>', 'channel_node_id, as `types` shows it')
        .option('--type <slug>', 'channel_type_slug; default: that of the node')
        .option('--name <name>', 'its name')
        .option('--parameters <json>', 'its parameters: JSON, @FILE, or - for standard input', '{}')
        .option('--yes', 'send it', false)
        .option('--again', 'make one more of those that were made before', false)
        .addHelpText(
          'after',
          helpEnd({
            examples: [
              'paydirt monitors templates create --node 5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a04 --name Welcome --parameters @welcome.json --yes',
            ],
            statuses: { 2: 'refused before anything was sent' },
          }),
        )
        .action(lazily(async () => (await import('./templates.ts')).makeTemplate)),
    )
    .addCommand(
      new Command('delete')
        .description('Remove versions of channel templates, each by its number.')
        .argument('<id...>', 'channel_template_id of each version', numberOf)
        .option('--yes', 'send it', false)
        .option('--again', 'send it once more where its first answer was lost', false)
        .addHelpText(
          'after',
          helpEnd({ examples: ['paydirt monitors templates delete 4101 --yes'], statuses: {} }),
        )
        .action(lazily(async () => (await import('./templates.ts')).removeTemplates)),
    )
}

function numberOf(text: string, earlier: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('must be the number of a version')
  return [...new Set([...earlier, Number(text)])]
}
