import type { Argument, Command, Option } from 'commander'
import { crmNames, entityNames } from '../terminal/choices.ts'
import { recipeTexts } from '../terminal/recipe-option.ts'
import { objectKinds } from '../../domain/words.ts'

/** The values that may stand in a place: a list, the name of a file, or anything. */
export type Values = readonly string[] | 'file' | 'any'

/** Everything that can be completed of a command. */
export interface CommandWords {
  /** The words behind `paydirt`: `wallet balance`. Empty for the program itself. */
  path: string
  name: string
  description: string
  options: { long: string; description: string; values: Values | undefined }[]
  arguments: { name: string; values: Values; isVariadic: boolean }[]
  commands: CommandWords[]
}

const objects = [...objectKinds, ...entityNames]

/** The values of what has no closed list of its own: other values are valid too, such as recipes of the config. */
const suggested: Readonly<Record<string, readonly string[]>> = {
  '--recipe': Object.keys(recipeTexts),
  '--object': objects,
  '<object>': objects,
  '--crm': crmNames,
  '--encoding': ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'],
}

/** The names by which help texts call the name of a file or folder. */
const fileNames = /^[[<](?:in|file|path|folder)[\]>]/

/** Returns the words of a command and of all commands below it. */
export function wordsOf(command: Command, before = ''): CommandWords {
  const isProgram = command.parent === null
  const path = isProgram ? '' : `${before} ${command.name()}`.trim()
  const help = command.createHelp()
  return {
    path,
    name: command.name(),
    description: firstSentence(command.description()),
    options: help
      .visibleOptions(command)
      .flatMap((option) =>
        option.long
          ? [{ long: option.long, description: plain(option.description), values: valuesOfOption(option) }]
          : [],
      ),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      values: valuesOfArgument(argument),
      isVariadic: argument.variadic,
    })),
    commands: command.commands.map((each) => wordsOf(each, path)),
  }
}

/** Returns the words of a command and of all commands below it, in one list. */
export function everyCommand(words: CommandWords): CommandWords[] {
  return [words, ...words.commands.flatMap(everyCommand)]
}

function valuesOfOption({ long, flags, argChoices, required, optional }: Option): Values | undefined {
  if (!required && !optional) return undefined
  const value = flags.slice(flags.indexOf(' ') + 1)
  return argChoices ?? suggested[long ?? ''] ?? (fileNames.test(value) ? 'file' : 'any')
}

function valuesOfArgument(argument: Argument): Values {
  const name = `<${argument.name()}>`
  return argument.argChoices ?? suggested[name] ?? (fileNames.test(name) ? 'file' : 'any')
}

function firstSentence(text: string): string {
  return plain(text.replace(/(?<=[.:]) .*$/s, '').replace(/[.:]$/, ''))
}

/** Descriptions are one line in a list of words. */
function plain(text: string): string {
  const short = text.replace(/ \(.*$/s, '')
  return short.length > 80 ? `${short.slice(0, 79)}…` : short
}
